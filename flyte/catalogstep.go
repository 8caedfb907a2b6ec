package flyte

import (
	"context"
	"fmt"
	"net"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// catalogService is the name of the load balancer's Service.
const catalogService = "datacatalog-dataplanes"

// catalogStep keeps a Service of type LoadBalancer for datacatalog. It is an
// object of its own, and not the chart's Service, so that its address is known
// before the control plane is installed: data planes need it, and the control
// plane needs the data planes' tokens.
type catalogStep struct {
	binding
	address planewright.Output[string]
}

func (s catalogStep) object() ownObject {
	annotations := map[string]any{}
	for key, value := range s.control.catalog.balancerAnnotations() {
		annotations[key] = value
	}
	return ownObject{s.binding, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   map[string]any{"name": catalogService, "namespace": s.namespace, "labels": s.ownLabels(), "annotations": annotations},
		"spec": map[string]any{
			"type":     "LoadBalancer",
			"selector": map[string]any{"app.kubernetes.io/name": "datacatalog", "app.kubernetes.io/instance": s.release},
			"ports":    []any{map[string]any{"name": "grpc", "port": int64(datacatalogPort), "protocol": "TCP", "targetPort": int64(8089)}},
		},
	}}}
}

func (s catalogStep) step() planewright.Step {
	object := s.object()
	return planewright.Step{
		ID:      s.address.Step(),
		Title:   fmt.Sprintf("Service %s/%s, an internal load balancer for the catalog", s.namespace, catalogService),
		Cluster: s.cluster.Name,
		Needs:   []string{s.binding.step("namespace")},
		Objects: []planewright.Object{object.ref().In(s.cluster.Name)},
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, live, err := object.check(ctx)
			if err == nil && change.Action == planewright.ActionNone {
				if address := balancerAddress(live); address != "" {
					s.address.Set(run, address)
				} else {
					change.Pending = "the load balancer has no address"
				}
			}
			return s.checked(ctx, run, change, err)
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error { return object.apply(ctx) },
		Await: s.await,
		Undo: func(ctx context.Context, run *planewright.Run) error {
			return s.deleteOwn(ctx, run, object.ref())
		},
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			return renderObjects(s.folder("catalog"), []*unstructured.Unstructured{object.desired})
		},
	}
}

// await waits for the cloud to give the load balancer an address.
func (s catalogStep) await(ctx context.Context, run *planewright.Run) error {
	ref := s.object().ref()
	err := s.cluster.Objects.Wait(ctx, kube.WaitRequest{
		Refs: []kube.Ref{ref},
		Until: func(live *unstructured.Unstructured) (bool, string) {
			if live == nil {
				return false, "not there yet"
			}
			return balancerAddress(live) != "", "the cloud has not given it an address"
		},
		Progress: func(message string) { run.Progress("%s", message) },
	})
	if err != nil {
		return err
	}
	live, err := s.cluster.Objects.Get(ctx, ref)
	if err != nil {
		return err
	}
	s.address.Set(run, balancerAddress(live))
	return nil
}

// balancerAddress is "host:port" of a load balancer, empty if it has none yet.
func balancerAddress(live *unstructured.Unstructured) string {
	ingress, _, _ := unstructured.NestedSlice(live.Object, "status", "loadBalancer", "ingress")
	for _, item := range ingress {
		m, _ := asMap(item)
		for _, field := range []string{"hostname", "ip"} {
			if host, _ := m[field].(string); host != "" {
				return net.JoinHostPort(host, fmt.Sprint(datacatalogPort))
			}
		}
	}
	return ""
}
