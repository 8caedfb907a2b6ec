package live

import (
	"context"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var errU = planewright.ErrUnsupported

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

func (r *releases) Render(context.Context, kube.Release) ([]*unstructured.Unstructured, error) {
	return nil, errU
}

func (f *forwarder) Forward(context.Context, kube.ForwardRequest) (kube.Forwarding, error) {
	return nil, errU
}
