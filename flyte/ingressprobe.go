package flyte

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// probeIngress asks for what an ingress needs and the deployment does not
// make: the class and its controller, the certificate's Secret or who makes it.
// What is missing is a warning: the controller may come after Flyte.
func (b binding) probeIngress(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	host, i := b.recipe.entrance()
	var findings []planewright.Finding
	for _, ask := range []func(context.Context, string, Ingress) ([]planewright.Finding, error){
		b.probeClass, b.probeController, b.probeIssuer, b.probeCertificate, b.probeGRPC,
	} {
		found, err := ask(ctx, host, i)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

func (b binding) unprobed(code, what string, err error) []planewright.Finding {
	return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: code, Cause: what + " may not be asked: " + err.Error()}}
}

// probeClass looks for the IngressClass, and whether it is of the controller
// that the annotations are for.
func (b binding) probeClass(ctx context.Context, _ string, i Ingress) ([]planewright.Finding, error) {
	if i.kind == ingressGKE {
		// There are no objects for its classes.
		return nil, nil
	}
	list, err := b.cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass"})
	if errors.Is(err, planewright.ErrDenied) {
		return b.unprobed(CodeIngressClass, "whether there is an IngressClass "+i.class, err), nil
	}
	if err != nil {
		return nil, err
	}
	software, _ := i.kind.software()
	var fitting []string
	for _, class := range list {
		controller, _, _ := unstructured.NestedString(class.Object, "spec", "controller")
		fits := controller == i.kind.controllerName()
		switch {
		case class.GetName() == i.class && (fits || i.kind.servedBy(controller)):
			return nil, nil
		case class.GetName() == i.class:
			object := kube.RefOf(class).In(b.cluster.Name)
			return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeIngressClass, Object: &object,
				Cause: fmt.Sprintf("it is of controller %s, which does not read the annotations for %s (%s)", controller, software, i.kind.controllerName()),
				Fix:   "use the ingress of that controller, or WithClass with another class"}}, nil
		case fits:
			fitting = append(fitting, class.GetName())
		}
	}
	fix := fmt.Sprintf("install the %s", software)
	if len(fitting) > 0 {
		slices.Sort(fitting)
		fix = "use WithClass with " + joinOr(fitting)
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeIngressClass,
		Cause: fmt.Sprintf("cluster %s has no IngressClass %s, so that nothing leads the host to Flyte", b.cluster.Name, i.class),
		Fix:   fix}}, nil
}

// servedBy reports whether another controller reads the same annotations: EKS
// Auto Mode has one of its own.
func (k controllerKind) servedBy(controller string) bool {
	return k == ingressALB && controller == "eks.amazonaws.com/alb"
}

// probeController looks for the controller's Deployment as its own chart
// installs it. A controller that is installed in another way is not seen.
func (b binding) probeController(ctx context.Context, _ string, i Ingress) ([]planewright.Finding, error) {
	software, label := i.kind.software()
	if label == "" {
		served, err := b.cluster.Facts.Serves(ctx, backendConfigKind())
		if err != nil || served[backendConfigKind()] {
			return nil, err
		}
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeIngressController,
			Cause: fmt.Sprintf("cluster %s does not serve BackendConfig, so that no %s is there", b.cluster.Name, software),
			Fix:   "enable HTTP load balancing of the GKE cluster, or use NGINX"}}, nil
	}
	list, err := b.cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "apps/v1", Kind: "Deployment", Labels: "app.kubernetes.io/name=" + label})
	if errors.Is(err, planewright.ErrDenied) {
		return b.unprobed(CodeIngressController, "whether the "+software+" runs", err), nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	for _, deployment := range list {
		if available, _, _ := unstructured.NestedInt64(deployment.Object, "status", "availableReplicas"); available > 0 {
			return nil, nil
		}
	}
	object := kube.RefOf(list[0]).In(b.cluster.Name)
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeIngressController, Object: &object,
		Cause: fmt.Sprintf("no replica of the %s is available, so that the host does not lead to Flyte", software),
		Fix:   "look at its pods"}}, nil
}

func backendConfigKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "cloud.google.com", Version: "v1", Kind: "BackendConfig"}
}

// probeIssuer looks for who makes the certificate.
func (b binding) probeIssuer(ctx context.Context, _ string, i Ingress) ([]planewright.Finding, error) {
	if i.issuerKind == "" {
		return nil, nil
	}
	ref := kube.Ref{APIVersion: "cert-manager.io/v1", Kind: i.issuerKind, Name: i.issuer}
	if i.issuerKind == namespaceIssuer {
		ref.Namespace = b.namespace
	}
	_, err := b.cluster.Objects.Get(ctx, ref)
	object := ref.In(b.cluster.Name)
	switch {
	case errors.Is(err, planewright.ErrNotFound):
		return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeCertificate, Object: &object,
			Cause: "it does not exist, or cert-manager is not installed, so that nobody makes the host's certificate",
			Fix:   "install cert-manager and make the " + i.issuerKind}}, nil
	case errors.Is(err, planewright.ErrDenied):
		return b.unprobed(CodeCertificate, "whether there is an "+i.issuerKind+" "+i.issuer, err), nil
	}
	return nil, err
}

// probeCertificate looks into the Secret: whether the certificate is for the
// host, and how long it holds.
func (b binding) probeCertificate(ctx context.Context, host string, i Ingress) ([]planewright.Finding, error) {
	if i.tlsSecret == "" {
		return nil, nil
	}
	ref := kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: b.namespace, Name: i.tlsSecret}
	object := ref.In(b.cluster.Name)
	live, err := b.cluster.Objects.Get(ctx, ref)
	switch {
	case errors.Is(err, planewright.ErrNotFound) && i.issuerKind != "":
		return nil, nil
	case errors.Is(err, planewright.ErrNotFound):
		return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeCertificate, Object: &object,
			Cause: "the Secret with the host's certificate does not exist; until it does, controllers show one of their own that nobody trusts",
			Fix:   fmt.Sprintf("make it: kubectl -n %s create secret tls %s --cert=FILE --key=FILE; or use WithClusterIssuer", b.namespace, i.tlsSecret)}}, nil
	case errors.Is(err, planewright.ErrDenied):
		return b.unprobed(CodeCertificate, "the Secret with the host's certificate", err), nil
	case err != nil:
		return nil, err
	}
	encoded, _, _ := unstructured.NestedString(live.Object, "data", "tls.crt")
	text, _ := base64.StdEncoding.DecodeString(encoded)
	finding := planewright.Finding{Severity: planewright.SeverityError, Code: CodeCertificate, Object: &object, Fix: "replace the certificate"}
	certificate := firstCertificate(text)
	if certificate == nil {
		finding.Cause = "the Secret has no certificate under tls.crt that can be read"
		return []planewright.Finding{finding}, nil
	}
	return certificateFinding(finding, certificate, host, b), nil
}

// firstCertificate is the first one of a PEM text, nil if there is none.
func firstCertificate(text []byte) *x509.Certificate {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return certificate
}

// certificateFinding completes a finding, and returns none if the certificate is good.
func certificateFinding(finding planewright.Finding, certificate *x509.Certificate, host string, b binding) []planewright.Finding {
	problem, ending := hostProblem(certificate, host, b.now())
	if problem == "" {
		return nil
	}
	if ending {
		finding.Severity = planewright.SeverityWarning
	}
	finding.Cause = "the host's certificate: " + problem
	return []planewright.Finding{finding}
}

// probeGRPC tells of load balancers that gRPC does not get through.
func (b binding) probeGRPC(_ context.Context, _ string, i Ingress) ([]planewright.Finding, error) {
	if i.kind != ingressGKE {
		return nil, nil
	}
	raw := b.rawLayer()
	secure, ok := raw.Get("configmap.adminServer.server.security.secure")
	if b.recipe.chart() == binaryChart {
		secure, ok = raw.Get("configuration.inline.server.security.secure")
	}
	if ok && secure == true {
		return nil, nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeIngressGRPC,
		Cause: "GKE's load balancers speak HTTP/2 to a backend over TLS only, and Flyte serves gRPC in clear: the console works through this host, and flytectl, pyflyte and data planes do not",
		Fix:   "use NGINX, as the chart's own values for Google Cloud do"}}, nil
}
