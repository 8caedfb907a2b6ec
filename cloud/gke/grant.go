package gke

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"google.golang.org/api/storage/v1"
)

// grantStep sees to what a service account may do in a bucket. The bucket's
// other bindings stay as they are.
type grantStep struct {
	*project
	id, email string
	needs     []string
	access    cloud.BucketAccess
}

func bucketObject(name string) planewright.Object {
	return planewright.Object{APIVersion: "storage.googleapis.com", Kind: "Bucket", Name: name}
}

func (s grantStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: fmt.Sprintf("access of %s to bucket %s", s.email, s.access.Bucket), Needs: s.needs,
		Check: s.check, Apply: s.apply, Undo: s.undo,
	}
}

// roles are those of the access: to the objects, and to look at the bucket itself.
func (s grantStep) roles() []string {
	if s.access.ReadOnly {
		return []string{"roles/storage.legacyBucketReader", "roles/storage.objectViewer"}
	}
	return []string{"roles/storage.legacyBucketReader", "roles/storage.objectAdmin"}
}

// condition restricts a role for objects to a prefix, nil for the whole bucket.
func (s grantStep) condition(role string) *storage.Expr {
	if s.access.Prefix == "" || role == "roles/storage.legacyBucketReader" {
		return nil
	}
	return &storage.Expr{Title: "planewright-prefix", Expression: fmt.Sprintf("resource.name.startsWith(%q)", "projects/_/buckets/"+s.access.Bucket+"/objects/"+s.access.Prefix)}
}

func (s grantStep) member() string { return "serviceAccount:" + s.email }

// binding finds the binding of a role with our condition.
func (s grantStep) binding(policy *storage.Policy, role string) *storage.PolicyBindings {
	want := s.condition(role)
	for _, b := range policy.Bindings {
		switch {
		case b.Role != role:
		case want == nil && b.Condition == nil, want != nil && b.Condition != nil && b.Condition.Expression == want.Expression:
			return b
		}
	}
	return nil
}

func (s grantStep) read(ctx context.Context) (*storage.Policy, error) {
	policy, err := s.Storage.GetBucketPolicy(ctx, s.access.Bucket)
	return policy, failure("storage.buckets.getIamPolicy", bucketObject(s.access.Bucket), err)
}

func (s grantStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	policy, err := s.read(ctx)
	if is(err, planewright.ErrNotFound) {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: "the bucket " + s.access.Bucket + " does not exist", Fingerprint: "absent"}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	// Not the etag: other identities' grants change it too.
	change := planewright.Change{Action: planewright.ActionNone}
	for _, role := range s.roles() {
		if b := s.binding(policy, role); b == nil || !slices.Contains(b.Members, s.member()) {
			change.Action = planewright.ActionCreate
			change.Diff = append(change.Diff, planewright.FieldDiff{Path: "bindings[" + role + "]", After: s.member()})
			change.Fingerprint += role + " "
		}
	}
	return change, nil
}

func (s grantStep) apply(ctx context.Context, run *planewright.Run) error {
	return s.cycle(ctx, run, func(policy *storage.Policy) bool {
		changed := false
		for _, role := range s.roles() {
			b := s.binding(policy, role)
			if b == nil {
				b = &storage.PolicyBindings{Role: role, Condition: s.condition(role)}
				policy.Bindings = append(policy.Bindings, b)
			}
			if !slices.Contains(b.Members, s.member()) {
				b.Members, changed = append(b.Members, s.member()), true
			}
		}
		return changed
	})
}

// cycle reads, changes and writes the policy, the whole of it again when
// somebody else has written in between (412, or 409). A service account that
// was made moments ago is not known here yet (400).
func (s grantStep) cycle(ctx context.Context, run *planewright.Run, change func(*storage.Policy) bool) error {
	pause := settleFirst
	for attempt := 1; ; attempt++ {
		policy, err := s.read(ctx)
		if err == nil {
			if !change(policy) {
				return nil
			}
			policy.Version = policyVersion
			_, err = s.Storage.SetBucketPolicy(ctx, s.access.Bucket, policy)
			err = failure("storage.buckets.setIamPolicy", bucketObject(s.access.Bucket), err)
		}
		switch {
		case err == nil:
			return nil
		case is(err, planewright.ErrConflict) && attempt < cycles:
			run.Progress("somebody else has written the policy of bucket %s; reading it again", s.access.Bucket)
		case codeOf(err) == "400" && strings.Contains(err.Error(), "does not exist") && attempt < 3*cycles:
			run.Progress("the service account %s is not known to Cloud Storage yet", s.email)
		default:
			return err
		}
		if err := s.wait(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, settleMost)
	}
}

func (s grantStep) undo(ctx context.Context, run *planewright.Run) error {
	err := s.cycle(ctx, run, func(policy *storage.Policy) bool {
		changed := false
		for _, role := range s.roles() {
			b := s.binding(policy, role)
			if b == nil || !slices.Contains(b.Members, s.member()) {
				continue
			}
			b.Members, changed = slices.DeleteFunc(b.Members, func(m string) bool { return m == s.member() }), true
			if len(b.Members) == 0 {
				policy.Bindings = slices.DeleteFunc(policy.Bindings, func(have *storage.PolicyBindings) bool { return have == b })
			}
		}
		return changed
	})
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	return err
}
