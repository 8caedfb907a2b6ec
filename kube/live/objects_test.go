package live_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestApplyIsSeenByDiff(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects
	config := "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}, data: {a: \"1\", b: \"x\\ny\\nz\"}}"

	d, err := objects.Diff(ctx, parse(t, config), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, d.Action)
	assert.Nil(t, d.Live)
	assert.Empty(t, d.NotYet)
	assert.Equal(t, []planewright.FieldDiff{{Path: "data.a", After: "1"}, {Path: "data.b", After: `"x\ny\nz"`}}, d.Fields)
	assert.Zero(t, fleet.Writes("dp-1"))

	_, err = objects.Apply(ctx, parse(t, config), kube.ApplyOptions{})
	require.NoError(t, err)
	d, err = objects.Diff(ctx, parse(t, config), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionNone, d.Action)
	assert.Empty(t, d.Fields)

	d, err = objects.Diff(ctx, parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}, data: {b: \"x\\nY\\nz\", c.d: m}}"), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionUpdate, d.Action)
	assert.Equal(t, []planewright.FieldDiff{
		{Path: "data.a", Before: "1"},
		{Path: "data.b", Before: "line 2: y", After: "line 2: Y"},
		{Path: `data["c.d"]`, After: "m"},
	}, d.Fields)
}

func TestDiffHidesWhatASecretHolds(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects
	_, err := objects.Apply(ctx, parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: flyte}, data: {password: aHVudGVyMg==}}"), kube.ApplyOptions{})
	require.NoError(t, err)
	d, err := objects.Diff(ctx, parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: flyte, labels: {a: b}}, data: {password: aHVudGVyMw==}}"), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, []planewright.FieldDiff{{Path: "data.password", Secret: true}, {Path: "metadata.labels.a", After: "b"}}, d.Fields)
}

func TestDiffOfWhatCannotBeYet(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects

	d, err := objects.Diff(ctx, parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: later}}"), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, d.Action)
	assert.Equal(t, "namespace later", d.NotYet)

	d, err = objects.Diff(ctx, parse(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: flyte}}"), kube.ApplyOptions{})
	require.NoError(t, err)
	assert.Equal(t, planewright.ActionCreate, d.Action)
	assert.Equal(t, "kind Widget of example.com/v1", d.NotYet)
}

func TestConflictNamesManagerAndFields(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects
	_, err := objects.Apply(ctx, parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}, data: {a: theirs, b: theirs}}"), kube.ApplyOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	ours := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}, data: {a: ours, b: ours}}")
	fleet.ForgetCalls()

	for _, do := range []func() error{
		func() error { _, err := objects.Diff(ctx, ours, kube.ApplyOptions{}); return err },
		func() error { _, err := objects.Apply(ctx, ours, kube.ApplyOptions{}); return err },
	} {
		err := do()
		var conflict *kube.ConflictError
		require.ErrorAs(t, err, &conflict)
		require.ErrorIs(t, err, planewright.ErrConflict)
		assert.Equal(t, []kube.ManagerFields{{Manager: "somebody", Fields: []string{".data.a", ".data.b"}}}, conflict.Managers)
		assert.Equal(t, "dp-1", conflict.Object.Cluster)
		assert.False(t, retryable(err))
	}
	assert.Zero(t, fleet.Writes("dp-1"))

	_, err = objects.Apply(ctx, ours, kube.ApplyOptions{Force: true})
	require.NoError(t, err)
}

func TestKindIsFoundOnceItsDefinitionIsThere(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects
	gadget := parse(t, "{apiVersion: demo.example.com/v1, kind: Gadget, metadata: {name: g, namespace: flyte}, spec: {a: 1}}")
	_, err := objects.Apply(ctx, gadget, kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "install its CustomResourceDefinition first")
	assert.False(t, retryable(err))

	definition := parse(t, demoFiles()["templates/definition.yaml"])
	_, err = objects.Apply(ctx, definition, kube.ApplyOptions{})
	require.NoError(t, err)
	require.NoError(t, objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(definition)}}))
	_, err = objects.Apply(ctx, gadget, kube.ApplyOptions{})
	require.NoError(t, err)
}

func TestCreateUpdateDelete(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects
	config := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}, data: {a: \"1\"}}")
	ref := kube.RefOf(config)

	created, err := objects.Create(ctx, config)
	require.NoError(t, err)
	_, err = objects.Create(ctx, config)
	require.ErrorIs(t, err, planewright.ErrAlreadyExists)

	_, err = objects.Update(ctx, config)
	require.ErrorIs(t, err, planewright.ErrInvalid, "without a resourceVersion there is no precondition")
	created.Object["data"] = map[string]any{"a": "2"}
	updated, err := objects.Update(ctx, created)
	require.NoError(t, err)
	_, err = objects.Update(ctx, created)
	require.ErrorIs(t, err, planewright.ErrConflict, "it has changed since it was read")
	assert.True(t, retryable(err), "whoever reads it again can write it")

	stale := updated.DeepCopy()
	stale.SetManagedFields(nil)
	stale.SetResourceVersion(created.GetResourceVersion())
	_, err = objects.Apply(ctx, stale, kube.ApplyOptions{Force: true})
	require.ErrorIs(t, err, planewright.ErrConflict)

	err = objects.Delete(ctx, ref, kube.DeleteOptions{UID: "another"})
	require.ErrorIs(t, err, planewright.ErrConflict)
	assert.False(t, retryable(err), "it will never be the one that was meant")
	require.NoError(t, objects.Delete(ctx, ref, kube.DeleteOptions{UID: string(created.GetUID())}))
	require.NoError(t, objects.Delete(ctx, ref, kube.DeleteOptions{}), "gone already")
	require.NoError(t, objects.Delete(ctx, kube.Ref{APIVersion: "none.example.com/v1", Kind: "Nothing", Name: "a"}, kube.DeleteOptions{}), "what is not served does not exist")
	_, err = objects.Get(ctx, ref)
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestListSelects(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	for i := range 3 {
		apply(t, cluster, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: flyte, labels: {odd: \"%t\"}}}", 2-i, i%2 == 1))
	}
	list, err := cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Labels: "odd=false"})
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "c0", list[0].GetName(), "sorted by name")
	assert.Equal(t, "ConfigMap", list[0].GetKind())

	_, err = cluster.Objects.List(ctx, kube.ListRequest{APIVersion: "v1", Kind: "ConfigMap", Labels: "a in ("})
	require.ErrorIs(t, err, planewright.ErrInvalid)
}

func TestNamesAreLookedAtBeforeTheyAreSent(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	objects := fleet.Cluster("dp-1").Objects
	for manifest, want := range map[string]string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}":                   "metadata.namespace is missing",
		"{apiVersion: v1, kind: Namespace, metadata: {name: c, namespace: flyte}}": "does not live in a namespace",
		"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: flyte}}":          "metadata.name is missing",
		"{apiVersion: v1, metadata: {name: c, namespace: flyte}, kind: \"\"}":      "kind is missing",
	} {
		_, err := objects.Apply(ctx, parse(t, manifest), kube.ApplyOptions{})
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
	assert.Zero(t, fleet.Writes("dp-1"))
}

// TestFaultsAreToldApart injects every fault into a write.
func TestFaultsAreToldApart(t *testing.T) {
	for fault, want := range map[kubefake.Fault]struct {
		sentinel error
		retry    bool
	}{
		kubefake.Unavailable:        {planewright.ErrUnavailable, true},
		kubefake.ServerError:        {planewright.ErrUnavailable, true},
		kubefake.Timeout:            {planewright.ErrUnavailable, true},
		kubefake.Conflict:           {planewright.ErrConflict, true},
		kubefake.Denied:             {planewright.ErrDenied, false},
		kubefake.Unauthorized:       {planewright.ErrDenied, false},
		kubefake.Reset:              {planewright.ErrUnavailable, true},
		kubefake.Unreachable:        {planewright.ErrUnavailable, true},
		kubefake.CertificateExpired: {planewright.ErrUnavailable, false},
	} {
		t.Run(string(fault), func(t *testing.T) {
			fleet := fleetOf(t, "dp-1")
			fleet.Fail(kubefake.Call("apply"), fault)
			_, err := fleet.Cluster("dp-1").Objects.Apply(inTime(t), parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}}"), kube.ApplyOptions{})
			require.ErrorIs(t, err, want.sentinel)
			assert.Equal(t, want.retry, retryable(err), "%v", err)
			assert.ErrorContains(t, err, "ConfigMap flyte/c in cluster dp-1")
		})
	}
}

func TestServerThatTakesARequestAndDoesNotAnswer(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	cluster := fleet.Cluster("dp-1")
	fleet.Fail(kubefake.Call("get").Kind("ConfigMap"), kubefake.Block)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := cluster.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"})
	require.ErrorIs(t, err, planewright.ErrTimeout)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	given, giveUp := context.WithCancelCause(t.Context())
	giveUp(errors.New("the user pressed a key"))
	_, err = cluster.Objects.Get(given, kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "flyte", Name: "c"})
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, planewright.ErrTimeout)
}

func TestSecretThatIsRefusedStaysSecret(t *testing.T) {
	cluster := fleetOf(t, "dp-1").Cluster("dp-1")
	_, err := cluster.Objects.Apply(inTime(t), parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: flyte}, stringData: {pin: 271828}}"), kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	assert.False(t, retryable(err))
	assert.NotContains(t, err.Error(), "271828")
	assert.NotContains(t, fmt.Sprintf("%+v", errors.Unwrap(err)), "271828")
}

func TestDiffOfWhatIsSettledAsksOnce(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	cluster := fleet.Cluster("dp-1")
	objects := cluster.Objects
	manifests := []string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: mine, labels: {a: b}}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: flyte}, type: Opaque, data: {a.b: YQ==}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: flyte, annotations: {eks.amazonaws.com/role-arn: r}}}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}, subjects: [{kind: ServiceAccount, name: s, namespace: flyte}]}",
	}
	for _, m := range manifests {
		_, err := objects.Apply(ctx, parse(t, m), kube.ApplyOptions{})
		require.NoError(t, err)
	}
	fleet.ForgetCalls()
	for _, m := range manifests {
		d, err := objects.Diff(ctx, parse(t, m), kube.ApplyOptions{})
		require.NoError(t, err)
		assert.Equal(t, planewright.ActionNone, d.Action)
		assert.NotNil(t, d.Live)
	}
	assert.Empty(t, fleet.Calls(kubefake.Call("apply")), "one read each is enough to know that nothing would change")

	for name, m := range map[string]string{
		"a value differs": "{apiVersion: v1, kind: Namespace, metadata: {name: mine, labels: {a: c}}}",
		"a field more":    "{apiVersion: v1, kind: Namespace, metadata: {name: mine, labels: {a: b, c: d}}}",
		"a field less":    "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: flyte}, type: Opaque}",
	} {
		t.Run(name, func(t *testing.T) {
			d, err := objects.Diff(ctx, parse(t, m), kube.ApplyOptions{})
			require.NoError(t, err)
			assert.Equal(t, planewright.ActionUpdate, d.Action)
		})
	}
	edit(t, cluster, kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: "mine"}, func(live *unstructured.Unstructured) {
		live.SetLabels(map[string]string{"a": "by-hand", "kubernetes.io/metadata.name": "mine"})
	})
	_, err := objects.Diff(ctx, parse(t, manifests[0]), kube.ApplyOptions{})
	require.ErrorIs(t, err, planewright.ErrConflict, "whoever changed it owns it now")
}
