package kubeflow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/planewright/planewright/kubeflow"
	"github.com/planewright/planewright/kubeflow/kubeflowtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What others ran into who install operators by hand.

// A kind that an operator has just brought is written only once it is served: no
// call meets a kind that is not, and none is made blindly until it works.
func TestCustomResourcesWaitUntilTheirKindIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, whole())
		for _, kind := range []string{"KubeflowBase", "KubeflowPipelines", "KubeflowTrainer", "ModelRegistry", "Profile"} {
			calls := w.Fleet.Calls(kubefake.Call("apply").Kind(kind))
			require.NotEmpty(t, calls, kind)
			for _, c := range calls {
				assert.Less(t, c.Status, 400, c.String())
			}
		}
	})
}

// A kind that nobody has just brought is not waited for.
func TestAKindThatNobodyBringsFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, kubeflowtest.WithoutDefinition("authorizationpolicies.security.istio.io"), workloadWith(manifest("v1", "Namespace", "", "legacy", nil)))
		stack := bare().WithNamespaceBindings(kubeflow.NewNamespaceBinding("legacy", owner))
		began := time.Now()
		_, err := stack.Install(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrNotFound)
		require.ErrorContains(t, err, "the cluster does not serve this kind; install its CustomResourceDefinition first")
		assert.Less(t, time.Since(began), time.Minute)
	})
}

// answering answers calls itself, until it has done so often enough.
type answering struct {
	http.RoundTripper
	matches func(*http.Request) bool
	code    int
	reason  string
	message string
	left    atomic.Int32
	hits    atomic.Int32
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if !a.matches(r) || a.left.Add(-1) < 0 {
		return a.RoundTripper.RoundTrip(r)
	}
	a.hits.Add(1)
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, a.code, a.reason, a.message)
	return &http.Response{StatusCode: a.code, Status: http.StatusText(a.code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// through is the Env with the workload cluster behind what answers.
func through(t *testing.T, w *kubeflowtest.World, a *answering) kubeflow.Env {
	t.Helper()
	config := w.Fleet.Config("workload")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		a.RoundTripper = next
		return a
	})
	cluster, err := live.FromConfig("workload", config)
	require.NoError(t, err)
	return w.Env().WithClusters(cluster)
}

func appliesTo(resource string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/"+resource+"/") && !strings.Contains(r.URL.RawQuery, "dryRun")
	}
}

// A webhook whose pods are not there yet is waited for; one that refuses is not.
func TestAWebhookThatIsNotReadyIsRetriedAndOneThatRefusesIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notReady := &answering{matches: appliesTo("kubeflowbases"), code: 500, reason: "InternalError",
			message: `Internal error occurred: failed calling webhook "vkubeflowbase.acme.example": failed to call webhook: Post "https://kfbase-operator.kfbase-operator.svc:443/validate": no endpoints available for service "kfbase-operator"`}
		notReady.left.Store(2)
		_, err := bare().Install(t.Context(), through(t, newWorld(t), notReady))
		require.NoError(t, err)
		assert.EqualValues(t, 2, notReady.hits.Load())
	})
	synctest.Test(t, func(t *testing.T) {
		refuses := &answering{matches: appliesTo("kubeflowbases"), code: 403, reason: "Forbidden",
			message: `admission webhook "policy.acme.example" denied the request: Kubeflow is not wanted here`}
		refuses.left.Store(100)
		_, err := bare().Install(t.Context(), through(t, newWorld(t), refuses))
		require.ErrorContains(t, err, "Kubeflow is not wanted here")
		assert.EqualValues(t, 1, refuses.hits.Load(), "it is asked once")
	})
}

// What an operator's custom resources hold is removed by the operator, so it goes
// after them. If it does not work, the uninstall says what holds what, and takes
// no finalizer away.
func TestAnOperatorThatDoesNotRemoveWhatItMadeIsWaitedForAndNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		w.Break("kfbase-operator", kubeflowtest.CSVFailed)
		settle()
		_, err := bare().Uninstall(t.Context(), w.Env(), planewright.WithStepTimeout(time.Minute))
		require.ErrorIs(t, err, planewright.ErrTimeout)
		require.ErrorContains(t, err, `KubeflowBase kfbase-operator/kubeflowbase`)
		require.ErrorContains(t, err, `still exists, finalizers "uninstall-helm-release", being deleted since `)
		left := get(t, w, "operator.alauda.io/v1", "KubeflowBase", "kfbase-operator", "kubeflowbase")
		assert.Equal(t, []string{"uninstall-helm-release"}, left.GetFinalizers())
		get(t, w, "operators.coreos.com/v1alpha1", "Subscription", "kfbase-operator", "kfbase-operator")
		get(t, w, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kfbase-operator", "kfbase-operator.v26.3.0")

		w.Mend("kfbase-operator")
		settle()
		_, err = bare().Uninstall(t.Context(), w.Env())
		require.NoError(t, err)
		order := w.Fleet.Calls(kubefake.Call("delete"))
		var kinds []string
		for _, c := range order {
			if c.Persisted && (c.Kind == "KubeflowBase" || c.Kind == "Subscription" || c.Kind == "ClusterServiceVersion" || c.Kind == "OperatorGroup") {
				kinds = append(kinds, c.Kind)
			}
		}
		assert.Equal(t, []string{"KubeflowBase", "Subscription", "ClusterServiceVersion", "OperatorGroup"}, kinds)
	})
}

// A role cannot be changed in a RoleBinding: it is deleted and made anew, and if
// that fails, the old one is put back.
func TestABindingWithAnotherRoleIsMadeAnewOrPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := bare().WithProfiles(teamA())
		install(t, w, stack)
		ref := kube.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding", Namespace: "team-a", Name: bindingOfBo}
		require.NoError(t, w.Cluster("workload").Objects.Delete(t.Context(), ref, kube.DeleteOptions{}))
		wrong := manifest(ref.APIVersion, ref.Kind, "", "", map[string]any{
			"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace, "annotations": map[string]any{"user": editor, "role": "view"}},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kubeflow-view"},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": editor}}})
		w.Add("workload", wrong)

		w.Fleet.Fail(kubefake.Call("create").Kind("RoleBinding"), kubefake.Denied, kubefake.Times(1))
		_, err := stack.Install(t.Context(), w.Env())
		require.ErrorIs(t, err, planewright.ErrDenied)
		assert.Equal(t, "kubeflow-view", field(t, get(t, w, ref.APIVersion, ref.Kind, ref.Namespace, ref.Name), "roleRef", "name"), "the old one is back")

		w.Fleet.Heal()
		install(t, w, stack)
		assert.Equal(t, "kubeflow-edit", field(t, get(t, w, ref.APIVersion, ref.Kind, ref.Namespace, ref.Name), "roleRef", "name"))
	})
}

// An older plan that was never approved keeps newer ones away. It is reported,
// and nothing is deleted that nobody asked for.
func TestAnOldUnapprovedPlanIsReportedAndLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Break("kfbase-operator", kubeflowtest.OldPlan)
		_, err := bare().Install(t.Context(), w.Env())
		operator, ok := errors.AsType[*kubeflow.OperatorError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kubeflow.SignForeignPlan, operator.Sign)
		assert.Contains(t, operator.Cause, "it would install kfbase-operator.v0.0.1; only kfbase-operator.v26.3.0 may be installed here, so it is not approved")
		assert.Contains(t, operator.Fix, "a plan that is left over from an older catalog keeps newer ones away: if it is one, kubectl delete -n kfbase-operator subscription kfbase-operator and installplan install-")

		plan, err := bare().Plan(t.Context(), w.Env())
		require.NoError(t, err)
		again, ok := errors.AsType[*kubeflow.OperatorError](plan.Err())
		require.True(t, ok, "a plan says so by the same type")
		assert.Equal(t, operator.Object, again.Object)
		assert.Empty(t, w.Fleet.Calls(kubefake.Call("delete").Kind("InstallPlan")))
		assert.Empty(t, w.Fleet.Calls(kubefake.Call("delete").Kind("Subscription")))
	})
}

// An operator that fails may recover: it is given the step's time.
func TestAnOperatorThatFailsAndRecoversIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Break("kfbase-operator", kubeflowtest.CSVFailed)
		time.AfterFunc(3*time.Minute, func() { w.Mend("kfbase-operator") })
		install(t, w, bare())
	})
}

// A resolution that fails while a catalog warms up mends itself.
func TestAResolutionThatFailsForAMomentIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Break("kfbase-operator", kubeflowtest.OtherCatalogFailed)
		time.AfterFunc(40*time.Second, func() { w.Mend("kfbase-operator") })
		install(t, w, bare())
	})
}

// Why an operator's pods do not start is in the error.
func TestAnOperatorThatCannotBePulledSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Fleet.Configure("workload", kubefake.WithPullFailure("*/kfbase-operator:*"))
		_, err := bare().Install(t.Context(), w.Env(), planewright.WithStepTimeout(5*time.Minute))
		operator, ok := errors.AsType[*kubeflow.OperatorError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kubeflow.SignInstalling, operator.Sign)
		assert.Contains(t, operator.Cause, "waiting for deployment kfbase-operator to become ready")
		assert.Contains(t, operator.Cause, "registry.acme.example/kfbase-operator:v1")
		assert.Contains(t, operator.Cause, "ImagePullBackOff")
	})
}

// regrouping changes the OperatorGroups of a namespace right before a plan is approved.
type regrouping struct {
	kube.Objects
	change func(context.Context, kube.Objects) error
}

func (r regrouping) Patch(ctx context.Context, ref kube.Ref, patch kube.Patch) (*unstructured.Unstructured, error) {
	if ref.Kind == "InstallPlan" {
		if err := r.change(ctx, r.Objects); err != nil {
			return nil, err
		}
	}
	return r.Objects.Patch(ctx, ref, patch)
}

// What a namespace's OperatorGroups keep an operator from is one sign, whether
// there is none or are several.
func TestOperatorGroupsThatDoNotFitAreATypedError(t *testing.T) {
	group := kube.Ref{APIVersion: "operators.coreos.com/v1", Kind: "OperatorGroup", Namespace: "kfbase-operator", Name: "kfbase-operator"}
	for reason, change := range map[string]func(context.Context, kube.Objects) error{
		"NoOperatorGroup": func(ctx context.Context, o kube.Objects) error { return o.Delete(ctx, group, kube.DeleteOptions{}) },
		"TooManyOperatorGroups": func(ctx context.Context, o kube.Objects) error {
			_, err := o.Create(ctx, manifest(group.APIVersion, group.Kind, group.Namespace, "second", nil))
			return err
		},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				workload := w.Cluster("workload")
				workload.Objects = regrouping{workload.Objects, change}
				_, err := bare().Install(t.Context(), w.Env().WithClusters(workload), planewright.WithStepTimeout(5*time.Minute))
				operator, ok := errors.AsType[*kubeflow.OperatorError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, kubeflow.SignOperatorGroup, operator.Sign)
				require.ErrorIs(t, err, planewright.ErrConflict)
				assert.Contains(t, operator.Cause, "reason "+reason)
				assert.Equal(t, "have exactly one OperatorGroup in namespace kfbase-operator, for all namespaces: one with an empty spec", operator.Fix)
			})
		})
	}
}

// The login's certificate is compared as what it is, and not as text; a chain is kept whole.
func TestALoginCertificateIsComparedAsACertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		secret := kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "cpaas-system", Name: "dex.tls"}
		write := func(text string) {
			edit(t, w, "global", secret, func(o *unstructured.Unstructured) {
				require.NoError(t, unstructured.SetNestedField(o.Object, encoded([]byte(text)), "data", "tls.crt"))
			})
		}
		write("# the platform's login\n\n" + string(kubeflowtest.PlatformCertificate()) + "\n\n")
		assert.Empty(t, install(t, w, bare()).Changed())

		chain := string(kubeflowtest.Certificate("acp.acme.example", 5)) + string(kubeflowtest.Certificate("root.acme.example", 6))
		write(chain)
		assert.Equal(t, []string{"kubeflow/ml/mesh"}, install(t, w, bare()).Changed())
		ca, _, _ := unstructured.NestedString(spec(t, w, "workload", istioRef()), "values", "pilot", "jwksResolverExtraRootCA")
		assert.Equal(t, chain, ca)
	})
}

// Older releases of the dashboard named people otherwise: who is let in is told
// by the annotation, and not by the name.
func TestAPersonIsKnownByTheAnnotationAndNotByTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stack := bare().WithProfiles(kubeflow.NewProfile("team-a", owner))
		install(t, w, stack)
		// The rule of before dropped upper-case letters: "Cy" became "y".
		const name = "user-y-acme-example-clusterrole-edit"
		annotations := map[string]any{"user": "Cy@acme.example", "role": "edit"}
		metadata := map[string]any{"name": name, "namespace": "team-a", "annotations": annotations}
		w.Add("workload", manifest("rbac.authorization.k8s.io/v1", "RoleBinding", "", "", map[string]any{"metadata": metadata,
			"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kubeflow-edit"}}),
			manifest("security.istio.io/v1", "AuthorizationPolicy", "", "", map[string]any{"metadata": metadata}))
		w.Fleet.ForgetCalls()
		with := bare().WithProfiles(kubeflow.NewProfile("team-a", owner).WithEditors("Cy@acme.example"))
		assert.Empty(t, install(t, w, with).Changed())
		assert.NotContains(t, names(w, "workload", "RoleBinding"), "team-a/user-cy-acme-example-clusterrole-edit")
	})
}

// Names that a namespace cannot have are refused before anything is read.
func TestAProfileWithoutANameIsRefused(t *testing.T) {
	err := bare().WithProfiles(kubeflow.NewProfile(kubeflow.ProfileName("漢@字"), "漢@字")).Validate()
	require.ErrorIs(t, err, planewright.ErrInvalid)
	require.ErrorContains(t, err, "profiles[0].name: a profile's name is that of its namespace")
	require.ErrorContains(t, err, "choose a name like team-a")
}
