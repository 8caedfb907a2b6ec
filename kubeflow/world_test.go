package kubeflow_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	owner  = "ana@acme.example"
	editor = "bo@acme.example"
)

// newWorld makes a platform that ends with the test.
func newWorld(tb testing.TB, options ...kubeflowtest.Option) *kubeflowtest.World {
	tb.Helper()
	w := kubeflowtest.NewWorld(options...)
	tb.Cleanup(w.Close)
	return w
}

// bare is a stack of the base alone.
func bare() kubeflow.KubeflowStack {
	return kubeflow.NewKubeflowStack("ml", kubeflowtest.Release(), kubeflowtest.Global, kubeflowtest.Workload).WithHost(kubeflowtest.Host)
}

func teamA() kubeflow.Profile {
	return kubeflow.NewProfile("team-a", owner).
		WithEditors(editor).
		WithQuota("requests.cpu", "8").
		WithPodSecurity(kubeflow.PodSecurityBaseline)
}

// whole is a stack of everything.
func whole() kubeflow.KubeflowStack {
	return bare().
		WithPipelines(kubeflow.NewPipelines()).
		WithTrainer(kubeflow.NewTrainer().WithJobSet(true)).
		WithProfiles(teamA()).
		WithModelRegistries(kubeflow.NewModelRegistry("models", teamA()).
			WithStorage("standard", "20Gi").
			WithDisplayName("Models of team A").
			WithAccessFrom("serving"))
}

// install installs and expects it to work.
func install(tb testing.TB, w *kubeflowtest.World, stack kubeflow.KubeflowStack, options ...planewright.Option) *planewright.Report {
	tb.Helper()
	report, err := stack.Install(tb.Context(), w.Env(), options...)
	require.NoError(tb, err)
	return report
}

// get reads an object of the workload cluster.
func get(tb testing.TB, w *kubeflowtest.World, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	tb.Helper()
	obj, err := w.Cluster(kubeflowtest.Workload).Objects.Get(tb.Context(), kube.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
	require.NoError(tb, err)
	return obj
}

// field reads a field of an object, nil if it is not there.
func field(tb testing.TB, obj *unstructured.Unstructured, path ...string) any {
	tb.Helper()
	v, _, err := unstructured.NestedFieldCopy(obj.Object, path...)
	require.NoError(tb, err)
	return v
}

// settle lets what is simulated do what it has to.
func settle() { <-time.After(time.Second) }

// names lists the objects of a kind as "namespace/name", of a cluster, sorted.
func names(w *kubeflowtest.World, cluster, kind string) []string {
	var list []string
	for _, o := range w.Fleet.Objects(cluster) {
		if o.GetKind() == kind {
			list = append(list, strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
		}
	}
	return list
}

// findings returns the findings of a plan with a code, as text.
func findings(tb testing.TB, w *kubeflowtest.World, stack kubeflow.KubeflowStack, code string) []planewright.Finding {
	tb.Helper()
	plan, err := stack.Plan(tb.Context(), w.Env())
	require.NoError(tb, err)
	var found []planewright.Finding
	for _, f := range plan.Findings() {
		if f.Code == code {
			found = append(found, f)
		}
	}
	return found
}

// blocked returns why a step of a plan is blocked, empty if it is not.
func blocked(tb testing.TB, w *kubeflowtest.World, stack kubeflow.KubeflowStack, step string) string {
	tb.Helper()
	plan, err := stack.Plan(tb.Context(), w.Env())
	require.NoError(tb, err)
	s, ok := plan.Step(step)
	require.True(tb, ok, "no step %s", step)
	if s.Change.Action != planewright.ActionBlocked {
		return ""
	}
	return s.Change.Reason
}

// manifest makes an object of a text.
func manifest(apiVersion, kind, namespace, name string, content map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for key, value := range content {
		o[key] = value
	}
	return &unstructured.Unstructured{Object: o}
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
