package live

import (
	"context"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type (
	releases  struct{ c *connection }
	facts     struct{ c *connection }
	forwarder struct{ c *connection }
)

var errU = planewright.ErrUnsupported

func (o *objects) Get(context.Context, kube.Ref) (*unstructured.Unstructured, error) {
	return nil, errU
}
func (o *objects) List(context.Context, kube.ListRequest) ([]*unstructured.Unstructured, error) {
	return nil, errU
}
func (o *objects) Diff(context.Context, *unstructured.Unstructured, kube.ApplyOptions) (kube.Diff, error) {
	return kube.Diff{}, errU
}
func (o *objects) Apply(context.Context, *unstructured.Unstructured, kube.ApplyOptions) (*unstructured.Unstructured, error) {
	return nil, errU
}
func (o *objects) Create(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return nil, errU
}
func (o *objects) Update(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return nil, errU
}
func (o *objects) Delete(context.Context, kube.Ref, kube.DeleteOptions) error { return errU }
func (o *objects) Wait(context.Context, kube.WaitRequest) error               { return errU }

func (r *releases) Render(context.Context, kube.Release) ([]*unstructured.Unstructured, error) {
	return nil, errU
}
func (r *releases) State(context.Context, string, string) (kube.ReleaseState, error) {
	return kube.ReleaseState{}, errU
}
func (r *releases) History(context.Context, string, string) ([]kube.ReleaseState, error) {
	return nil, errU
}
func (r *releases) List(context.Context, string) ([]kube.ReleaseState, error) { return nil, errU }
func (r *releases) Plan(context.Context, kube.Release) (kube.ReleasePlan, error) {
	return kube.ReleasePlan{}, errU
}
func (r *releases) Apply(context.Context, kube.Release) (kube.ReleaseState, error) {
	return kube.ReleaseState{}, errU
}
func (r *releases) Rollback(context.Context, string, string, int) (kube.ReleaseState, error) {
	return kube.ReleaseState{}, errU
}
func (r *releases) Uninstall(context.Context, string, string) ([]kube.Ref, error) { return nil, errU }

func (f *facts) Version(context.Context) (kube.Version, error)                { return kube.Version{}, errU }
func (f *facts) Nodes(context.Context) ([]kube.Node, error)                   { return nil, errU }
func (f *facts) StorageClasses(context.Context) ([]kube.StorageClass, error) { return nil, errU }
func (f *facts) Serves(context.Context, ...schema.GroupVersionKind) (map[schema.GroupVersionKind]bool, error) {
	return nil, errU
}
func (f *facts) Denied(context.Context, ...kube.Access) ([]kube.Access, error) { return nil, errU }
func (f *facts) Endpoint(context.Context) (kube.Endpoint, error)               { return kube.Endpoint{}, errU }

func (f *forwarder) Forward(context.Context, kube.ForwardRequest) (kube.Forwarding, error) {
	return nil, errU
}
