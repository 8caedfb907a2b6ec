package flyte

import (
	"context"
	"fmt"
	"slices"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// backendConfig is the BackendConfig with Flyte's health check.
	backendConfig = "flyte-health"
	// h2cService and h2cIngress lead gRPC to flyteadmin where the Service of the chart cannot.
	h2cService = "flyteadmin-h2c"
	h2cIngress = "flyte-core-h2c"
	// rootIngress redirects "/" to the console.
	rootIngress = "flyte-core-root"
	// h2cPriority puts routes before those of the chart's Ingress, whose
	// priorities are the lengths of their rules.
	h2cPriority = "10000"
	// grpcPort is flyteadmin's port for gRPC in its pods, grpcServicePort that of its Service.
	grpcPort        = 8089
	grpcServicePort = 81
)

// GRPCServices are the gRPC services that the charts of Flyte 1 route to
// flyteadmin.
func GRPCServices() []string {
	return []string{
		"flyteidl.service.AdminService",
		"flyteidl.service.AuthMetadataService",
		"flyteidl.service.DataProxyService",
		"flyteidl.service.IdentityService",
		"flyteidl.service.SignalService",
		"grpc.health.v1.Health",
	}
}

// ingressStep keeps what an ingress controller needs and the chart has no
// values for: objects of the deployment's own beside the chart's Ingress objects.
type ingressStep struct{ binding }

// objects are those objects, none if the chart says everything.
func (s ingressStep) objects() []ownObject {
	var list []ownObject
	for _, desired := range s.entranceObjects() {
		list = append(list, ownObject{s.binding, desired})
	}
	return list
}

func (b binding) entranceObjects() []*unstructured.Unstructured {
	host, i := b.recipe.entrance()
	core := b.recipe.chart() == coreChart
	switch {
	case i.kind == ingressALB && core && i.appRoot != "":
		return []*unstructured.Unstructured{b.rootIngress(host, i)}
	case i.kind == ingressTraefik && core:
		return []*unstructured.Unstructured{b.h2cService(), b.h2cIngress(host, i)}
	case i.kind == ingressGKE:
		return []*unstructured.Unstructured{b.backendConfig()}
	}
	return nil
}

// own is an object of the deployment's own in its namespace.
func (b binding) own(apiVersion, kind, name string, annotations, spec map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": name, "namespace": b.namespace, "labels": b.ownLabels()}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec}}
}

// rootIngress adds a rule for "/" to the load balancer of the group. What is
// said of the load balancer as a whole is said as in the chart's Ingress objects.
func (b binding) rootIngress(host string, i Ingress) *unstructured.Unstructured {
	annotations := map[string]any{albAnnotation + "actions." + appRootAction: i.appRootRedirect()}
	for _, key := range []string{"scheme", "group.name", "listen-ports", "certificate-arn", "target-type", "ssl-redirect"} {
		if value, ok := i.annotationsOf().both[albAnnotation+key].(string); ok {
			annotations[albAnnotation+key] = value
		}
	}
	return b.own("networking.k8s.io/v1", "Ingress", rootIngress, annotations, map[string]any{
		"ingressClassName": i.class,
		"rules":            []any{map[string]any{"host": host, "http": map[string]any{"paths": []any{appRootPath()}}}},
	})
}

// h2cService is flyteadmin's gRPC port, with the protocol that Traefik is to speak to it.
func (b binding) h2cService() *unstructured.Unstructured {
	return b.own("v1", "Service", h2cService, map[string]any{traefikAnnotation + "service.serversscheme": "h2c"}, map[string]any{
		"type":     "ClusterIP",
		"selector": map[string]any{"app.kubernetes.io/name": "flyteadmin", "app.kubernetes.io/instance": b.release},
		"ports":    []any{map[string]any{"name": "grpc", "port": int64(grpcServicePort), "protocol": "TCP", "targetPort": int64(grpcPort)}},
	})
}

// h2cIngress routes gRPC to that Service. It has the user's annotations too,
// so that a middleware which guards the one guards the other.
func (b binding) h2cIngress(host string, i Ingress) *unstructured.Unstructured {
	annotations := map[string]any{}
	for key, value := range i.annotationsOf().both {
		annotations[key] = value
	}
	for key, value := range i.annotations {
		annotations[key] = value
	}
	annotations[traefikAnnotation+"router.priority"] = h2cPriority
	var paths []any
	for _, service := range GRPCServices() {
		for _, suffix := range []string{"", "/*"} {
			paths = append(paths, map[string]any{
				"path": "/" + service + suffix, "pathType": "ImplementationSpecific",
				"backend": map[string]any{"service": map[string]any{"name": h2cService, "port": map[string]any{"number": int64(grpcServicePort)}}},
			})
		}
	}
	return b.own("networking.k8s.io/v1", "Ingress", h2cIngress, annotations, map[string]any{
		"ingressClassName": i.class,
		"rules":            []any{map[string]any{"host": host, "http": map[string]any{"paths": paths}}},
		"tls":              []any{map[string]any{"secretName": i.tlsSecret, "hosts": []any{host}}},
	})
}

// backendConfig has Google's load balancers ask for Flyte's health where they
// would ask for "/", which Flyte does not serve.
func (b binding) backendConfig() *unstructured.Unstructured {
	return b.own("cloud.google.com/v1", "BackendConfig", backendConfig, nil, map[string]any{
		"healthCheck": map[string]any{"type": "HTTP", "requestPath": "/healthcheck", "port": int64(healthPort)},
	})
}

// healthPort is flyteadmin's port for HTTP in its pods.
const healthPort = 8088

// withIngress adds the step for what the ingress controller needs, if there is
// anything. What has the host comes after the step that gives it to the release.
func (b binding) withIngress(steps []planewright.Step, after string) []planewright.Step {
	step := ingressStep{b}
	if len(step.objects()) == 0 {
		return steps
	}
	if _, i := b.recipe.entrance(); i.kind != ingressGKE {
		return append(steps, step.step([]string{after}))
	}
	// Google's controller makes no load balancer before there is the
	// BackendConfig, and the release waits for the load balancer.
	first := step.step([]string{b.step("namespace")})
	for i := range steps {
		if steps[i].ID == b.step("release") {
			steps[i].Needs = append(slices.Clip(steps[i].Needs), first.ID)
		}
	}
	return append(steps, first)
}

func (s ingressStep) step(needs []string) planewright.Step {
	objects := s.objects()
	step := planewright.Step{
		ID:      s.binding.step("ingress"),
		Cluster: s.cluster.Name,
		Needs:   needs,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, err := s.check(ctx)
			return s.checked(ctx, run, change, err)
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			for _, object := range objects {
				if err := object.apply(ctx); err != nil {
					return err
				}
			}
			return nil
		},
		Undo: func(ctx context.Context, run *planewright.Run) error {
			for _, object := range objects {
				if err := s.deleteOwn(ctx, run, object.ref()); err != nil {
					return err
				}
			}
			return nil
		},
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return renderObjects(s.folder("ingress"), s.entranceObjects())
		},
	}
	var names []string
	for _, object := range objects {
		step.Objects = append(step.Objects, object.ref().In(s.cluster.Name))
		names = append(names, fmt.Sprintf("%s %s/%s", object.ref().Kind, s.namespace, object.ref().Name))
	}
	step.Title = joinAnd(names)
	return step
}

// check is the objects' changes as one.
func (s ingressStep) check(ctx context.Context) (planewright.Change, error) {
	all := planewright.Change{Action: planewright.ActionNone}
	actions := map[planewright.Action]int{}
	objects := s.objects()
	for _, object := range objects {
		change, _, err := object.check(ctx)
		if err != nil {
			return planewright.Change{}, err
		}
		all.Fingerprint += change.Fingerprint + ";"
		actions[change.Action]++
		if change.Action == planewright.ActionBlocked && all.Reason == "" {
			all.Reason = change.Reason
		}
		for _, field := range change.Diff {
			field.Path = object.ref().String() + ": " + field.Path
			all.Diff = append(all.Diff, field)
		}
	}
	switch {
	case actions[planewright.ActionBlocked] > 0:
		all.Action = planewright.ActionBlocked
	case actions[planewright.ActionNone] == len(objects):
	case actions[planewright.ActionCreate] == len(objects):
		all.Action = planewright.ActionCreate
	case actions[planewright.ActionAdopt] > 0:
		all.Action = planewright.ActionAdopt
	default:
		all.Action = planewright.ActionUpdate
	}
	return all, nil
}
