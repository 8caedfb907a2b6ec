package flyte_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// hostName is the host of these tests, balancer the name of the load balancer
// that the cluster in memory gives its Ingress objects.
const (
	hostName = "flyte.acme.example"
	balancer = "ingress.flyte.main.example"
)

// ingressClass is what the installation of a controller brings.
func ingressClass(name, controller string) *networkingv1.IngressClass {
	return &networkingv1.IngressClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       networkingv1.IngressClassSpec{Controller: controller},
	}
}

// keyPair is a certificate of nobody's, for hosts, until a day.
type keyPair struct{ certificate, key []byte }

func certificateFor(tb testing.TB, until time.Time, hosts ...string) keyPair {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: hosts, NotBefore: until.AddDate(-1, 0, 0), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(tb, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(tb, err)
	return keyPair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}
}

func (k keyPair) secret(name string) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "flyte", Name: name},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{"tls.crt": k.certificate, "tls.key": k.key},
	}
}

func namespaceFlyte() *corev1.Namespace {
	return &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "flyte"}}
}

// now is a day on which certificates are judged.
func now() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }

// zone is a Resolver in memory: addresses by host.
type zone map[string][]string

func (z zone) LookupHost(_ context.Context, host string) ([]string, error) {
	if at, ok := z[host]; ok {
		return at, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// front is a load balancer in memory with Flyte behind it: a Dialer that
// notes which addresses are asked for.
type front struct {
	server *httptest.Server
	dialed []string
}

func (f *front) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if strings.HasPrefix(address, "db.acme.internal:") {
		return nil, &net.OpError{Op: "dial", Err: net.UnknownNetworkError("no database here")}
	}
	f.dialed = append(f.dialed, address)
	return (&net.Dialer{}).DialContext(ctx, network, f.server.Listener.Addr().String())
}

// newFront serves a handler over TLS with a certificate.
func newFront(t *testing.T, pair keyPair, handler http.Handler, http2 bool) *front {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	certificate, err := tls.X509KeyPair(pair.certificate, pair.key)
	require.NoError(t, err)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	return &front{server: server}
}

// flyteBehind answers as flyteadmin does, HTTP and gRPC.
func flyteBehind(grpcStatus string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host != hostName:
			http.Error(w, "no such host here", http.StatusNotFound)
		case r.URL.Path == "/healthcheck":
		case r.URL.Path == "/grpc.health.v1.Health/Check" && r.Header.Get("Content-Type") == "application/grpc":
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Trailer", "Grpc-Status")
			_, _ = w.Write([]byte("\x00\x00\x00\x00\x02\x08\x01"))
			w.Header().Set("Grpc-Status", grpcStatus)
		default:
			http.NotFound(w, r)
		}
	})
}

// withIngress is a world whose cluster has a controller of class nginx and a
// certificate.
func withIngress(t *testing.T, pair keyPair, also ...runtime.Object) world {
	t.Helper()
	objects := append([]runtime.Object{namespaceFlyte(), pair.secret("flyte-tls"), ingressClass("nginx", "k8s.io/ingress-nginx")}, also...)
	w := newWorld(t, kubefake.WithLoadBalancers(time.Millisecond), kubefake.WithObjects(objects...))
	w.env = w.env.WithClock(now)
	return w
}

func good(t *testing.T) keyPair {
	t.Helper()
	return certificateFor(t, now().AddDate(0, 6, 0), hostName)
}

// about returns the findings of some codes, as lines.
func about(findings []planewright.Finding, codes ...string) []string {
	var list []string
	for _, f := range findings {
		for _, code := range codes {
			if f.Code == code {
				list = append(list, f.String())
			}
		}
	}
	return list
}

func ingressCodes() []string {
	return []string{flyte.CodeIngressClass, flyte.CodeIngressController, flyte.CodeIngressAddress, flyte.CodeIngressGRPC, flyte.CodeDNS, flyte.CodeCertificate}
}

func TestAHostThatLeadsToFlyte(t *testing.T) {
	w := withIngress(t, good(t))
	load := newFront(t, good(t), flyteBehind("0"), true)
	w.env = w.env.WithDialer(load).WithResolver(zone{hostName: {"10.0.0.7"}, balancer: {"10.0.0.7", "10.0.0.8"}})
	d := hosted(flyte.NGINX("flyte-tls"))

	plan, err := d.Plan(t.Context(), w.env)
	require.NoError(t, err)
	assert.Empty(t, about(plan.Findings(), ingressCodes()...), "all that the ingress needs is there")

	report := w.install(t, d)
	record, err := d.DNSRecord().From(report)
	require.NoError(t, err)
	assert.Equal(t, "flyte.acme.example. CNAME ingress.flyte.main.example.", record.String())
	assert.Contains(t, report.Next, "let flyte.acme.example lead to Flyte by the DNS record: flyte.acme.example. CNAME ingress.flyte.main.example.")

	verified, err := d.Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.True(t, verified.OK(), "%s", verified)
	assert.Equal(t, []string{
		"Ingress flyte/flyte-backend-flyte-binary-http in cluster main: the host's certificate is signed by an authority that this machine does not know; fix: give clients the authority's certificate: admin.caCertFilePath in flytectl's configuration",
		"Ingress flyte/flyte-backend-flyte-binary-http in cluster main: flyteadmin answers gRPC through the ingress at flyte.acme.example:443",
	}, withoutSeverity(about(verified.Findings, ingressCodes()...)))
	assert.NotEmpty(t, load.dialed)
	for _, address := range load.dialed {
		assert.Equal(t, balancer+":443", address, "it is the ingress that is asked, whatever the host resolves to")
	}

	again := w.install(t, d)
	assert.Empty(t, again.Changed())
	record, err = d.DNSRecord().From(again)
	require.NoError(t, err, "a run in which nothing is to be done gives the record too")
	assert.Equal(t, balancer, record.Value)
}

// withoutSeverity takes the severity and the code off findings.
func withoutSeverity(lines []string) []string {
	for i, line := range lines {
		if _, rest, ok := strings.Cut(line, "] "); ok {
			lines[i] = rest
		}
	}
	return lines
}

func TestWhatIsWrongBetweenTheHostAndFlyte(t *testing.T) {
	here := zone{hostName: {"10.0.0.7"}, balancer: {"10.0.0.7"}}
	silent := http.NotFoundHandler()
	for name, c := range map[string]struct {
		pair    func(*testing.T) keyPair
		zone    zone
		handler http.Handler
		http1   bool
		code    string
		says    string
		broken  bool
	}{
		"the host is in no zone": {good, zone{balancer: {"10.0.0.7"}}, flyteBehind("0"), false, flyte.CodeDNS,
			"flyte.acme.example does not resolve; fix: create the DNS record: flyte.acme.example. CNAME ingress.flyte.main.example.", false},
		"the host leads elsewhere": {good, zone{hostName: {"192.0.2.1"}, balancer: {"10.0.0.7"}}, flyteBehind("0"), false, flyte.CodeDNS,
			"flyte.acme.example resolves to 192.0.2.1, which is not this ingress", false},
		"a certificate of another host": {func(t *testing.T) keyPair {
			t.Helper()
			return certificateFor(t, now().AddDate(0, 6, 0), "other.example")
		}, here, flyteBehind("0"), false, flyte.CodeCertificate,
			"it is for other.example, and not for flyte.acme.example", true},
		"a certificate that has ended": {func(t *testing.T) keyPair { t.Helper(); return certificateFor(t, now().AddDate(0, 0, -1), hostName) }, here, flyteBehind("0"), false, flyte.CodeCertificate,
			"it ended on 2026-11-30", true},
		"a certificate that ends soon": {func(t *testing.T) keyPair { t.Helper(); return certificateFor(t, now().AddDate(0, 0, 20), hostName) }, here, flyteBehind("0"), false, flyte.CodeCertificate,
			"it ends on 2026-12-21", false},
		"nothing behind it": {good, here, silent, false, flyte.CodeHealth,
			"Flyte's health check failed through the ingress: GET /healthcheck answered 404 Not Found", true},
		"a controller without gRPC": {good, here, silent, false, flyte.CodeIngressGRPC,
			"gRPC does not get through the ingress: /grpc.health.v1.Health/Check answered 404 Not Found", true},
		"a controller with HTTP/1.1 alone": {good, here, flyteBehind("0"), true, flyte.CodeIngressGRPC,
			"it speaks HTTP/1.1 to clients, and gRPC needs HTTP/2", true},
		"a controller that does not reach it": {good, here, flyteBehind("14"), false, flyte.CodeIngressGRPC,
			"the ingress answers gRPC calls as unavailable", true},
		"a flyteadmin that wants a login": {good, here, flyteBehind("16"), false, flyte.CodeIngressGRPC,
			"flyteadmin answers gRPC through the ingress", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := withIngress(t, good(t))
			w.env = w.env.WithDialer(newFront(t, c.pair(t), c.handler, !c.http1)).WithResolver(c.zone)
			d := hosted(flyte.NGINX("flyte-tls"))
			w.install(t, d)
			verified, err := d.Verify(t.Context(), w.env)
			require.NoError(t, err)
			assert.Contains(t, strings.Join(about(verified.Findings, c.code), "\n"), c.says)
			assert.Equal(t, !c.broken, verified.OK(), "%s", verified)
		})
	}
}

func TestWhatAnIngressNeedsIsAskedForBeforeTheInstall(t *testing.T) {
	down := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "flyte", Name: "ingress-nginx-controller", Labels: map[string]string{"app.kubernetes.io/name": "ingress-nginx"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nginx"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "nginx"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx"}}},
			},
		},
	}
	other := certificateFor(t, now().AddDate(0, 6, 0), "other.example")
	for name, c := range map[string]struct {
		ingress flyte.Ingress
		objects []runtime.Object
		says    []string
	}{
		"no class, no certificate": {flyte.NGINX("flyte-tls"), nil, []string{
			"warning [ingress-class] cluster main has no IngressClass nginx, so that nothing leads the host to Flyte; fix: install the ingress-nginx",
			"warning [certificate] Secret flyte/flyte-tls in cluster main: the Secret with the host's certificate does not exist; until it does, controllers show one of their own that nobody trusts; fix: make it: kubectl -n flyte create secret tls flyte-tls --cert=FILE --key=FILE; or use WithClusterIssuer",
		}},
		"a class of another name": {flyte.NGINX("flyte-tls"), []runtime.Object{good(t).secret("flyte-tls"), ingressClass("nginx-public", "k8s.io/ingress-nginx")}, []string{
			"warning [ingress-class] cluster main has no IngressClass nginx, so that nothing leads the host to Flyte; fix: use WithClass with nginx-public",
		}},
		"a class of another controller": {flyte.NGINX("flyte-tls"), []runtime.Object{good(t).secret("flyte-tls"), ingressClass("nginx", "nginx.org/ingress-controller")}, []string{
			"error [ingress-class] IngressClass nginx in cluster main: it is of controller nginx.org/ingress-controller, which does not read the annotations for ingress-nginx (k8s.io/ingress-nginx); fix: use the ingress of that controller, or WithClass with another class",
		}},
		"the controller of EKS Auto Mode": {flyte.ALB(certificate), []runtime.Object{ingressClass("alb", "eks.amazonaws.com/alb")}, nil},
		"a controller that is down": {flyte.NGINX("flyte-tls"), []runtime.Object{good(t).secret("flyte-tls"), ingressClass("nginx", "k8s.io/ingress-nginx"), down}, []string{
			"warning [ingress-controller] Deployment flyte/ingress-nginx-controller in cluster main: no replica of the ingress-nginx is available, so that the host does not lead to Flyte; fix: look at its pods",
		}},
		"a certificate of another host": {flyte.NGINX("flyte-tls"), []runtime.Object{other.secret("flyte-tls"), ingressClass("nginx", "k8s.io/ingress-nginx")}, []string{
			"error [certificate] Secret flyte/flyte-tls in cluster main: the host's certificate: it is for other.example, and not for flyte.acme.example; fix: replace the certificate",
		}},
		"nobody who makes the certificate": {flyte.Traefik("flyte-tls").WithClusterIssuer("letsencrypt"), []runtime.Object{ingressClass("traefik", "traefik.io/ingress-controller")}, []string{
			"warning [certificate] ClusterIssuer letsencrypt in cluster main: it does not exist, or cert-manager is not installed, so that nobody makes the host's certificate; fix: install cert-manager and make the ClusterIssuer",
		}},
		"Google's load balancers elsewhere": {flyte.GKE("flyte-tls"), []runtime.Object{good(t).secret("flyte-tls")}, []string{
			"error [ingress-controller] cluster main does not serve BackendConfig, so that no GKE Ingress controller is there; fix: enable HTTP load balancing of the GKE cluster, or use NGINX",
			"warning [ingress-grpc] GKE's load balancers speak HTTP/2 to a backend over TLS only, and Flyte serves gRPC in clear: the console works through this host, and flytectl, pyflyte and data planes do not; fix: use NGINX, as the chart's own values for Google Cloud do",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, kubefake.WithObjects(append([]runtime.Object{namespaceFlyte()}, c.objects...)...))
			w.env = w.env.WithClock(now)
			plan, err := hosted(c.ingress).Plan(t.Context(), w.env)
			require.NoError(t, err)
			assert.Equal(t, c.says, about(plan.Findings(), ingressCodes()...))
		})
	}
}

func TestAnIngressWithoutAnAddressIsTold(t *testing.T) {
	w := newWorld(t)
	d := hosted(flyte.ALB(certificate))
	report := w.install(t, d)
	_, err := d.DNSRecord().From(report)
	require.ErrorIs(t, err, planewright.ErrUnknown)
	assert.Contains(t, report.Next, "the Ingress for flyte.acme.example has no address yet; when it has, create a DNS record that leads to it: kubectl -n flyte get ingress")
	verified, err := d.Verify(t.Context(), w.env)
	require.NoError(t, err)
	assert.Len(t, about(verified.Findings, flyte.CodeIngressAddress), 2, "of the Ingress for HTTP and that for gRPC")
}

// A plan shows an annotation as the chart makes it of a template.
func TestAPlanShowsWhatATemplateBecomes(t *testing.T) {
	w := newWorld(t)
	plain := hosted(flyte.ALB(certificate))
	w.install(t, plain)
	plan, err := hosted(flyte.ALB(certificate).WithAnnotation("alb.ingress.kubernetes.io/tags", "Release={{ .Release.Name }}")).Plan(t.Context(), w.env)
	require.NoError(t, err)
	assert.Contains(t, plan.String(), `metadata.annotations["alb.ingress.kubernetes.io/tags"]: + Release=flyte-backend`)
}

// What a controller needs beside the chart's Ingress objects comes with them,
// is repaired, and goes when another controller is used.
func TestWhatAControllerNeedsComesAndGoes(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	traefik := two().WithControlPlane(controlPlane().WithIngress(flyte.Traefik("flyte-tls")))
	w.install(t, traefik)
	service := w.object(t, "control", "v1", "Service", "flyte", "flyteadmin-h2c")
	assert.Equal(t, "h2c", service.GetAnnotations()["traefik.ingress.kubernetes.io/service.serversscheme"])
	w.object(t, "control", "networking.k8s.io/v1", "Ingress", "flyte", "flyte-core-h2c")

	before := w.writes()
	assert.Empty(t, w.install(t, traefik).Changed())
	assert.Equal(t, before, w.writes(), "a second install persists nothing")

	w.install(t, two().WithControlPlane(controlPlane().WithIngress(flyte.NGINX("flyte-tls"))))
	left, err := w.fleet.Cluster("control").Objects.List(t.Context(), kubeList("networking.k8s.io/v1", "Ingress"))
	require.NoError(t, err)
	var names []string
	for _, ingress := range left {
		names = append(names, ingress.GetName())
	}
	assert.Equal(t, []string{"flyte-core", "flyte-core-grpc"}, names)
}

func kubeList(apiVersion, kind string) kube.ListRequest {
	return kube.ListRequest{APIVersion: apiVersion, Kind: kind}
}

// Google's controller makes no load balancer before there is the BackendConfig
// that the Services name, so it is there before the release waits for an address.
func TestGooglesHealthCheckIsThereBeforeTheLoadBalancer(t *testing.T) {
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "backendconfigs.cloud.google.com"},
		"spec": map[string]any{
			"group": "cloud.google.com", "scope": "Namespaced",
			"names": map[string]any{"kind": "BackendConfig", "plural": "backendconfigs", "singular": "backendconfig", "listKind": "BackendConfigList"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}}
	w := newWorld(t, kubefake.WithObjects(definition, ingressClass("gce-internal", "gce")), kubefake.WithLoadBalancers(time.Millisecond))
	require.NoError(t, w.cluster.Objects.Wait(t.Context(), kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(definition)}}))
	d := hosted(flyte.GKE("flyte-tls"))
	w.fleet.Fail(kubefake.Call("write").Kind("Deployment"), kubefake.Denied)
	_, err := d.Install(t.Context(), w.env)
	require.Error(t, err, "the release fails")
	config, err := w.cluster.Objects.Get(t.Context(), kube.Ref{APIVersion: "cloud.google.com/v1", Kind: "BackendConfig", Namespace: "flyte", Name: "flyte-health"})
	require.NoError(t, err, "and the health check is there")
	path, _, _ := unstructured.NestedString(config.Object, "spec", "healthCheck", "requestPath")
	assert.Equal(t, "/healthcheck", path)
	w.fleet.Heal()
	w.install(t, d)
	assert.Empty(t, w.install(t, d).Changed())
}
