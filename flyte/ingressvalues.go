package flyte

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/planewright/planewright/kube"
)

// The annotations that controllers go by.
const (
	albAnnotation     = "alb.ingress.kubernetes.io/"
	nginxAnnotation   = "nginx.ingress.kubernetes.io/"
	traefikAnnotation = "traefik.ingress.kubernetes.io/"
	classAnnotation   = "kubernetes.io/ingress.class"
	issuerAnnotation  = "cert-manager.io/"
	// appRootAction is the name of an ALB's action and of the backend that stands for it.
	appRootAction = "app-root"
)

// ingressAnnotations are the annotations of the Ingress objects: of both, of
// that for HTTP alone, and of that for gRPC alone.
type ingressAnnotations struct{ both, http, grpc map[string]any }

// annotationsOf are those that the controller needs, and the user's over them.
func (i Ingress) annotationsOf() ingressAnnotations {
	a := ingressAnnotations{map[string]any{}, map[string]any{}, map[string]any{}}
	switch i.kind {
	case ingressALB:
		i.annotateALB(a)
	case ingressNGINX:
		a.both[nginxAnnotation+"ssl-redirect"] = fmt.Sprint(!i.noRedirect)
		if i.appRoot != "" {
			// The controller has one server for a host, and takes what is said
			// of "/" from whichever of its Ingress objects comes first.
			a.both[nginxAnnotation+"app-root"] = i.appRoot
		}
		a.grpc[nginxAnnotation+"backend-protocol"] = "GRPC"
	case ingressTraefik:
		a.both[traefikAnnotation+"router.entrypoints"] = "websecure"
		if i.noRedirect {
			a.both[traefikAnnotation+"router.entrypoints"] = "web,websecure"
		}
	case ingressGKE:
		// This controller goes by the annotation and not by the field; the API
		// server takes both as long as they are the same.
		a.both[classAnnotation] = i.class
		a.both["kubernetes.io/ingress.allow-http"] = fmt.Sprint(i.noRedirect)
		if i.staticIP != "" {
			key := "kubernetes.io/ingress.regional-static-ip-name"
			if i.internetFacing {
				key = "kubernetes.io/ingress.global-static-ip-name"
			}
			a.both[key] = i.staticIP
		}
	}
	switch i.issuerKind {
	case clusterIssuer:
		a.both[issuerAnnotation+"cluster-issuer"] = i.issuer
	case namespaceIssuer:
		a.both[issuerAnnotation+"issuer"] = i.issuer
	}
	for key, value := range i.annotations {
		a.both[key] = templateText(value)
		delete(a.grpc, key)
		delete(a.http, key)
	}
	return a
}

func (i Ingress) annotateALB(a ingressAnnotations) {
	for key, value := range map[string]string{
		"scheme":          i.scheme(),
		"target-type":     i.targetType,
		"certificate-arn": i.certificate,
		"listen-ports":    i.listenPorts(),
		// One load balancer for all Ingress objects of it.
		"group.name": i.group,
	} {
		a.both[albAnnotation+key] = value
	}
	if i.plainPort != 0 && !i.noRedirect {
		a.both[albAnnotation+"ssl-redirect"] = fmt.Sprint(i.securePort)
	}
	a.grpc[albAnnotation+"backend-protocol-version"] = "GRPC"
}

func (i Ingress) scheme() string {
	if i.internetFacing {
		return "internet-facing"
	}
	return "internal"
}

// listenPorts is how the controller wants the ports: a list of objects in JSON.
func (i Ingress) listenPorts() string {
	if i.plainPort == 0 {
		return fmt.Sprintf(`[{"HTTPS": %d}]`, i.securePort)
	}
	return fmt.Sprintf(`[{"HTTP": %d}, {"HTTPS": %d}]`, i.plainPort, i.securePort)
}

// appRootRedirect is an ALB's action, in JSON.
func (i Ingress) appRootRedirect() string {
	data, _ := json.Marshal(map[string]any{ // strings alone always marshal
		"type":           "redirect",
		"redirectConfig": map[string]any{"path": i.appRoot, "statusCode": "HTTP_302"},
	})
	return string(data)
}

// setCore writes the values of flyte-core. What an overlay or the chart sets
// for another controller is taken away.
func (i Ingress) setCore(v *layer, host string, overlay, defaults kube.Values) {
	annotations := cleared("common.ingress.annotations", overlay, defaults)
	if i.isZero() {
		v.set("common.ingress.enabled", false)
		// The overlays have placeholders here.
		v.set("common.ingress.host", nil)
		v.set("common.ingress.annotations", annotations)
		return
	}
	grpc := cleared("common.ingress.separateGrpcIngressAnnotations", overlay, defaults)
	of := i.annotationsOf()
	maps.Copy(annotations, of.both)
	maps.Copy(grpc, of.grpc)
	v.set("common.ingress.enabled", true)
	v.set("common.ingress.host", host)
	v.set("common.ingress.ingressClassName", i.class)
	// The redirect is said by an annotation.
	v.set("common.ingress.albSSLRedirect", false)
	v.set("common.ingress.separateGrpcIngress", true)
	v.set("common.ingress.annotations", annotations)
	v.set("common.ingress.separateGrpcIngressAnnotations", grpc)
	v.set("common.ingress.tls.enabled", i.tlsSecret != "")
	if i.tlsSecret != "" {
		v.set("common.ingress.tls.secretName", i.tlsSecret)
	}
	if i.kind == ingressGKE {
		v.set("flyteadmin.service.annotations", i.gkeService("grpc"))
		v.set("flyteconsole.service.annotations", map[string]any{"cloud.google.com/neg": `{"ingress": true}`})
	}
}

// gkeService are the annotations of a Service that HTTP goes to, and with a
// port for gRPC, gRPC too: pods are targets by their addresses, Flyte's own
// health check is asked, and gRPC is HTTP/2.
func (i Ingress) gkeService(grpcPort string) map[string]any {
	annotations := map[string]any{"cloud.google.com/neg": `{"ingress": true}`}
	if grpcPort != "" {
		annotations["cloud.google.com/app-protocols"] = fmt.Sprintf(`{"%s":"HTTP2"}`, grpcPort)
	}
	annotations["cloud.google.com/backend-config"] = fmt.Sprintf(`{"ports": {"http":"%s"}}`, backendConfig)
	return annotations
}

// setBinary writes the values of flyte-binary.
func (i Ingress) setBinary(v *layer, host string, overlay, defaults kube.Values) {
	if i.isZero() {
		v.set("ingress.create", false)
		return
	}
	of := i.annotationsOf()
	for path, wanted := range map[string]map[string]any{
		"ingress.commonAnnotations": of.both, "ingress.httpAnnotations": of.http, "ingress.grpcAnnotations": of.grpc,
	} {
		annotations := cleared(path, overlay, defaults)
		maps.Copy(annotations, wanted)
		v.set(path, annotations)
	}
	v.set("ingress.create", true)
	v.set("ingress.host", host)
	v.set("ingress.ingressClassName", i.class)
	v.set("ingress.separateGrpcIngress", true)
	if i.tlsSecret != "" {
		v.set("ingress.tls", []any{map[string]any{"secretName": i.tlsSecret, "hosts": []any{host}}})
	}
	switch {
	case i.kind == ingressALB && i.appRoot != "":
		annotations, _ := v.values.Get("ingress.httpAnnotations")
		m, _ := asMap(annotations)
		m[albAnnotation+"actions."+appRootAction] = i.appRootRedirect()
		v.set("ingress.httpAnnotations", m)
		v.set("ingress.httpExtraPaths.prepend", []any{appRootPath()})
	case i.kind == ingressTraefik:
		v.set("service.grpcAnnotations", map[string]any{traefikAnnotation + "service.serversscheme": "h2c"})
	case i.kind == ingressGKE:
		v.set("service.httpAnnotations", i.gkeService(""))
		v.set("service.grpcAnnotations", map[string]any{
			"cloud.google.com/neg":           `{"ingress": true}`,
			"cloud.google.com/app-protocols": `{"grpc":"HTTP2"}`,
		})
	}
}

// appRootPath is the path of an Ingress that leads to an ALB's action.
func appRootPath() map[string]any {
	return map[string]any{"path": "/", "pathType": "Exact", "backend": map[string]any{
		"service": map[string]any{"name": appRootAction, "port": map[string]any{"name": "use-annotation"}},
	}}
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
