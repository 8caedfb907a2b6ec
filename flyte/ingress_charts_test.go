package flyte

import (
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const ingressCertificate = "arn:aws:acm:us-east-1:123456789012:certificate/abc"

// ingresses are the kinds of ingress, as a user says them.
func ingresses() map[string]Ingress {
	return map[string]Ingress{
		"alb":          ALB(ingressCertificate),
		"alb-public":   ALB(ingressCertificate).InternetFacing().WithGroup("ml").WithListenPorts(0, 8443).WithAppRoot(""),
		"nginx":        NGINX("flyte-tls"),
		"nginx-issuer": NGINX("flyte-tls").WithClass("nginx-internal").WithClusterIssuer("letsencrypt"),
		"traefik":      Traefik("flyte-tls").WithIssuer("acme"),
		"gke":          GKE("flyte-tls"),
		"gke-public":   GKE("").InternetFacing().WithStaticIP("flyte").WithAnnotation("networking.gke.io/managed-certificates", "flyte"),
	}
}

// behind renders the Ingress objects of a deployment, those of its own too, and
// the Services of its own that they lead to.
type behind struct {
	objects []*unstructured.Unstructured
}

// onBinary and onCore render a deployment of either chart with an ingress.
func onBinary(t *testing.T, c *kube.Chart, ingress Ingress) behind {
	t.Helper()
	d := minimal().WithHost("flyte.acme.example").WithIngress(ingress)
	r := render(t, c, d)
	return behind{objects: append(r.objects, binding{Deployment: d, recipe: binary{d}}.entranceObjects()...)}
}

func onCore(t *testing.T, c *kube.Chart, ingress Ingress) behind {
	t.Helper()
	d := planes()
	d = d.WithControlPlane(d.control.WithIngress(ingress))
	r := renderPlane(t, c, d, 0)
	view := d.views()[0]
	return behind{objects: append(r.objects, binding{Deployment: view.Deployment, recipe: view.recipe}.entranceObjects()...)}
}

// forEachIngress runs a test with each kind of ingress on each chart.
func forEachIngress(t *testing.T, test func(t *testing.T, chart, kind string, ingress Ingress, b behind)) {
	t.Helper()
	for kind, ingress := range ingresses() {
		forEachChart(t, func(t *testing.T, c *kube.Chart) {
			t.Helper()
			t.Run(binaryChart+"/"+kind, func(t *testing.T) { test(t, binaryChart, kind, ingress, onBinary(t, c, ingress)) })
		})
		forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
			t.Helper()
			t.Run(coreChart+"/"+kind, func(t *testing.T) { test(t, coreChart, kind, ingress, onCore(t, c, ingress)) })
		})
	}
}

// of returns the objects of a kind.
func (b behind) of(kind string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(b.objects), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
}

// route is where a path of a host leads.
type route struct{ ingress, path, service string }

func (b behind) routes() []route {
	var list []route
	for _, ingress := range b.of("Ingress") {
		rules, _, _ := unstructured.NestedSlice(ingress.Object, "spec", "rules")
		for _, rule := range rules {
			m, _ := asMap(rule)
			paths, _, _ := unstructured.NestedSlice(m, "http", "paths")
			for _, item := range paths {
				p, _ := asMap(item)
				path, _ := p["path"].(string)
				service, _, _ := unstructured.NestedString(p, "backend", "service", "name")
				list = append(list, route{ingress.GetName(), path, service})
			}
		}
	}
	return list
}

// The golden files are of the published charts: what an ingress controller is
// given.
func TestTheIngressOfEachKindOnThePublishedCharts(t *testing.T) {
	for _, chart := range []string{binaryChart, coreChart} {
		c := publishedChart(t, chart)
		for kind, ingress := range ingresses() {
			t.Run(chart+"/"+kind, func(t *testing.T) {
				b := onBinary
				if chart == coreChart {
					b = onCore
				}
				var text strings.Builder
				for _, obj := range b(t, c, ingress).objects {
					own := obj.GetLabels()[managedByLabel] == managedByValue
					if obj.GetKind() != "Ingress" && !own && (obj.GetKind() != "Service" || len(obj.GetAnnotations()) == 0) {
						continue
					}
					data, err := yaml.Marshal(obj.Object)
					require.NoError(t, err)
					text.WriteString("---\n" + string(data))
				}
				golden(t, "ingress/"+chart+"-"+kind+".yaml", text.String())
			})
		}
	}
}

func TestEveryGRPCServiceIsRoutedByNameAndByPattern(t *testing.T) {
	forEachIngress(t, func(t *testing.T, _, _ string, ingress Ingress, b behind) {
		t.Helper()
		for _, service := range GRPCServices() {
			for _, path := range []string{"/" + service, "/" + service + "/*"} {
				i := slices.IndexFunc(b.routes(), func(r route) bool { return r.path == path })
				require.GreaterOrEqual(t, i, 0, "nothing routes %s", path)
				assert.True(t, strings.HasSuffix(b.routes()[i].ingress, "-grpc"), "gRPC has an Ingress of its own: %s", b.routes()[i].ingress)
				if ingress.kind != ingressTraefik {
					continue
				}
				assert.True(t, slices.ContainsFunc(b.routes(), func(r route) bool { return r.path == path && b.speaksH2C(r.service) }), "%s leads to a Service that is spoken h2c to", path)
			}
		}
	})
}

// What the chart routes to flyteadmin's gRPC port is what this package knows as
// gRPC services: should a newer chart have another one, this tells.
func TestTheChartsHaveNoOtherGRPCService(t *testing.T) {
	forEachIngress(t, func(t *testing.T, _, _ string, _ Ingress, b behind) {
		t.Helper()
		for _, r := range b.routes() {
			if strings.HasSuffix(r.ingress, "-grpc") {
				assert.Contains(t, GRPCServices(), strings.TrimSuffix(strings.TrimPrefix(r.path, "/"), "/*"))
			}
		}
	})
}

func (b behind) speaksH2C(service string) bool {
	return slices.ContainsFunc(b.of("Service"), func(o *unstructured.Unstructured) bool {
		return o.GetName() == service && o.GetAnnotations()[traefikAnnotation+"service.serversscheme"] == "h2c"
	})
}

func TestEachControllerIsToldWhatGRPCNeeds(t *testing.T) {
	forEachIngress(t, func(t *testing.T, _, _ string, ingress Ingress, b behind) {
		t.Helper()
		for _, o := range b.of("Ingress") {
			class, _, _ := unstructured.NestedString(o.Object, "spec", "ingressClassName")
			annotated, said := o.GetAnnotations()[classAnnotation]
			assert.True(t, class != "" && (!said || annotated == class), "%s: the class is %q and %q", o.GetName(), class, annotated)
			if !strings.HasSuffix(o.GetName(), "-grpc") {
				assert.NotContains(t, o.GetAnnotations(), nginxAnnotation+"backend-protocol", "that for HTTP is not for gRPC")
				assert.NotContains(t, o.GetAnnotations(), albAnnotation+"backend-protocol-version", "that for HTTP is not for gRPC")
				continue
			}
			switch ingress.kind {
			case ingressALB:
				assert.Equal(t, "GRPC", o.GetAnnotations()[albAnnotation+"backend-protocol-version"])
				assert.Equal(t, "ip", o.GetAnnotations()[albAnnotation+"target-type"])
			case ingressNGINX:
				assert.Equal(t, "GRPC", o.GetAnnotations()[nginxAnnotation+"backend-protocol"])
			case ingressTraefik, ingressGKE:
			}
			for key := range o.GetAnnotations() {
				other := map[controllerKind]string{ingressALB: nginxAnnotation, ingressNGINX: albAnnotation, ingressTraefik: nginxAnnotation, ingressGKE: nginxAnnotation}[ingress.kind]
				assert.False(t, strings.HasPrefix(key, other), "%s is of another controller", key)
			}
		}
	})
}

// All Ingress objects of an ALB must be of one group and agree on the load
// balancer, or the controller refuses the group.
func TestTheIngressesOfAnALBAgree(t *testing.T) {
	forEachIngress(t, func(t *testing.T, _, _ string, ingress Ingress, b behind) {
		t.Helper()
		if ingress.kind != ingressALB {
			return
		}
		all := b.of("Ingress")
		for _, o := range all {
			for _, key := range []string{"scheme", "group.name", "ssl-redirect", "listen-ports", "certificate-arn"} {
				assert.Equal(t, all[0].GetAnnotations()[albAnnotation+key], o.GetAnnotations()[albAnnotation+key], "%s of %s", key, o.GetName())
			}
		}
		root := slices.ContainsFunc(b.routes(), func(r route) bool { return r.path == "/" && r.service == appRootAction })
		assert.Equal(t, ingress.appRoot != "", root, "\"/\" is redirected if it is wanted")
	})
}

// An annotation of the user's is the chart's to render; what the deployment
// itself says comes out as it is.
func TestATemplateInAnAnnotationIsRendered(t *testing.T) {
	ingress := NGINX("flyte-tls").
		WithAnnotation("example.com/where", "{{ .Release.Namespace }}/{{ .Release.Name }}").
		WithAnnotation("example.com/braces", "a } and {")
	forEachCoreChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for _, o := range onCore(t, c, ingress).of("Ingress") {
			assert.Equal(t, "flyte/flyte-core", o.GetAnnotations()["example.com/where"])
			assert.Equal(t, "a } and {", o.GetAnnotations()["example.com/braces"])
		}
	})
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for _, o := range onBinary(t, c, ingress).of("Ingress") {
			assert.Equal(t, "flyte/flyte-backend", o.GetAnnotations()["example.com/where"])
		}
	})
}
