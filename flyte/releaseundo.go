package flyte

import (
	"context"
	"errors"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// checkUndo refuses while executions run, if the release runs workflows.
func (s releaseStep) checkUndo(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	state, err := s.cluster.Releases.State(ctx, s.namespace, s.release)
	if errors.Is(err, planewright.ErrNotFound) || err == nil && (state.Owner != s.owner() || !s.recipe.executes()) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.drainFindings(ctx, withoutPropeller)
}

// undo uninstalls the release if its record says that the deployment made it.
func (s releaseStep) undo(ctx context.Context, run *planewright.Run) error {
	state, err := s.cluster.Releases.State(ctx, s.namespace, s.release)
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	if err == nil && state.Owner != s.owner() {
		run.Keep(s.object(), "its record does not say that this deployment made it")
		return nil
	}
	kept, err := s.cluster.Releases.Uninstall(ctx, s.namespace, s.release)
	if err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	told := map[kube.Ref]bool{}
	for _, ref := range kept {
		told[ref] = true
		run.Keep(ref.In(s.cluster.Name), "it holds data, or is marked to be kept")
	}
	for _, left := range s.recipe.leftovers() {
		if told[left.ref] {
			continue
		}
		_, err := s.cluster.Objects.Get(ctx, left.ref)
		switch {
		case errors.Is(err, planewright.ErrNotFound), errors.Is(err, planewright.ErrDenied):
			// What may not be read cannot be named.
		case err != nil:
			return err
		default:
			run.Keep(left.ref.In(s.cluster.Name), left.reason)
		}
	}
	return nil
}

// leftover is something that is not the release's own and stays behind.
type leftover struct {
	ref    kube.Ref
	reason string
}
