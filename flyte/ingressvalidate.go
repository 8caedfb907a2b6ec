package flyte

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/util/validation"
)

// certificateARN matches a certificate of AWS Certificate Manager or of IAM.
var certificateARN = regexp.MustCompile(`^arn:aws[a-z-]*:(acm:[a-z0-9-]+|iam:):[0-9]{12}:(certificate|server-certificate)/\S+$`)

// validateEntrance checks a host and what leads to it.
func validateEntrance(p *planewright.Problems, prefix, host string, i Ingress) {
	at := func(field string) string { return strings.TrimPrefix(prefix+"."+field, ".") }
	switch {
	case host == "" && !i.isZero():
		p.Add(at("host"), "", "an ingress serves a host", "use WithHost")
	case host == "":
	case len(validation.IsDNS1123Subdomain(host)) > 0 || onlyDigitsAndDots.MatchString(host) || !strings.Contains(host, "."):
		p.Add(at("host"), host, "a host is a DNS name", `use the name alone, without scheme, port or path: "flyte.acme.example"`)
	case placeholderIn(host) != "":
		p.Add(at("host"), host, "this is the placeholder of the chart's values", "put in the host's name")
	case i.isZero():
		p.Add(at("ingress"), "", "a host needs something that leads from it to Flyte", "use WithIngress, or leave WithHost out and use WithAPI")
	}
	i.validate(p, at("ingress"))
}

func (i Ingress) validate(p *planewright.Problems, path string) {
	if i.isZero() {
		return
	}
	i.validateCertificate(p, path)
	i.validateSuited(p, path)
	if errs := validation.IsDNS1123Subdomain(i.class); len(errs) > 0 {
		p.Add(path+".class", i.class, "an IngressClass is named by a DNS subdomain", "leave it out")
	} else if i.kind == ingressGKE && i.class != "gce" && i.class != "gce-internal" {
		p.Add(path+".class", i.class, "GKE's controller serves the classes gce and gce-internal", "leave it out, and use InternetFacing or not")
	}
	if i.appRoot != "" && !strings.HasPrefix(i.appRoot, "/") {
		p.Add(path+".appRoot", i.appRoot, "a redirect leads to a path of the host", `write it like "/console"`)
	}
	if i.kind == ingressALB {
		if errs := validation.IsDNS1123Label(i.group); len(errs) > 0 {
			p.Add(path+".group", i.group, "an IngressGroup has at most 63 lower-case letters, digits and hyphens", "leave it out to use "+defaultGroup)
		}
		if i.plainPort != 0 && !isPortNumber(i.plainPort) || !isPortNumber(i.securePort) || i.plainPort == i.securePort {
			p.Add(path+".listenPorts", i.listenPorts(), "an ALB listens on two ports from 1 to 65535, or with TLS alone", "use WithListenPorts(80, 443), or 0 for no plain port")
		}
	}
	i.validateAnnotations(p, path)
}

func isPortNumber(n int) bool { return n > 0 && n <= 65535 }

// validateCertificate checks where the certificate comes from.
func (i Ingress) validateCertificate(p *planewright.Problems, path string) {
	if i.issuerKind != "" {
		if errs := validation.IsDNS1123Subdomain(i.issuer); len(errs) > 0 {
			p.Add(path+".issuer", i.issuer, "an issuer of cert-manager is named by a DNS subdomain", "use the name of an "+i.issuerKind)
		}
	}
	if i.kind == ingressALB {
		if found := placeholderIn(i.certificate); found != "" {
			p.Add(path+".certificate", i.certificate, "the placeholder "+found+" stands where a real value belongs", "put in the certificate's ARN")
		} else if !certificateARN.MatchString(i.certificate) {
			p.Add(path+".certificate", i.certificate, "a certificate is arn:PARTITION:acm:REGION:ACCOUNT:certificate/ID", "use the ARN of a certificate of AWS Certificate Manager")
		}
		return
	}
	if i.kind == ingressGKE && i.tlsSecret == "" {
		_, managed := i.annotations["networking.gke.io/managed-certificates"]
		_, shared := i.annotations["ingress.gcp.kubernetes.io/pre-shared-cert"]
		if managed || shared {
			return
		}
		p.Add(path+".tlsSecret", "", "a host is served with TLS, and nothing says by which certificate", "name a Secret of type kubernetes.io/tls, or a certificate of Google's by an annotation")
		return
	}
	if errs := validation.IsDNS1123Subdomain(i.tlsSecret); len(errs) > 0 {
		p.Add(path+".tlsSecret", i.tlsSecret, fmt.Sprintf("gRPC needs TLS on %s, with a certificate in a Secret", i.kind), "name a Secret of type kubernetes.io/tls")
	}
}

// validateSuited refuses what the controller has no use for.
func (i Ingress) validateSuited(p *planewright.Problems, path string) {
	of := func(kinds ...controllerKind) bool { return slices.Contains(kinds, i.kind) }
	for _, option := range []struct {
		field, value string
		set, suited  bool
		rule, fix    string
	}{
		{"internetFacing", "", i.internetFacing, of(ingressALB, ingressGKE), fmt.Sprintf("where %s is reached from is said by its controller's Service", i.kind), "leave InternetFacing out"},
		{"issuer", i.issuer, i.issuerKind != "", !of(ingressALB), "an ALB takes its certificate from AWS, and not from cert-manager", "leave the issuer out, or use NGINX"},
		{"group", i.group, i.group != "", of(ingressALB), "only an ALB has an IngressGroup", "leave WithGroup out"},
		{"listenPorts", i.listenPorts(), i.plainPort != 0 || i.securePort != 0, of(ingressALB), fmt.Sprintf("the ports of %s are said where it is installed", i.kind), "leave WithListenPorts out"},
		{"targetType", i.targetType, i.targetType != "", of(ingressALB), "only an ALB has a target type", "leave WithInstanceTargets out"},
		{"staticIP", i.staticIP, i.staticIP != "", of(ingressGKE), fmt.Sprintf("the address of %s is not said by an Ingress", i.kind), "leave WithStaticIP out"},
		{"appRoot", i.appRoot, i.appRoot != "", of(ingressALB, ingressNGINX), fmt.Sprintf("%s redirects by objects of its own", i.kind), "leave WithAppRoot out"},
	} {
		if option.set && !option.suited {
			p.Add(path+"."+option.field, option.value, option.rule, option.fix)
		}
	}
}

// rewriteAnnotation are the ends of annotations that rewrite every path of an Ingress.
const rewriteAnnotation = "/rewrite-target"

func (i Ingress) validateAnnotations(p *planewright.Problems, path string) {
	for _, key := range slices.Sorted(maps.Keys(i.annotations)) {
		at := fmt.Sprintf("%s.annotations[%q]", path, key)
		value := i.annotations[key]
		switch {
		case len(validation.IsQualifiedName(key)) > 0:
			p.Add(path+".annotations", key, "an annotation's key is a qualified name", "use a key like cert-manager.io/cluster-issuer")
		case key == classAnnotation:
			p.Add(at, value, "the class is said twice: the API server refuses an Ingress whose annotation and field differ", "leave the annotation out, and use WithClass")
		case strings.HasSuffix(key, rewriteAnnotation):
			p.Add(at, value, "it would rewrite every path to this one, and Flyte serves its paths as they come: the console, the API and gRPC would all be lost", "leave it out; WithAppRoot redirects \"/\"")
		case key == albAnnotation+"target-type" && i.kind == ingressALB && value != targetIP:
			p.Add(at, value, "the Services are of type ClusterIP, which an ALB reaches by target type ip alone", "leave it out, or use WithInstanceTargets and Services of type NodePort")
		}
	}
}

// validateRawIngress checks raw values against what the ingress says.
func (d Deployment) validateRawIngress(p *planewright.Problems, path string, raw kube.Values, chart string) {
	_, i := d.entrance()
	places := []string{"ingress.commonAnnotations", "ingress.httpAnnotations", "ingress.grpcAnnotations"}
	services := []string{"service.type"}
	class, tls, create := "ingress.ingressClassName", "ingress.tls", "ingress.create"
	if chart == coreChart {
		places = []string{"common.ingress.annotations", "common.ingress.separateGrpcIngressAnnotations"}
		services = []string{"flyteadmin.service.type", "flyteconsole.service.type"}
		class, tls, create = "common.ingress.ingressClassName", "common.ingress.tls.enabled", "common.ingress.enabled"
	}
	if i.kind == ingressTraefik && chart == coreChart {
		for _, key := range slices.Sorted(maps.Keys(i.annotations)) {
			if strings.Contains(i.annotations[key], "{{") {
				p.Add(fmt.Sprintf("controlplane.ingress.annotations[%q]", key), i.annotations[key], "the chart renders templates, and the Ingress that Traefik needs for gRPC is not the chart's", "write out what the template gives")
			}
		}
	}
	if on, ok := raw.Get(create); ok && on == false {
		return
	}
	text := func(path string) string {
		value, _ := raw.Get(path)
		s, _ := value.(string)
		return s
	}
	wanted := i.class
	if given := text(class); given != "" {
		wanted = given
	}
	target := i.targetType
	for _, place := range places {
		value, _ := raw.Get(place)
		annotations, _ := asMap(value)
		if given, ok := annotations[classAnnotation].(string); ok && wanted != "" && given != wanted {
			p.Add(fmt.Sprintf("%s.%s[%q]", path, place, classAnnotation), given, fmt.Sprintf("the class is said twice, and here it is %s: the API server refuses an Ingress whose annotation and field differ", wanted), "leave the annotation out, and use WithClass")
		}
		if given, ok := annotations[albAnnotation+"target-type"].(string); ok {
			target = given
		}
	}
	if i.kind == ingressALB && target != targetIP {
		for _, service := range services {
			if kind := text(service); kind != "NodePort" && kind != "LoadBalancer" {
				p.Add(path+"."+service, cmp.Or(kind, "ClusterIP"), "an ALB with target type "+target+" needs node ports, which a ClusterIP Service has none of", "set it to NodePort, or leave the target type ip")
			}
		}
	}
	d.validateRawTLS(p, path, raw, chart, tls)
}

// validateRawTLS refuses raw values that take the certificate away which gRPC needs.
func (d Deployment) validateRawTLS(p *planewright.Problems, path string, raw kube.Values, chart, tls string) {
	host, i := d.entrance()
	value, given := raw.Get(tls)
	if !given {
		return
	}
	list, isList := value.([]any)
	on := value == true || isList && len(list) > 0
	switch {
	case !i.isZero() && i.tlsSecret != "" && !on:
		p.Add(path+"."+tls, fmt.Sprint(value), fmt.Sprintf("gRPC needs TLS on %s", i.kind), "leave it out")
	case i.isZero() && on && host == "" && chart == coreChart:
		if _, ok := raw.Get("common.ingress.host"); !ok {
			p.Add(path+"."+tls, fmt.Sprint(value), "a certificate is for a host, and there is none", "use WithHost and WithIngress")
		}
		if _, ok := raw.Get("common.ingress.tls.secretName"); !ok {
			p.Add(path+".common.ingress.tls.secretName", "", "nothing says which Secret holds the certificate", "use WithHost and WithIngress")
		}
	}
}

// validateCertificatePlace checks that an ALB can use the certificate: it must
// be of the cluster's account and region.
func (d Deployment) validateCertificatePlace(p *planewright.Problems, env Env) {
	_, i := d.entrance()
	where, known := env.clouds[d.Cluster()]
	if i.kind != ingressALB || !known || where.Account.Provider != cloud.AWS {
		return
	}
	path := "ingress.certificate"
	if d.inPlanes() {
		path = "controlplane." + path
	}
	arn, err := iam.ParseARN(i.certificate)
	if err != nil {
		return // it has been said
	}
	if arn.Region != "" && where.Account.Location != "" && arn.Region != where.Account.Location {
		p.Add(path, i.certificate, fmt.Sprintf("the certificate is of region %s, and cluster %s is in %s: a load balancer takes certificates of its own region alone", arn.Region, d.Cluster(), where.Account.Location),
			"request one in "+where.Account.Location)
	}
	if where.Account.ID != "" && arn.AccountID != where.Account.ID {
		p.Add(path, i.certificate, fmt.Sprintf("the certificate is of account %s, and cluster %s is in %s", arn.AccountID, d.Cluster(), where.Account.ID),
			"request one in account "+where.Account.ID)
	}
}

// validateSecureAPI refuses clients that would speak plain text to a host that
// is served with TLS.
func (d Deployment) validateSecureAPI(p *planewright.Problems) {
	host, i := d.entrance()
	if i.isZero() || !d.inPlanes() {
		return
	}
	const rule = "the host is served with TLS, and a client that speaks plain text to it is refused"
	if name, _, err := net.SplitHostPort(d.control.api.address); err == nil && name == host && d.control.api.plaintext {
		p.Add("controlplane.api", d.control.api.address, rule, "leave WithoutTLS out")
	}
	if d.control.apiOf().plaintext {
		return
	}
	for j, plane := range d.dataplanes {
		raw := kube.Values{}
		for _, values := range slices.Concat(d.raw, plane.raw) {
			raw = raw.Merge(values.values)
		}
		endpoint, elsewhere := raw.Get("configmap.admin.admin.endpoint")
		if insecure, ok := raw.Get("configmap.admin.admin.insecure"); ok && insecure == true && (!elsewhere || strings.Contains(fmt.Sprint(endpoint), host)) {
			p.Add(fmt.Sprintf("dataplanes[%d].values.configmap.admin.admin.insecure", j), "true", rule, "leave it out")
		}
	}
}
