package flyte

import (
	"maps"
	"regexp"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Ingress is how a control plane's host leads to Flyte. Make one with [ALB] or
// [NGINX]. Both serve the console and the HTTP API by one Ingress object and
// gRPC by a second one, with TLS.
type Ingress struct {
	kind           string
	class          string
	certificate    string
	internetFacing bool
	tlsSecret      string
	annotations    map[string]string
}

const (
	ingressALB   = "ALB"
	ingressNGINX = "NGINX"
)

// ALB is an Application Load Balancer that the AWS Load Balancer Controller
// makes, inside the VPC unless [Ingress.InternetFacing] says otherwise. The
// certificate is one of AWS Certificate Manager, by its ARN.
func ALB(certificateARN string) Ingress {
	return Ingress{kind: ingressALB, class: "alb", certificate: certificateARN}
}

// NGINX is the community's ingress-nginx controller, whose certificate for the
// host is in a Secret of type kubernetes.io/tls in the deployment's namespace. The
// Secret must exist, or be made by cert-manager, see [Ingress.WithAnnotation].
func NGINX(tlsSecret string) Ingress {
	return Ingress{kind: ingressNGINX, class: "nginx", tlsSecret: tlsSecret}
}

// InternetFacing gives the ALB public addresses. Dangerous without
// authentication: whoever reaches Flyte may run code in its clusters.
func (i Ingress) InternetFacing() Ingress {
	i.internetFacing = true
	return i
}

// WithClass sets the IngressClass, by default "alb" or "nginx".
func (i Ingress) WithClass(class string) Ingress {
	i.class = class
	return i
}

// WithAnnotation sets an annotation of both Ingress objects, over those that
// are set anyway: "cert-manager.io/cluster-issuer", say. A "{{" in it is kept as it is.
func (i Ingress) WithAnnotation(key, value string) Ingress {
	i.annotations = maps.Clone(i.annotations)
	if i.annotations == nil {
		i.annotations = map[string]string{}
	}
	i.annotations[key] = value
	return i
}

// set writes the values of common.ingress. What an overlay or the chart sets
// for another controller is taken away.
func (i Ingress) set(v *layer, host string, overlay, defaults kube.Values) {
	if i.kind == "" {
		v.set("common.ingress.enabled", false)
		// The overlays have placeholders here.
		v.set("common.ingress.host", nil)
		v.set("common.ingress.annotations", cleared("common.ingress.annotations", overlay, defaults))
		return
	}
	annotations := cleared("common.ingress.annotations", overlay, defaults)
	grpc := cleared("common.ingress.separateGrpcIngressAnnotations", overlay, defaults)
	switch i.kind {
	case ingressALB:
		scheme := "internal"
		if i.internetFacing {
			scheme = "internet-facing"
		}
		for key, value := range map[string]string{
			"scheme":               scheme,
			"target-type":          "ip",
			"certificate-arn":      i.certificate,
			"listen-ports":         `[{"HTTP": 80}, {"HTTPS":443}]`,
			"actions.ssl-redirect": `{"Type": "redirect", "RedirectConfig": { "Protocol": "HTTPS", "Port": "443", "StatusCode": "HTTP_301"}}`,
			// One load balancer for both Ingress objects.
			"group.name": "flyte",
		} {
			annotations["alb.ingress.kubernetes.io/"+key] = value
		}
		grpc["alb.ingress.kubernetes.io/backend-protocol-version"] = "GRPC"
	case ingressNGINX:
		annotations["nginx.ingress.kubernetes.io/ssl-redirect"] = "true"
		annotations["nginx.ingress.kubernetes.io/app-root"] = "/console"
		grpc["nginx.ingress.kubernetes.io/backend-protocol"] = "GRPC"
	}
	for key, value := range i.annotations {
		annotations[key] = value
	}
	v.set("common.ingress.enabled", true)
	v.set("common.ingress.host", host)
	v.set("common.ingress.ingressClassName", i.class)
	v.set("common.ingress.albSSLRedirect", i.kind == ingressALB)
	v.set("common.ingress.separateGrpcIngress", true)
	v.set("common.ingress.annotations", annotations)
	v.set("common.ingress.separateGrpcIngressAnnotations", grpc)
	v.set("common.ingress.tls.enabled", i.tlsSecret != "")
	if i.tlsSecret != "" {
		v.set("common.ingress.tls.secretName", i.tlsSecret)
	}
}

// cleared returns a map that takes away every key that the layers below have.
func cleared(path string, below ...kube.Values) map[string]any {
	out := map[string]any{}
	for _, values := range below {
		value, _ := values.Get(path)
		m, _ := asMap(value)
		for key := range m {
			out[key] = nil
		}
	}
	return out
}

// certificateARN matches a certificate of AWS Certificate Manager or of IAM.
var certificateARN = regexp.MustCompile(`^arn:aws[a-z-]*:(acm:[a-z0-9-]+|iam:):[0-9]{12}:(certificate|server-certificate)/\S+$`)

func (i Ingress) validate(p *planewright.Problems, path string) {
	switch i.kind {
	case ingressALB:
		if found := placeholderIn(i.certificate); found != "" {
			p.Add(path+".certificate", i.certificate, "the placeholder "+found+" stands where a real value belongs", "put in the certificate's ARN")
		} else if !certificateARN.MatchString(i.certificate) {
			p.Add(path+".certificate", i.certificate, "a certificate is arn:PARTITION:acm:REGION:ACCOUNT:certificate/ID", "use the ARN of a certificate of AWS Certificate Manager")
		}
	case ingressNGINX:
		if errs := validation.IsDNS1123Subdomain(i.tlsSecret); len(errs) > 0 {
			p.Add(path+".tlsSecret", i.tlsSecret, "gRPC needs TLS on NGINX, with a certificate in a Secret", "name a Secret of type kubernetes.io/tls")
		}
		if i.internetFacing {
			p.Add(path+".internetFacing", "", "where NGINX is reached from is said by its controller's Service", "leave InternetFacing out")
		}
	default:
		return
	}
	if errs := validation.IsDNS1123Subdomain(i.class); len(errs) > 0 {
		p.Add(path+".class", i.class, "an IngressClass is named by a DNS subdomain", "leave it out")
	}
	for _, key := range slices.Sorted(maps.Keys(i.annotations)) {
		if errs := validation.IsQualifiedName(key); len(errs) > 0 {
			p.Add(path+".annotations", key, "an annotation's key is a qualified name", "use a key like cert-manager.io/cluster-issuer")
		}
	}
}
