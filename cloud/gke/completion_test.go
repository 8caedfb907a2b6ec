package gke_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// making is a stack that makes a cluster, and an identity for its pods.
func (w world) making(spec cloud.ClusterSpec) planewright.Stack {
	p := w.account.Clusters.Provision("flyte/ml/clusters", spec)
	ref := w.account.Cluster(spec.Name())
	ref.Needs = []string{"flyte/ml/clusters/" + spec.Name() + "/cluster"}
	i := w.account.Identities.Provision("flyte/ml/identity", cloud.IdentitySpec{Name: "flyte-user",
		Subjects: []cloud.Subject{{Cluster: ref, Namespace: "flyte", ServiceAccount: "flytepropeller"}}})
	return planewright.NewStack("flyte/ml").WithError(errors.Join(p.Err, i.Err)).WithSteps(p.Steps...).WithSteps(i.Steps...)
}

// old makes dp-1 a cluster of ours without workload identity, with two pools
// whose pods get the nodes' identity.
func (w world) old() {
	w.google.ChangeCluster("dp-1", func(c *containerpb.Cluster) {
		c.ResourceLabels = map[string]string{"planewright-stack": "flyte-ml"}
		c.WorkloadIdentityConfig = nil
		for _, name := range []string{"default", "extra"} {
			c.NodePools = append(c.NodePools, &containerpb.NodePool{Name: name, Status: containerpb.NodePool_RUNNING,
				Config: &containerpb.NodeConfig{WorkloadMetadataConfig: &containerpb.WorkloadMetadataConfig{Mode: containerpb.WorkloadMetadataConfig_GCE_METADATA}}})
		}
	})
}

func spec() cloud.ClusterSpec {
	return cloud.NewCluster("dp-1").WithNodeGroups(cloud.DefaultNodeGroup(), cloud.NodeGroup{Name: "gpu", MachineType: "g2-standard-8"})
}

func TestAClusterOfOursIsCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.old()
		w.google.SetPace(7 * time.Minute)
		plan, err := planewright.Plan(t.Context(), w.making(spec()))
		require.NoError(t, err)
		step, _ := plan.Step("flyte/ml/clusters/dp-1/cluster")
		assert.Equal(t, planewright.ActionUpdate, step.Change.Action)
		assert.Equal(t, "GKE replaces the nodes of default one after the other", step.Change.Reason)
		assert.Equal(t, []planewright.FieldDiff{
			{Path: "workloadPool", After: "acme-ml.svc.id.goog"},
			{Path: "nodePools[gpu]", After: "g2-standard-8, 2 to 4"},
			{Path: "nodePools[default].workloadMetadata", Before: "GCE_METADATA", After: "GKE_METADATA"},
		}, step.Change.Diff)
		require.Len(t, step.Change.Findings, 1, "a pool that the spec does not name is not changed")
		assert.Equal(t, "warning [gcp-node-metadata] NodePool dp-1/extra: pods on these nodes get the nodes' identity instead of their own; "+
			"fix: gcloud container node-pools update extra --cluster dp-1 --location europe-west4 --workload-metadata GKE_METADATA, which replaces the nodes", withoutStep(step.Change.Findings[0]))
		binding, _ := plan.Step("flyte/ml/identity/flyte-user/workload-identity")
		assert.Equal(t, planewright.ActionUnknown, binding.Change.Action, "the cluster's step switches on what it needs")

		_, err = planewright.Install(t.Context(), w.making(spec()))
		require.NoError(t, err)
		var wrote []string
		for _, call := range w.google.Writes() {
			if strings.Contains(call.Object, "dp-1") {
				wrote = append(wrote, call.String())
			}
		}
		assert.Equal(t, []string{"UpdateCluster dp-1", "CreateNodePool dp-1", "UpdateNodePool dp-1/default"}, wrote, "the pool before the nodes that need it")
		groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-1")
		require.NoError(t, err)
		identity := map[string]bool{}
		for _, g := range groups {
			identity[g.Name] = g.WorkloadIdentity
		}
		assert.Equal(t, map[string]bool{"default": true, "extra": false, "gpu": true}, identity)
		assert.Equal(t, []string{"serviceAccount:acme-ml.svc.id.goog[flyte/flytepropeller]"}, w.members("flyte-user"))

		w.google.ForgetCalls()
		_, err = planewright.Install(t.Context(), w.making(spec()))
		require.NoError(t, err)
		assert.Empty(t, w.google.Writes())
	})
}

func withoutStep(f planewright.Finding) string {
	f.Step = ""
	return f.String()
}

func TestAClusterIsCompletedWhateverCallFails(t *testing.T) {
	counting := newWorld()
	counting.old()
	_, err := planewright.Install(t.Context(), counting.making(spec()))
	require.NoError(t, err)
	for _, fault := range append(gkefake.Faults(), gkefake.Busy) {
		for nth := range len(counting.google.Calls()) {
			for _, effect := range [][]gkefake.FaultOption{nil, {gkefake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					w.old()
					w.google.SetPace(7 * time.Minute)
					w.google.Fail(gkefake.Call("*"), fault, append(effect, gkefake.After(nth), gkefake.Times(1))...)
					_, disturbed := planewright.Install(t.Context(), w.making(spec()))
					w.google.Heal()
					w.google.Revive()
					_, err := planewright.Install(t.Context(), w.making(spec()))
					require.NoError(t, err, "%s at call %d (the disturbed install said: %v)", fault, nth, disturbed)
					groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-1")
					require.NoError(t, err)
					require.Len(t, groups, 3)
					assert.True(t, groups[0].WorkloadIdentity && groups[2].WorkloadIdentity)
					assert.Len(t, w.members("flyte-user"), 1)
				})
			}
		}
	}
}

func TestClustersThatCannotBeCompleted(t *testing.T) {
	for want, change := range map[string]func(*containerpb.Cluster){
		"the cluster dp-1 has the workload pool other.svc.id.goog, not acme-ml.svc.id.goog, and it cannot be changed": func(c *containerpb.Cluster) {
			c.WorkloadIdentityConfig = &containerpb.WorkloadIdentityConfig{WorkloadPool: "other.svc.id.goog"}
		},
		"the node pool default of cluster dp-1 is ERROR; see to that, or delete it": func(c *containerpb.Cluster) { c.NodePools[0].Status = containerpb.NodePool_ERROR },
		"its labels do not say that this stack made it":                             func(c *containerpb.Cluster) { c.ResourceLabels = nil },
	} {
		w := newWorld()
		w.old()
		w.google.ChangeCluster("dp-1", change)
		_, err := planewright.Install(t.Context(), w.making(spec()))
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, want)
		assert.Empty(t, w.google.Writes())
	}
	t.Run("nor upgraded", func(t *testing.T) {
		w := newWorld()
		w.old()
		plan, err := planewright.Plan(t.Context(), w.making(spec().WithVersion("1.34")))
		require.NoError(t, err)
		assert.Contains(t, fmt.Sprint(plan.Findings()), "[gcp-cluster-version] Cluster dp-1: the cluster is version 1.33.2-gke.100, not 1.34; it is not upgraded here; fix: upgrade it, or name its version")
		plan, err = planewright.Plan(t.Context(), w.making(spec().WithVersion("1.33")))
		require.NoError(t, err)
		assert.NotContains(t, fmt.Sprint(plan.Findings()), "gcp-cluster-version")
	})
	t.Run("an Autopilot cluster needs nothing", func(t *testing.T) {
		w := newWorld()
		w.old()
		w.google.ChangeCluster("dp-1", func(c *containerpb.Cluster) {
			c.Autopilot = &containerpb.Autopilot{Enabled: true}
			c.WorkloadIdentityConfig = &containerpb.WorkloadIdentityConfig{WorkloadPool: "acme-ml.svc.id.goog"}
		})
		plan, err := planewright.Plan(t.Context(), w.making(spec()))
		require.NoError(t, err)
		step, _ := plan.Step("flyte/ml/clusters/dp-1/cluster")
		assert.Equal(t, planewright.ActionNone, step.Change.Action)
	})
}

// A stranger's cluster is not changed; what is wrong with it is told before anything is made.
func TestNodesOfOthersThatGiveNoIdentityAreToldOf(t *testing.T) {
	w := newWorld()
	pool := func(name string, mode containerpb.WorkloadMetadataConfig_Mode) *containerpb.NodePool {
		return &containerpb.NodePool{Name: name, Config: &containerpb.NodeConfig{WorkloadMetadataConfig: &containerpb.WorkloadMetadataConfig{Mode: mode}}}
	}
	w.google.ChangeCluster("main", func(c *containerpb.Cluster) {
		c.NodePools = []*containerpb.NodePool{pool("a", containerpb.WorkloadMetadataConfig_GCE_METADATA), pool("b", containerpb.WorkloadMetadataConfig_GKE_METADATA)}
	})
	var found []string
	for _, f := range w.install(t, w.spec("team1")).Findings {
		if f.Code == gke.CodeNodeMetadata {
			found = append(found, string(f.Severity)+" "+f.Object.Name)
		}
	}
	assert.Equal(t, []string{"warning a"}, found)

	w = newWorld()
	w.google.ChangeCluster("main", func(c *containerpb.Cluster) {
		c.NodePools = []*containerpb.NodePool{pool("a", containerpb.WorkloadMetadataConfig_MODE_UNSPECIFIED)}
	})
	_, err := planewright.Install(t.Context(), w.stack(w.spec("team1")))
	require.ErrorContains(t, err, "gcloud container node-pools update a --cluster main --location europe-west4 --workload-metadata GKE_METADATA")
	assert.Empty(t, w.google.Writes())
}

// lossy loses the answers of creations.
type lossy struct {
	gke.Container
	err     error
	times   int
	effect  bool
	created int
}

func (l *lossy) CreateCluster(ctx context.Context, in *containerpb.CreateClusterRequest, options ...gax.CallOption) (*containerpb.Operation, error) {
	l.created++
	if l.times == 0 {
		return l.Container.CreateCluster(ctx, in, options...)
	}
	l.times--
	if l.effect {
		if operation, err := l.Container.CreateCluster(ctx, in, options...); err != nil {
			return operation, err
		}
	}
	return nil, l.err
}

func (w *world) losing(err error, effect bool) *lossy {
	config := w.google.Config()
	l := &lossy{Container: config.Container, err: err, times: 1, effect: effect}
	config.Container = l
	w.account = gke.New(config)
	return l
}

func TestACreationWithoutAnAnswerIsLookedFor(t *testing.T) {
	listed := func(w world) int {
		n := 0
		for _, call := range w.google.Calls() {
			if call.Operation == "ListOperations" {
				n++
			}
		}
		return n
	}
	t.Run("and waited for, if it was begun", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			l := w.losing(context.DeadlineExceeded, true)
			w.google.SetPace(9 * time.Minute)
			_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")), planewright.WithAttempts(1))
			require.NoError(t, err)
			assert.Equal(t, []int{1, 1}, []int{l.created, listed(w)})
		})
	})
	t.Run("and its reason is told, if it fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.losing(context.DeadlineExceeded, true)
			w.google.SetPace(time.Hour)
			time.AfterFunc(4*time.Minute, func() { w.google.FailOperations("Insufficient regional quota") })
			_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")), planewright.WithAttempts(1))
			require.ErrorContains(t, err, "GKE has given up on cluster dp-2: Insufficient regional quota")
		})
	})
	t.Run("and asked for again, if it was not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			l := w.losing(context.DeadlineExceeded, false)
			_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")))
			require.NoError(t, err)
			assert.Equal(t, 2, l.created)
		})
	})
	t.Run("but what ended long ago is another one's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")))
			require.NoError(t, err)
			w.google.DeleteCluster("dp-2")
			time.Sleep(time.Hour)
			l := w.losing(context.DeadlineExceeded, false)
			_, err = planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")))
			require.NoError(t, err)
			assert.Equal(t, 2, l.created)
		})
	})
	t.Run("also by the next install, of which the first one's death took the answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.google.SetPace(time.Hour)
			w.google.Fail(gkefake.Call("CreateCluster"), gkefake.Killed, gkefake.AfterEffect())
			_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")))
			require.Error(t, err)
			w.google.Heal()
			w.google.Revive()
			time.AfterFunc(4*time.Minute, func() { w.google.FailOperations("Insufficient regional quota") })
			_, err = planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-2")), planewright.WithAttempts(1))
			require.ErrorContains(t, err, "cluster dp-2 is ERROR; Insufficient regional quota")
		})
	})
}

func TestClustersOverTheWire(t *testing.T) {
	t.Parallel()
	w, _ := overTheWire(t)
	w.old()
	w.google.ChangeCluster("dp-1", func(c *containerpb.Cluster) {
		c.NodePools = append(c.NodePools, &containerpb.NodePool{Name: "gpu", Status: containerpb.NodePool_RUNNING})
	})
	_, err := planewright.Install(t.Context(), w.making(spec()))
	require.NoError(t, err)
	groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-1")
	require.NoError(t, err)
	require.Len(t, groups, 3)
	assert.True(t, groups[0].WorkloadIdentity && groups[2].WorkloadIdentity)
	assert.Equal(t, "gpu", groups[2].Name)
}
