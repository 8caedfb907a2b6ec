package flyte_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
)

// lastingKinds are the kinds of objects that an install leaves behind. A Lease
// is not one of them: that of a killed process runs out by itself, and is
// left alone by an install that has nothing to change.
var lastingKinds = []kube.ListRequest{
	{APIVersion: "v1", Kind: "Namespace"}, {APIVersion: "v1", Kind: "ServiceAccount"}, {APIVersion: "v1", Kind: "Secret"},
	{APIVersion: "v1", Kind: "ConfigMap"}, {APIVersion: "v1", Kind: "Service"}, {APIVersion: "apps/v1", Kind: "Deployment"},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}, {APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"},
}

// endState is everything an install leaves behind, without what differs from
// run to run: identities, versions, times, and how many records Helm needed.
func endState(t *testing.T, cluster kube.Cluster) map[string]map[string]any {
	t.Helper()
	state := map[string]map[string]any{}
	for _, kind := range lastingKinds {
		objects, err := cluster.Objects.List(t.Context(), kind)
		require.NoError(t, err)
		for _, o := range objects {
			if strings.HasPrefix(o.GetName(), "sh.helm.release.v1.") || o.GetName() == "kube-root-ca.crt" || o.GetName() == "default" {
				continue // Records count attempts; the rest Kubernetes makes in its own time.
			}
			for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
				unstructured.RemoveNestedField(o.Object, "metadata", field)
			}
			unstructured.RemoveNestedField(o.Object, "status")
			unstructured.RemoveNestedField(o.Object, "spec", "clusterIP")
			unstructured.RemoveNestedField(o.Object, "spec", "clusterIPs")
			annotations := o.GetAnnotations()
			delete(annotations, "deployment.kubernetes.io/revision")
			delete(annotations, "kubernetes.io/service-account.uid")
			o.SetAnnotations(annotations)
			if o.Object["type"] == "kubernetes.io/service-account-token" || o.GetName() == "cluster-credentials" {
				o.Object["data"] = keysIn(o.Object["data"]) // Tokens are new with every account.
			}
			ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
			for _, port := range ports {
				delete(port.(map[string]any), "nodePort") //nolint:forcetypeassert // a port is a map
			}
			if len(ports) > 0 {
				require.NoError(t, unstructured.SetNestedSlice(o.Object, ports, "spec", "ports"))
			}
			state[kube.RefOf(o).String()] = o.Object
		}
	}
	releases, err := cluster.Releases.List(t.Context(), "flyte")
	require.NoError(t, err)
	for _, r := range releases {
		state["release "+r.Name] = map[string]any{"status": r.Status, "chart": r.ChartVersion, "owner": r.Owner, "objects": fmt.Sprint(r.Objects)}
	}
	return state
}

// keysIn are the keys of a map, sorted.
func keysIn(value any) []string {
	m, _ := value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// step is one call of an install: the nth of its kind.
type step struct {
	call kubefake.CallRecord
	nth  int
}

func (s step) match() kubefake.Match {
	name := s.call.Name
	if s.call.Namespace != "" {
		name = s.call.Namespace + "/" + s.call.Name
	}
	match := kubefake.Call(s.call.Verb).Kind(s.call.Kind)
	if name != "" {
		match = match.Named(name)
	}
	return match
}

func (s step) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s #%d", s.call.Verb, s.match(), s.nth+1))
}

// callsOf returns the calls of an undisturbed install.
func callsOf(t *testing.T) (steps []step, end map[string]map[string]any) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, err := planewright.Install(t.Context(), production().On(w.env))
		require.NoError(t, err)
		seen := map[string]int{}
		for _, c := range w.fleet.Calls() {
			s := step{call: c}
			s.nth = seen[s.match().String()]
			seen[s.match().String()]++
			steps = append(steps, s)
		}
		end = endState(t, w.cluster)
	})
	return steps, end
}

// Whatever call of an install goes wrong, in whatever way, before or after it
// has taken effect: the next install without faults ends in the state of one
// that nothing ever disturbed, and the one after that changes nothing.
func TestEveryFaultAtEveryCallIsMendedByTheNextInstall(t *testing.T) {
	t.Parallel()
	steps, want := callsOf(t)
	faults := []kubefake.Fault{kubefake.Throttled, kubefake.ServerError, kubefake.Conflict, kubefake.Timeout, kubefake.Reset, kubefake.Denied, kubefake.Killed}
	tried := 0
	for n, s := range steps {
		for m, fault := range faults {
			if testing.Short() && (!s.call.Persisted || (n+m)%len(faults) != 0) {
				continue // A short run takes a sample: each write once, each fault in its turn.
			}
			effects := [][]kubefake.FaultOption{{}}
			if s.call.Persisted {
				effects = append(effects, []kubefake.FaultOption{kubefake.AfterEffect()})
			}
			for i, effect := range effects {
				tried++
				t.Run(fmt.Sprintf("%s %s %s", []string{"before", "after"}[i], s, fault), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t)
						w.fleet.Fail(s.match(), fault, append(effect, kubefake.After(s.nth), kubefake.Times(1))...)
						_, disturbed := planewright.Install(t.Context(), production().On(w.env), planewright.WithHolder("first"))
						w.fleet.Heal()
						w.fleet.Revive()

						_, err := planewright.Install(t.Context(), production().On(w.env), planewright.WithHolder("second"))
						require.NoError(t, err, "the disturbed install said: %v", disturbed)
						assert.Equal(t, want, endState(t, w.cluster))
						plan, err := planewright.Plan(t.Context(), production().On(w.env))
						require.NoError(t, err)
						planewright.AssertNoChanges(t, plan)
					})
				})
			}
		}
	}
	t.Logf("%d faults at %d calls", tried, len(steps))
}
