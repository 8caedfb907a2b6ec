package eks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// nodeGroupStep sees to a managed node group.
type nodeGroupStep struct {
	*account
	id, owner, role string
	needs           []string
	cluster         cloud.ClusterSpec
	group           cloud.NodeGroup
}

func (s nodeGroupStep) object() planewright.Object {
	return nodeGroupObject(s.cluster.Name(), s.group.Name)
}

func (s nodeGroupStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: fmt.Sprintf("EKS node group %s of cluster %s", s.group.Name, s.cluster.Name()), Needs: s.needs, Timeout: createTimeout,
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
	}
}

func (s nodeGroupStep) live(ctx context.Context) (*types.Nodegroup, cloud.NodeGroupState, error) {
	found, err := s.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(s.cluster.Name()), NodegroupName: aws.String(s.group.Name)})
	if err = failure("eks:DescribeNodegroup", s.object(), err); err != nil {
		return nil, cloud.NodeGroupState{}, err
	}
	if found.Nodegroup == nil {
		return nil, cloud.NodeGroupState{}, empty("eks:DescribeNodegroup", s.object())
	}
	return found.Nodegroup, describeGroup(found.Nodegroup), nil
}

func (s nodeGroupStep) check(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
	raw, live, err := s.live(ctx)
	if is(err, planewright.ErrNotFound) {
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: []planewright.FieldDiff{
			{Path: "instanceTypes", After: s.group.MachineType}, {Path: "scaling", After: fmt.Sprintf("%d to %d, now %d", s.group.Min, s.group.Max, s.group.Desired)}, {Path: "nodeRole", After: s.role},
		}}, nil
	}
	if err != nil {
		return planewright.Change{}, err
	}
	change := planewright.Change{Fingerprint: aws.ToString(raw.NodegroupArn) + " " + string(live.Status)}
	switch {
	case raw.Tags[OwnerTag] != s.owner:
		change.Action = planewright.ActionBlocked
		change.Reason = fmt.Sprintf("the node group %s exists, and its tags do not say that this stack made it; choose another name", s.group.Name)
	case live.Status == cloud.ClusterFailed || live.Status == cloud.ClusterDegraded:
		change.Action = planewright.ActionBlocked
		change.Reason = fmt.Sprintf("the node group %s is %s; see to that, or delete it", s.group.Name, live.StatusReason)
	case live.Status == cloud.ClusterCreating:
		change.Pending = "the node group is being created"
	}
	return change, nil
}

func (s nodeGroupStep) apply(ctx context.Context, run *planewright.Run) error {
	g := s.group
	input := &eks.CreateNodegroupInput{
		ClusterName: aws.String(s.cluster.Name()), NodegroupName: aws.String(g.Name), NodeRole: aws.String(s.role), Subnets: s.cluster.Subnets(),
		InstanceTypes: []string{g.MachineType}, Labels: g.Labels, Tags: s.ownTags(s.owner), CapacityType: types.CapacityTypesOnDemand,
		ScalingConfig:      &types.NodegroupScalingConfig{MinSize: aws.Int32(int32(g.Min)), MaxSize: aws.Int32(int32(g.Max)), DesiredSize: aws.Int32(int32(g.Desired))}, //nolint:gosec // validated
		ClientRequestToken: token(s.AccountID, s.Region, s.cluster.Name(), g.Name, g.MachineType, s.role),
	}
	if g.Spot {
		input.CapacityType = types.CapacityTypesSpot
	}
	if g.DiskGiB > 0 {
		input.DiskSize = aws.Int32(int32(g.DiskGiB)) //nolint:gosec // a disk has less than 2 billion GiB
	}
	for _, t := range g.Taints {
		input.Taints = append(input.Taints, types.Taint{Key: aws.String(t.Key), Value: aws.String(t.Value), Effect: taintEffect(t.Effect)})
	}
	err := s.untilRoleIsSeen(ctx, run, func() error {
		_, err := s.EKS.CreateNodegroup(ctx, input)
		return failure("eks:CreateNodegroup", s.object(), err)
	})
	if is(err, planewright.ErrAlreadyExists) {
		return again{err}
	}
	return err
}

// taintEffect is EKS's spelling of Kubernetes' "NoSchedule".
func taintEffect(effect string) types.TaintEffect {
	switch strings.ToLower(effect) {
	case "noexecute":
		return types.TaintEffectNoExecute
	case "prefernoschedule":
		return types.TaintEffectPreferNoSchedule
	}
	return types.TaintEffectNoSchedule
}

// await stops on DEGRADED, on which the SDK's waiter goes on until its time is up.
func (s nodeGroupStep) await(ctx context.Context, run *planewright.Run) error {
	pause, last, unseen := pollFirst, "", time.Duration(0)
	for {
		_, live, err := s.live(ctx)
		switch {
		case is(err, planewright.ErrNotFound) && unseen < unseenMost:
			live.StatusReason, unseen = "not seen yet", unseen+pause
		case transient(err):
			live.StatusReason = "not answered for: " + err.Error()
		case err != nil:
			return err
		case live.Status == cloud.ClusterReady:
			return nil
		case live.Status == cloud.ClusterFailed, live.Status == cloud.ClusterDegraded, live.Status == cloud.ClusterDeleting:
			return fmt.Errorf("node group %s is %s: %w", s.group.Name, live.StatusReason, errFailed)
		}
		if live.StatusReason != last {
			run.Progress("node group %s: %s", s.group.Name, live.StatusReason)
			last = live.StatusReason
		}
		if err := s.wait(ctx, pause); err != nil {
			return fmt.Errorf("node group %s is %s: %w", s.group.Name, last, err)
		}
		pause = min(2*pause, pollMost)
	}
}

func (s nodeGroupStep) undo(ctx context.Context, run *planewright.Run) error {
	_, _, err := s.live(ctx)
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	if err == nil {
		run.Keep(s.object(), "node groups are not deleted here: what runs on them is not known")
	}
	return err
}
