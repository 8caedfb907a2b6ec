package kubeflow

import (
	"context"

	"github.com/planewright/planewright"
)

type certificate struct{}

const profileAPI = "kubeflow.org/v1beta1"

func (b binding) platformSteps() []planewright.Step             { return nil }
func (b binding) tenantSteps(needs []string) []planewright.Step { return nil }
func (o operatorBinding) registrySteps() []planewright.Step     { return nil }
func (b binding) probes() []planewright.Probe                   { return nil }
func (b binding) probePermissions(context.Context, *planewright.Run) ([]planewright.Finding, error) {
	return nil, nil
}
func (b binding) prune(planewright.InventoryEntry) (planewright.Step, bool) {
	return planewright.Step{}, false
}
func (s instanceStep) advise(context.Context, *planewright.Run) {}
func (s instanceStep) verifyAccess(context.Context) ([]planewright.Finding, error) {
	return nil, nil
}
