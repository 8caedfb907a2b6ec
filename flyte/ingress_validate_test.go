package flyte_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/planewright/planewright/flyte"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hosted is a single cluster with a host and an ingress.
func hosted(ingress flyte.Ingress) flyte.Deployment {
	return production().WithHost("flyte.acme.example").WithIngress(ingress)
}

func TestAnIngressIsValid(t *testing.T) {
	for name, ingress := range map[string]flyte.Ingress{
		"ALB":                           flyte.ALB(certificate),
		"an ALB with TLS alone":         flyte.ALB(certificate).WithListenPorts(0, 443).WithoutRedirect(),
		"NGINX":                         flyte.NGINX("flyte-tls").WithIssuer("acme"),
		"Traefik":                       flyte.Traefik("flyte-tls"),
		"GKE":                           flyte.GKE("flyte-tls").InternetFacing(),
		"GKE with Google's certificate": flyte.GKE("").WithAnnotation("networking.gke.io/managed-certificates", "flyte"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, problems(t, hosted(ingress)))
			assert.Empty(t, problems(t, two().WithControlPlane(controlPlane().WithIngress(ingress))))
		})
	}
	nodePorts := "service: {type: NodePort}"
	assert.Empty(t, problems(t, hosted(flyte.ALB(certificate).WithInstanceTargets()).WithValuesYAML(nodePorts)))
}

// TestABadIngress has, for each thing that can be wrong, the one problem that
// is told of it, on a single cluster and in planes.
func TestABadIngress(t *testing.T) {
	alb, nginx := flyte.ALB(certificate), flyte.NGINX("tls")
	for name, c := range map[string]struct {
		ingress           flyte.Ingress
		path, value, rule string
	}{
		"an ALB that is no certificate's":  {flyte.ALB("abc"), "certificate", "abc", "arn:PARTITION"},
		"an ALB with a placeholder":        {flyte.ALB("arn:aws:acm:<AWS-REGION>:x:y"), "certificate", "arn:aws:acm:<AWS-REGION>:x:y", "placeholder"},
		"an ALB with cert-manager":         {alb.WithClusterIssuer("letsencrypt"), "issuer", "letsencrypt", "not from cert-manager"},
		"an ALB without a group":           {alb.WithGroup(""), "group", "", "IngressGroup"},
		"an ALB with one port for both":    {alb.WithListenPorts(443, 443), "listenPorts", `[{"HTTP": 443}, {"HTTPS": 443}]`, "two ports"},
		"an ALB with a port that is none":  {alb.WithListenPorts(80, 70000), "listenPorts", `[{"HTTP": 80}, {"HTTPS": 70000}]`, "65535"},
		"a redirect to another host":       {alb.WithAppRoot("https://x"), "appRoot", "https://x", "path of the host"},
		"a target type behind our back":    {alb.WithAnnotation("alb.ingress.kubernetes.io/target-type", "instance"), `annotations["alb.ingress.kubernetes.io/target-type"]`, "instance", "ClusterIP"},
		"the class by an annotation":       {alb.WithAnnotation("kubernetes.io/ingress.class", "alb"), `annotations["kubernetes.io/ingress.class"]`, "alb", "said twice"},
		"a class that is no name":          {nginx.WithClass("A B"), "class", "A B", "DNS subdomain"},
		"NGINX without TLS":                {flyte.NGINX(""), "tlsSecret", "", "gRPC needs TLS on NGINX"},
		"NGINX to the internet":            {nginx.InternetFacing(), "internetFacing", "", "controller's Service"},
		"NGINX in a group":                 {nginx.WithGroup("x"), "group", "x", "only an ALB"},
		"NGINX with an address":            {nginx.WithStaticIP("x"), "staticIP", "x", "not said by an Ingress"},
		"NGINX with an issuer of no name":  {nginx.WithIssuer(""), "issuer", "", "named by"},
		"NGINX that rewrites all paths":    {nginx.WithAnnotation("nginx.ingress.kubernetes.io/rewrite-target", "/"), `annotations["nginx.ingress.kubernetes.io/rewrite-target"]`, "/", "rewrite every path"},
		"the rewrite of the chart's notes": {nginx.WithAnnotation("ingress.kubernetes.io/rewrite-target", "/"), `annotations["ingress.kubernetes.io/rewrite-target"]`, "/", "rewrite every path"},
		"Traefik without TLS":              {flyte.Traefik(""), "tlsSecret", "", "gRPC needs TLS on Traefik"},
		"Traefik that redirects":           {flyte.Traefik("tls").WithAppRoot("/console"), "appRoot", "/console", "objects of its own"},
		"GKE without a certificate":        {flyte.GKE(""), "tlsSecret", "", "by which certificate"},
		"GKE with NGINX's class":           {flyte.GKE("tls").WithClass("nginx"), "class", "nginx", "gce-internal"},
	} {
		t.Run(name, func(t *testing.T) {
			for prefix, d := range map[string]flyte.Deployment{
				"": hosted(c.ingress), "controlplane.": two().WithControlPlane(controlPlane().WithIngress(c.ingress)),
			} {
				got := problems(t, d)
				if assert.Len(t, got, 1) {
					assert.Equal(t, prefix+"ingress."+c.path, got[0].Path)
					assert.Equal(t, c.value, got[0].Value)
					assert.Contains(t, got[0].Rule, c.rule)
					assert.NotEmpty(t, got[0].Fix)
				}
			}
		})
	}
}

func TestAllThatIsWrongWithAnIngressIsSaidAtOnce(t *testing.T) {
	got := problems(t, production().WithIngress(flyte.ALB("abc").WithGroup("").
		WithAnnotation("kubernetes.io/ingress.class", "nginx").
		WithAnnotation("alb.ingress.kubernetes.io/target-type", "instance")))
	var paths []string
	for _, p := range got {
		paths = append(paths, p.Path)
	}
	assert.Equal(t, []string{"host", "ingress.certificate", "ingress.group",
		`ingress.annotations["alb.ingress.kubernetes.io/target-type"]`, `ingress.annotations["kubernetes.io/ingress.class"]`}, paths)
}

// Raw values lie over what the ingress says, and can take from it what it
// cannot be without.
func TestRawValuesThatBreakTheIngress(t *testing.T) {
	planes := func(ingress flyte.Ingress, raw string) flyte.Deployment {
		return two().WithControlPlane(controlPlane().WithIngress(ingress).WithValuesYAML(raw))
	}
	for name, c := range map[string]struct {
		deployment  flyte.Deployment
		path, value string
	}{
		"an ALB to ClusterIP Services": {
			hosted(flyte.ALB(certificate)).WithValuesYAML("ingress: {commonAnnotations: {alb.ingress.kubernetes.io/target-type: instance}}"),
			"values.service.type", "ClusterIP"},
		"node ports that nobody opened": {hosted(flyte.ALB(certificate).WithInstanceTargets()), "values.service.type", "ClusterIP"},
		"a second class": {
			hosted(flyte.NGINX("tls")).WithValuesYAML("ingress: {httpAnnotations: {kubernetes.io/ingress.class: alb}}"),
			`values.ingress.httpAnnotations["kubernetes.io/ingress.class"]`, "alb"},
		"no certificate": {hosted(flyte.NGINX("tls")).WithValuesYAML("ingress: {tls: []}"), "values.ingress.tls", "[]"},
		"a second class in planes": {
			planes(flyte.NGINX("tls"), "common: {ingress: {annotations: {kubernetes.io/ingress.class: alb}}}"),
			`controlplane.values.common.ingress.annotations["kubernetes.io/ingress.class"]`, "alb"},
		"no certificate in planes": {planes(flyte.NGINX("tls"), "common: {ingress: {tls: {enabled: false}}}"), "controlplane.values.common.ingress.tls.enabled", "false"},
		"a certificate for no host": {
			two().WithControlPlane(flyte.NewControlPlane("control").WithAPI(flyte.APIAt("flyte.acme.internal:443")).
				WithValuesYAML("common: {ingress: {enabled: true, tls: {enabled: true, secretName: x}}}")),
			"controlplane.values.common.ingress.tls.enabled", "true"},
		"a data plane without TLS":          {two().WithDataplanes(flyte.NewDataplane("dp-2", "two").WithValuesYAML("configmap: {admin: {admin: {insecure: true}}}")), "dataplanes[1].values.configmap.admin.admin.insecure", "true"},
		"an API without TLS":                {two().WithControlPlane(controlPlane().WithAPI(flyte.APIAt("flyte.acme.example:443").WithoutTLS())), "controlplane.api", "flyte.acme.example:443"},
		"a template that nobody renders":    {two().WithControlPlane(controlPlane().WithIngress(flyte.Traefik("tls").WithAnnotation("a/b", "{{ .Release.Name }}"))), `controlplane.ingress.annotations["a/b"]`, "{{ .Release.Name }}"},
		"a host said of all planes":         {two().WithHost("flyte.acme.example"), "host", ""},
		"an ingress said of all planes":     {two().WithIngress(flyte.NGINX("tls")), "ingress", ""},
		"a host with nothing leading to it": {production().WithHost("flyte.acme.example"), "ingress", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, c.deployment)
			if assert.Len(t, got, 1) {
				assert.Equal(t, c.path, got[0].Path)
				assert.Equal(t, c.value, got[0].Value)
				assert.NotEmpty(t, got[0].Rule)
				assert.NotEmpty(t, got[0].Fix)
			}
		})
	}
	off := hosted(flyte.NGINX("tls")).WithValuesYAML("ingress: {create: false, tls: []}")
	assert.Empty(t, problems(t, off), "an Ingress that is not made needs nothing")
}

// An ALB takes certificates of its own region and account alone. Which those
// are is known where the Env knows the cluster's cloud.
func TestTheCertificateIsOfTheClustersRegionAndAccount(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	d := two().WithControlPlane(controlPlane().WithIngress(flyte.ALB("arn:aws:acm:eu-west-1:999999999999:certificate/abc")))
	_, err := d.Plan(t.Context(), w.env)
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "the certificate is of region eu-west-1, and cluster control is in us-east-1")
	require.ErrorContains(t, err, "the certificate is of account 999999999999, and cluster control is in 123456789012")

	single := newWorld(t)
	aws := eksfake.New("123456789012", "us-east-1", "main")
	_, err = hosted(flyte.ALB("arn:aws:acm:eu-west-1:123456789012:certificate/abc")).Plan(t.Context(), single.env.WithCloud("main", aws.Account().Cluster("main")))
	require.ErrorContains(t, err, "ingress.certificate \"arn:aws:acm:eu-west-1:123456789012:certificate/abc\": the certificate is of region eu-west-1")

	assert.NoError(t, d.Validate(), "without the Env nothing can be said of it")
}

// Clients and data planes come by the host, and by the port that is served.
func TestWhoeverComesByTheHostComesByItsPort(t *testing.T) {
	assert.Equal(t, flyte.NewClientConfig("flyte.acme.example").WithConsole("https://flyte.acme.example"), hosted(flyte.NGINX("tls")).ClientConfig())
	elsewhere := flyte.ALB(certificate).WithListenPorts(0, 8443)
	assert.Equal(t, flyte.NewClientConfig("flyte.acme.example:8443").WithConsole("https://flyte.acme.example:8443"), hosted(elsewhere).ClientConfig())
	assert.Contains(t, hosted(elsewhere).String(), "host:     flyte.acme.example, by ALB\n")

	w := newPlanesWorld(t, "one", "two")
	w.install(t, two().WithControlPlane(controlPlane().WithIngress(elsewhere)))
	admin, _, _ := unstructured.NestedString(w.object(t, "one", "v1", "ConfigMap", "flyte", "flyte-propeller-config").Object, "data", "admin.yaml")
	assert.Contains(t, admin, "dns:///flyte.acme.example:8443")
}
