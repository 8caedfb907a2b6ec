package flyte

import (
	"maps"
	"net"
	"strconv"
)

// Ingress is how a host leads to Flyte: which ingress controller serves it, and
// with which certificate. Make one with [ALB], [NGINX], [Traefik] or [GKE]. It
// is a value: every method returns a changed copy.
//
// Each of them serves the console and the HTTP API by one Ingress object and
// gRPC by a second one, because controllers take the protocol of a backend for a
// whole Ingress, or for a whole Service. Every gRPC service is routed under its
// name and under its name with "/*": some controllers take a path literally
// and some as a prefix.
type Ingress struct {
	kind           controllerKind
	class          string
	internetFacing bool
	// certificate is a certificate's ARN, tlsSecret a Secret that holds one.
	certificate string
	tlsSecret   string
	// issuer is who makes that Secret, of the kind issuerKind.
	issuer, issuerKind string
	// group, targetType, plainPort and securePort are an ALB's.
	group                 string
	targetType            string
	plainPort, securePort int
	staticIP              string
	appRoot               string
	noRedirect            bool
	annotations           map[string]string
}

// controllerKind is an ingress controller.
type controllerKind string

const (
	ingressALB     controllerKind = "ALB"
	ingressNGINX   controllerKind = "NGINX"
	ingressTraefik controllerKind = "Traefik"
	ingressGKE     controllerKind = "GKE"
)

const (
	// defaultGroup is the IngressGroup of an ALB that names none.
	defaultGroup = "flyte"
	// consolePath is where the charts have the console.
	consolePath = "/console"
	// The target types of an ALB.
	targetIP       = "ip"
	targetInstance = "instance"
	// The kinds of cert-manager's issuers.
	clusterIssuer   = "ClusterIssuer"
	namespaceIssuer = "Issuer"
)

// ALB is an Application Load Balancer that the AWS Load Balancer Controller
// (v2.1 or newer) makes, inside the VPC unless [Ingress.InternetFacing] says
// otherwise. The certificate is one of AWS Certificate Manager, by its ARN; it must be in
// the cluster's region and account.
//
// It listens on 80, where everything is redirected to TLS, and on 443; "/" is
// redirected to the console; targets are pods by their addresses (target type
// ip), which works with the ClusterIP Services of the charts. Both Ingress objects
// share one load balancer by the group "flyte".
func ALB(certificateARN string) Ingress {
	return Ingress{kind: ingressALB, class: "alb", certificate: certificateARN, group: defaultGroup, targetType: targetIP,
		plainPort: 80, securePort: 443, appRoot: consolePath}
}

// NGINX is the community's ingress-nginx controller, whose certificate for the
// host is in a Secret of type kubernetes.io/tls in the deployment's namespace. The
// Secret must exist, or be made by cert-manager, see [Ingress.WithClusterIssuer].
// Whether it is reached from outside is said by the controller's own Service.
//
// Plain HTTP is redirected to TLS, and "/" to the console. The controller speaks gRPC
// only to clients that use TLS.
func NGINX(tlsSecret string) Ingress {
	return Ingress{kind: ingressNGINX, class: "nginx", tlsSecret: tlsSecret, appRoot: consolePath}
}

// Traefik is the Traefik proxy (v2 or v3) with its provider kubernetesIngress,
// on the entry point websecure. The certificate is as with [NGINX].
//
// Traefik takes the protocol of a backend for a whole Service, and gRPC without
// TLS needs h2c. In the chart flyte-binary gRPC has a Service of its own, which
// is annotated. In flyte-core it shares one with HTTP, so the deployment makes a
// Service flyteadmin-h2c and an Ingress flyte-core-h2c beside the chart's, by the
// step ingress; its routes come before the chart's by their priority.
func Traefik(tlsSecret string) Ingress {
	return Ingress{kind: ingressTraefik, class: "traefik", tlsSecret: tlsSecret}
}

// GKE is the Ingress controller of Google Kubernetes Engine: an internal
// Application Load Balancer of class gce-internal, and an external one of class
// gce with [Ingress.InternetFacing]. The certificate is as with [NGINX]; it may be
// left empty if an annotation names a certificate of Google's, see [Ingress.WithAnnotation]:
// "networking.gke.io/managed-certificates" or "ingress.gcp.kubernetes.io/pre-shared-cert".
//
// The deployment makes a BackendConfig with Flyte's health check, by the step ingress.
//
// These load balancers speak HTTP/2 to a backend over TLS only, and Flyte serves gRPC in
// clear: the console and the HTTP API work through them, and gRPC clients do not,
// unless raw values make flyteadmin serve TLS (configmap.adminServer.server.security.secure).
// A finding says so. Where pyflyte, flytectl or data planes use the host, use [NGINX], as
// the chart's own values for Google Cloud do.
func GKE(tlsSecret string) Ingress {
	return Ingress{kind: ingressGKE, class: "gce-internal", tlsSecret: tlsSecret}
}

// InternetFacing gives the load balancer of [ALB] or [GKE] public addresses.
// Dangerous without authentication: whoever reaches Flyte may run code in its clusters.
func (i Ingress) InternetFacing() Ingress {
	i.internetFacing = true
	if i.kind == ingressGKE {
		i.class = "gce"
	}
	return i
}

// WithClass sets the IngressClass, by default "alb", "nginx" or "traefik". That
// of [GKE] follows from [Ingress.InternetFacing]. An internal controller beside a
// public one has a class of its own.
func (i Ingress) WithClass(class string) Ingress {
	i.class = class
	return i
}

// WithIssuer has cert-manager make the certificate's Secret, by an Issuer in the
// deployment's namespace.
func (i Ingress) WithIssuer(name string) Ingress {
	i.issuer, i.issuerKind = name, namespaceIssuer
	return i
}

// WithClusterIssuer has cert-manager make the certificate's Secret, by a ClusterIssuer.
func (i Ingress) WithClusterIssuer(name string) Ingress {
	i.issuer, i.issuerKind = name, clusterIssuer
	return i
}

// WithGroup sets the IngressGroup of an [ALB], by default "flyte". Ingress
// objects of one group share one load balancer, those of other software too, and whoever may
// make an Ingress can join it. Two deployments in one cluster need two groups, or two hosts.
func (i Ingress) WithGroup(name string) Ingress {
	i.group = name
	return i
}

// WithListenPorts sets the ports of an [ALB], by default 80 and 443. A plain
// port of 0 listens with TLS alone.
func (i Ingress) WithListenPorts(plain, secure int) Ingress {
	i.plainPort, i.securePort = plain, secure
	return i
}

// WithInstanceTargets makes nodes, by node ports, the targets of an [ALB]. The
// Services of flyteadmin and of the console must then be of type NodePort, by raw
// values. By default pods are.
func (i Ingress) WithInstanceTargets() Ingress {
	i.targetType = targetInstance
	return i
}

// WithStaticIP has the load balancer of [GKE] use a reserved address, by its name.
func (i Ingress) WithStaticIP(name string) Ingress {
	i.staticIP = name
	return i
}

// WithAppRoot sets where [ALB] and [NGINX] redirect "/" to, by default the
// console. Empty leaves "/" without an answer.
func (i Ingress) WithAppRoot(path string) Ingress {
	i.appRoot = path
	return i
}

// WithoutRedirect serves plain HTTP beside TLS instead of redirecting it.
// Dangerous: tokens then may go over the network in clear. It is for a proxy
// before the controller that ends TLS.
func (i Ingress) WithoutRedirect() Ingress {
	i.noRedirect = true
	return i
}

// WithAnnotation sets an annotation of both Ingress objects, over those that
// are set anyway: "alb.ingress.kubernetes.io/ssl-policy", say. The chart renders the
// value as a template: "{{ .Release.Namespace }}" becomes the namespace, and a plan shows
// what it becomes.
func (i Ingress) WithAnnotation(key, value string) Ingress {
	i.annotations = maps.Clone(i.annotations)
	if i.annotations == nil {
		i.annotations = map[string]string{}
	}
	i.annotations[key] = value
	return i
}

// port is where the host is served with TLS.
func (i Ingress) port() int {
	if i.securePort != 0 {
		return i.securePort
	}
	return defaultSecurePort
}

// at is the host with its port, if it is not the usual one.
func (i Ingress) at(host string) string {
	if i.port() == defaultSecurePort {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(i.port()))
}

// isZero reports whether there is no ingress.
func (i Ingress) isZero() bool { return i.kind == "" }

// controllerName is what the controller calls itself in an IngressClass.
func (k controllerKind) controllerName() string {
	switch k {
	case ingressALB:
		return "ingress.k8s.aws/alb"
	case ingressNGINX:
		return "k8s.io/ingress-nginx"
	case ingressTraefik:
		return "traefik.io/ingress-controller"
	case ingressGKE:
	}
	return ""
}

// WithHost sets the host name that users reach a single-cluster deployment by. It
// needs an ingress, see [Deployment.WithIngress]. A deployment in planes has its
// host at the control plane, see [ControlPlane.WithHost].
func (d Deployment) WithHost(host string) Deployment {
	d.host = host
	return d
}

// WithIngress sets how the host of a single-cluster deployment leads to Flyte:
// [ALB], [NGINX], [Traefik] or [GKE]. By default there is no ingress. A deployment
// in planes has it at the control plane, see [ControlPlane.WithIngress].
func (d Deployment) WithIngress(ingress Ingress) Deployment {
	d.ingress = ingress
	return d
}

// Host returns the host name, empty if there is none.
func (d Deployment) Host() string {
	if d.inPlanes() {
		return d.control.host
	}
	return d.host
}

// entrance is the deployment's host and what leads to it.
func (d Deployment) entrance() (host string, ingress Ingress) {
	if d.inPlanes() {
		return d.control.host, d.control.ingress
	}
	return d.host, d.ingress
}

// software is the controller's name for people, label that of its Deployment
// in "app.kubernetes.io/name", where its own chart installs it.
func (k controllerKind) software() (name, label string) {
	switch k {
	case ingressALB:
		return "AWS Load Balancer Controller", "aws-load-balancer-controller"
	case ingressNGINX:
		return "ingress-nginx", "ingress-nginx"
	case ingressTraefik:
		return "Traefik", "traefik"
	case ingressGKE:
	}
	return "GKE Ingress controller", ""
}
