package gke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/iam"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// workloadIdentityUser is the role by which a Kubernetes ServiceAccount takes
// on a Google one.
const workloadIdentityUser = "roles/iam.workloadIdentityUser"

// maxMembers is how many members a policy has at most.
const maxMembers = 1500

func wrapped(policy *iampb.Policy) *iam.Policy { return &iam.Policy{InternalProto: policy} }

// bindingStep sees to which ServiceAccounts may take on a service account.
//
// In a service account that the stack made, the members without a condition
// are the stack's alone. In an adopted one they are only added.
type bindingStep struct {
	accountStep
	needs    []string
	subjects []cloud.Subject
}

func (s bindingStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "workload identity of " + s.name, Needs: s.needs,
		Check: s.check, Apply: s.apply, Undo: s.undo,
	}
}

// named are the members by the names of the pools, for what is taken away: a
// project has one pool, of which a cluster that is gone tells nothing any more.
func (s bindingStep) named() []string {
	var members []string
	for _, subject := range s.subjects {
		members = append(members, fmt.Sprintf("serviceAccount:%s.svc.id.goog[%s/%s]", subject.Cluster.Account.ID, subject.Namespace, subject.ServiceAccount))
	}
	return members
}

// wanted are the members, by the workload pools of the subjects' clusters.
func (s bindingStep) wanted(ctx context.Context) (members []string, blocked string, err error) {
	pools := map[string]string{}
	for _, subject := range s.subjects {
		key := clusterKey(subject.Cluster)
		if pools[key] == "" {
			cluster, err := subject.Cluster.Account.Clusters.Describe(ctx, subject.Cluster.Name)
			needs := subject.Cluster.Needs
			if len(needs) > 0 && (is(err, planewright.ErrNotFound) || err == nil && (cluster.Status == cloud.ClusterCreating || cluster.Issuer == "")) {
				return nil, "", &planewright.UnknownError{Step: needs[len(needs)-1], Output: "cluster"}
			}
			if err != nil {
				return nil, "", err
			}
			if cluster.Issuer == "" {
				return nil, fmt.Sprintf("cluster %s has no workload identity; switch it on: gcloud container clusters update %s --location %s --workload-pool %s.svc.id.goog",
					subject.Cluster.Name, subject.Cluster.Name, subject.Cluster.Account.Location, subject.Cluster.Account.ID), nil
			}
			pools[key] = cluster.Issuer
		}
		member := fmt.Sprintf("serviceAccount:%s[%s/%s]", pools[key], subject.Namespace, subject.ServiceAccount)
		if !slices.Contains(members, member) {
			members = append(members, member)
		}
	}
	slices.Sort(members)
	return members, "", nil
}

// clusterKey tells clusters of several projects and regions apart.
func clusterKey(cluster cloud.ClusterRef) string {
	return strings.Join([]string{cluster.Account.ID, cluster.Account.Location, cluster.Name}, "/")
}

// bound returns the binding of workloadIdentityUser without a condition, nil if
// there is none. The SDK's own Policy.Add would take one with a condition.
func bound(policy *iampb.Policy) *iampb.Binding {
	for _, b := range policy.GetBindings() {
		if b.GetRole() == workloadIdentityUser && b.GetCondition() == nil {
			return b
		}
	}
	return nil
}

// bindingPlan is what is to be done to the members.
type bindingPlan struct {
	policy      *iampb.Policy
	add, remove []string
	blocked     string
}

func (s bindingStep) plan(ctx context.Context) (bindingPlan, error) {
	var p bindingPlan
	wanted, blocked, err := s.wanted(ctx)
	if err != nil || blocked != "" {
		return bindingPlan{blocked: blocked}, err
	}
	live, err := s.live(ctx)
	if err != nil {
		return p, err
	}
	if live == nil {
		return bindingPlan{add: wanted}, nil
	}
	p.policy, err = s.readPolicy(ctx)
	if is(err, planewright.ErrNotFound) {
		return bindingPlan{add: wanted}, nil // it was made moments ago
	}
	if err != nil {
		return p, err
	}
	have := bound(p.policy).GetMembers()
	for _, member := range wanted {
		if !slices.Contains(have, member) {
			p.add = append(p.add, member)
		}
	}
	if ours, adopted := owned(live, s.owner); ours && !adopted {
		for _, member := range have {
			if !slices.Contains(wanted, member) {
				p.remove = append(p.remove, member)
			}
		}
	}
	total := len(have) + len(p.add) - len(p.remove)
	for _, b := range p.policy.GetBindings() {
		if b.GetCondition() != nil || b.GetRole() != workloadIdentityUser {
			total += len(b.GetMembers())
		}
	}
	if total > maxMembers {
		p.blocked = fmt.Sprintf("the policy of %s would have %d members, and has room for %d; use a service account for each group of projects", s.email(s.name), total, maxMembers)
	}
	return p, nil
}

func (s bindingStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	p, err := s.plan(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if p.blocked != "" {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: p.blocked, Fingerprint: "blocked"}, nil
	}
	change := planewright.Change{Action: planewright.ActionNone,
		// Not the etag: that of a policy which an earlier step makes is not known yet.
		Fingerprint: strings.Join(bound(p.policy).GetMembers(), " ")}
	for _, member := range p.add {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "members[" + member + "]", After: workloadIdentityUser})
	}
	for _, member := range p.remove {
		change.Diff = append(change.Diff, planewright.FieldDiff{Path: "members[" + member + "]", Before: workloadIdentityUser})
	}
	switch {
	case len(change.Diff) == 0:
	case p.policy == nil || bound(p.policy) == nil:
		change.Action = planewright.ActionCreate
	default:
		change.Action = planewright.ActionUpdate
	}
	return change, nil
}

// cycles is how often a policy is read, changed and written when others write too.
const cycles = 5

func (s bindingStep) apply(ctx context.Context, run *planewright.Run) error {
	return s.cycle(ctx, run, func() (*iampb.Policy, error) {
		p, err := s.plan(ctx)
		if err != nil || p.policy == nil {
			return nil, errors.Join(err, missing(p.policy == nil, s.email(s.name)))
		}
		if len(p.add)+len(p.remove) == 0 {
			return nil, nil //nolint:nilnil // there is nothing to write
		}
		return changed(p.policy, p.add, p.remove), nil
	})
}

func missing(is bool, email string) error {
	if !is {
		return nil
	}
	return fmt.Errorf("service account %s: %w", email, errNotSeen)
}

// errNotSeen says that a service account is not known to the policies.
var errNotSeen = fmt.Errorf("it is not known to IAM's policies yet: %w", planewright.ErrUnavailable)

// changed returns the policy with members added and removed in the binding
// without a condition. All other bindings stay as they are.
func changed(policy *iampb.Policy, add, remove []string) *iampb.Policy {
	b := bound(policy)
	if b == nil {
		b = &iampb.Binding{Role: workloadIdentityUser}
		policy.Bindings = append(policy.Bindings, b)
	}
	b.Members = slices.DeleteFunc(append(slices.Clone(b.GetMembers()), add...), func(m string) bool { return slices.Contains(remove, m) })
	if len(b.GetMembers()) == 0 {
		policy.Bindings = slices.DeleteFunc(policy.GetBindings(), func(have *iampb.Binding) bool { return have == b })
	}
	return policy
}

// cycle reads, changes and writes a policy, the whole of it again when
// somebody else has written in between: with the old etag the write would
// never get through. A service account that was made moments ago may not be
// known to the policies yet.
func (s accountStep) cycle(ctx context.Context, run *planewright.Run, change func() (*iampb.Policy, error)) error {
	pause := settleFirst
	for attempt := 1; ; attempt++ {
		policy, err := change()
		if err == nil && policy == nil {
			return nil
		}
		if err == nil {
			err = s.writePolicy(ctx, policy)
		}
		switch {
		case err == nil:
			return nil
		case codeOf(err) == "ABORTED" && attempt < cycles:
			run.Progress("somebody else has written the policy of %s; reading it again", s.email(s.name))
		case (codeOf(err) == "NOT_FOUND" || codeOf(err) == "INVALID_ARGUMENT" || errors.Is(err, errNotSeen)) && attempt < 3*cycles && s.fresh(ctx):
			run.Progress("the service account %s is not known everywhere yet", s.email(s.name))
		default:
			return err
		}
		if err := s.wait(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, settleMost)
	}
}

// fresh reports whether the service account is there, so that who does not
// know it has only not heard of it.
func (s accountStep) fresh(ctx context.Context) bool {
	live, err := s.live(ctx)
	return err == nil && live != nil
}

func (s bindingStep) undo(ctx context.Context, run *planewright.Run) error {
	live, err := s.live(ctx)
	if err != nil || live == nil {
		return err
	}
	ours, adopted := owned(live, s.owner)
	if !ours || !adopted {
		return nil // its policy goes with it
	}
	return s.cycle(ctx, run, func() (*iampb.Policy, error) {
		policy, err := s.readPolicy(ctx)
		if err != nil {
			return nil, err
		}
		have := bound(policy).GetMembers()
		gone := slices.DeleteFunc(s.named(), func(m string) bool { return !slices.Contains(have, m) })
		if len(gone) == 0 {
			return nil, nil //nolint:nilnil // there is nothing to write
		}
		return changed(policy, nil, gone), nil
	})
}
