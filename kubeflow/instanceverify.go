package kubeflow

import (
	"context"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

func (s instanceStep) verify(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
	desired, _, err := s.desired(run)
	if err != nil {
		return nil, err
	}
	live, err := s.workload.Objects.Get(ctx, kube.RefOf(desired))
	if err != nil {
		return nil, err
	}
	object := kube.RefOf(live).In(s.workload.Name)
	var findings []planewright.Finding
	broken := func(cause string) {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeWorkload, Object: &object,
			Cause: cause, Fix: "look at its pods and events"})
	}
	if ok, reason := deployed(live); !ok {
		broken(reason)
	}
	missing, err := s.unready(ctx, live)
	if err != nil {
		return nil, err
	}
	for _, m := range missing {
		broken(m)
	}
	if s.Component == ComponentBase {
		access, err := s.verifyAccess(ctx)
		if err != nil {
			return nil, err
		}
		findings = append(findings, access...)
	}
	return findings, nil
}
