package gke

import (
	"context"
	"fmt"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"google.golang.org/api/storage/v1"
)

// grantStep sees to what a service account may do in a bucket. The bucket's
// other bindings stay as they are.
//
// Of a service account that the stack made, the roles that are granted here
// are the stack's alone, so those that no spec names any more are taken away.
// To an adopted one they are only added.
type grantStep struct {
	accountStep
	needs    []string
	bucket   string
	accesses []cloud.BucketAccess
}

func bucketObject(name string) planewright.Object {
	return planewright.Object{APIVersion: "storage.googleapis.com", Kind: "Bucket", Name: name}
}

// accessKind is the kind of what a service account may do in a bucket. As an
// object it is named by the e-mail, and its namespace is the bucket.
const accessKind = "BucketAccess"

func (s grantStep) owns() planewright.Object {
	return planewright.Object{APIVersion: "storage.googleapis.com", Kind: accessKind, Namespace: s.bucket, Name: s.email(s.name)}
}

func (s grantStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: fmt.Sprintf("access of %s to bucket %s", s.email(s.name), s.bucket), Needs: s.needs, Objects: []planewright.Object{s.owns()},
		Check: s.check, Apply: s.apply, Undo: s.undo,
	}
}

func (s grantStep) read(ctx context.Context) (*storage.Policy, error) {
	policy, err := s.Storage.GetBucketPolicy(ctx, s.bucket)
	return policy, failure("storage.buckets.getIamPolicy", bucketObject(s.bucket), err)
}

// alone reports whether the service account is one that the stack made, or is to make.
func (s grantStep) alone(ctx context.Context) (bool, error) {
	live, err := s.live(ctx)
	if err != nil {
		return false, err
	}
	ours, adopted := owned(live, s.owner)
	return live == nil || ours && !adopted, nil
}

func (s grantStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	policy, err := s.read(ctx)
	if is(err, planewright.ErrNotFound) {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: "the bucket " + s.bucket + " does not exist; make it, or name one that is there", Fingerprint: "absent"}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	change := planewright.Change{Action: planewright.ActionNone}
	before := false
	for _, g := range s.wanted() {
		if s.has(policy, g) {
			before = true
			continue
		}
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "bindings[" + g.String() + "]", After: s.member()})
	}
	surplus := s.surplus(policy, s.wanted())
	if len(surplus) > 0 {
		alone, err := s.alone(ctx)
		if err != nil {
			return planewright.Change{}, err
		}
		if !alone {
			surplus = nil
		}
	}
	for _, g := range surplus {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "bindings[" + g.String() + "]", Before: s.member()})
	}
	switch {
	case len(change.Diff) == 0:
	case before || len(surplus) > 0:
		change.Action = planewright.ActionUpdate
	default:
		change.Action = planewright.ActionCreate
	}
	// Not the etag: other identities' grants change it too.
	for _, d := range change.Diff {
		change.Fingerprint += d.Path + d.Before + d.After + " "
	}
	return change, nil
}

func (s grantStep) apply(ctx context.Context, run *planewright.Run) error {
	alone, err := s.alone(ctx)
	if err != nil {
		return err
	}
	return s.cycle(ctx, run, func(policy *storage.Policy) bool { return s.change(policy, s.wanted(), alone) })
}

// cycle reads, changes and writes the policy, the whole of it again when
// somebody else has written in between (412, or 409). A service account that
// was made moments ago is not known here yet (400).
func (s grantStep) cycle(ctx context.Context, run *planewright.Run, change func(*storage.Policy) bool) error {
	pause := settleFirst
	lock := s.lock(s.bucket)
	for attempt := 1; ; attempt++ {
		lock.Lock()
		err := s.write(ctx, change)
		lock.Unlock()
		switch {
		case err == nil:
			return nil
		case is(err, planewright.ErrConflict) && attempt < cycles:
			run.Progress("somebody else has written the policy of bucket %s; reading it again", s.bucket)
		case codeOf(err) == "400" && strings.Contains(err.Error(), "does not exist") && attempt < 3*cycles:
			run.Progress("the service account %s is not known to Cloud Storage yet", s.email(s.name))
		default:
			return err
		}
		if err := s.wait(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, settleMost)
	}
}

// write reads, changes and writes the policy once.
func (s grantStep) write(ctx context.Context, change func(*storage.Policy) bool) error {
	policy, err := s.read(ctx)
	if err != nil || !change(policy) {
		return err
	}
	policy.Version = policyVersion
	_, err = s.Storage.SetBucketPolicy(ctx, s.bucket, policy)
	return failure("storage.buckets.setIamPolicy", bucketObject(s.bucket), err)
}

// undo takes the roles away, all that are granted here if the service account
// is the stack's or is gone.
func (s grantStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.live(ctx)
	if err != nil {
		return err
	}
	ours, adopted := owned(live, s.owner)
	if live != nil && !ours {
		return nil // somebody else's, of the same name
	}
	gone := s.wanted()
	err = s.cycle(ctx, run, func(policy *storage.Policy) bool {
		if live == nil || !adopted {
			return s.change(policy, nil, true)
		}
		return s.withdraw(policy, gone)
	})
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	return err
}
