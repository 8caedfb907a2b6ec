package gke

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/planewright/planewright"
)

// The pace of looking at what takes minutes.
const (
	pollFirst = 5 * time.Second
	pollMost  = 30 * time.Second
	// clockSkew is how much Google's clock and ours may differ.
	clockSkew = time.Minute
)

// repeatable is the kind of operations that may be begun again.
const repeatable = containerpb.Operation_TYPE_UNSPECIFIED

// operate begins an operation on a cluster and waits for its end. GKE has one
// at a time: while it is busy with another one it is asked again. When the
// answer is lost, the operation is looked for among those that there are,
// instead of being begun once more; unless it is repeatable.
func (s clusterStep) operate(ctx context.Context, run *planewright.Run, kind containerpb.Operation_Type, target, call string, begin func() (*containerpb.Operation, error)) error {
	began := time.Now()
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		operation, err := begin()
		err = failure(call, clusterObject(s.spec.Name()), err)
		switch {
		case err == nil:
			return s.finish(ctx, run, operation)
		case is(err, planewright.ErrAlreadyExists):
			return again{err}
		case codeOf(err) == "FAILED_PRECONDITION" && strings.Contains(err.Error(), "incompatible operation"):
			run.Progress("GKE is busy with another operation")
		case ambiguous(err) && ctx.Err() == nil && kind != repeatable:
			operation, lost := s.find(ctx, kind, target, began)
			if lost != nil || operation == nil {
				return errors.Join(err, lost)
			}
			run.Progress("the answer was lost; operation %s is what was asked for", operation.GetName())
			return s.finish(ctx, run, operation)
		default:
			return err
		}
		if err := s.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// ambiguous reports whether a call that failed may have had its effect.
func ambiguous(err error) bool {
	return is(err, planewright.ErrUnavailable) || is(err, planewright.ErrTimeout)
}

// find looks for the operation of a kind on a target that was begun last: one
// under way, or one that has ended since we began. It returns nil if there is none.
func (s clusterStep) find(ctx context.Context, kind containerpb.Operation_Type, target string, since time.Time) (*containerpb.Operation, error) {
	all, err := s.Container.ListOperations(ctx, &containerpb.ListOperationsRequest{Parent: s.parent()})
	if err != nil {
		return nil, failure("container.operations.list", clusterObject(s.spec.Name()), err)
	}
	ours := slices.DeleteFunc(slices.Clone(all.GetOperations()), func(o *containerpb.Operation) bool {
		started, err := time.Parse(time.RFC3339, o.GetStartTime())
		over := o.GetStatus() == containerpb.Operation_DONE && (err != nil || started.Before(since.Add(-clockSkew)))
		return o.GetOperationType() != kind || over || !targets(o.GetTargetLink(), target)
	})
	if len(ours) == 0 {
		return nil, nil //nolint:nilnil // there is none, and nothing went wrong
	}
	return slices.MaxFunc(ours, func(a, b *containerpb.Operation) int { return cmp.Compare(a.GetStartTime(), b.GetStartTime()) }), nil
}

// targets compares an operation's link with a name. A link is a URL, with the
// project's number in place of its id, and "zones" in place of "locations" for a zone.
func targets(link, name string) bool {
	_, wanted, _ := strings.Cut(name, "/clusters/")
	_, found, ok := strings.Cut(link, "/clusters/")
	where := strings.Split(name, "/")
	return ok && found == wanted && strings.Contains(link, "/"+where[3]+"/")
}

// finish waits for an operation. One that is done may have failed.
func (s clusterStep) finish(ctx context.Context, run *planewright.Run, operation *containerpb.Operation) error {
	name := s.parent() + "/operations/" + operation.GetName()
	for pause, told := pollFirst, ""; ; pause = min(2*pause, pollMost) {
		if operation.GetStatus() == containerpb.Operation_DONE {
			if e := operation.GetError(); e.GetCode() != 0 {
				return fmt.Errorf("GKE has given up on cluster %s: %s: %w", s.spec.Name(), e.GetMessage(), planewright.ErrUnavailable)
			}
			return nil
		}
		if text := operation.GetStatus().String(); text != told {
			run.Progress("operation %s: %s", operation.GetName(), text)
			told = text
		}
		if err := s.wait(ctx, pause); err != nil {
			return fmt.Errorf("operation %s is %s: %w", operation.GetName(), told, err)
		}
		next, err := s.Container.GetOperation(ctx, &containerpb.GetOperationRequest{Name: name})
		switch err = failure("container.operations.get", clusterObject(s.spec.Name()), err); {
		case err == nil:
			operation = next
		case ambiguous(err) && ctx.Err() == nil:
			run.Progress("operation %s: not answered for: %v", operation.GetName(), err)
		default:
			return err
		}
	}
}
