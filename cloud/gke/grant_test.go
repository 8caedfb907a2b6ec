package gke_test

import (
	"context"
	"fmt"
	"testing"

	"cloud.google.com/go/iam/admin/apiv1/adminpb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/storage/v1"
)

const member = "serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com"

// remembered is an inventory in memory.
type remembered struct{ entries []planewright.InventoryEntry }

func (r *remembered) Load(context.Context) ([]planewright.InventoryEntry, error) {
	return r.entries, nil
}

func (r *remembered) Save(_ context.Context, entries []planewright.InventoryEntry) error {
	r.entries = entries
	return nil
}

// remembering installs with an inventory, so that what no spec names any more is pruned.
func (w world) remembering(t *testing.T, inventory *remembered, specs ...cloud.IdentitySpec) *planewright.Report {
	t.Helper()
	report, err := planewright.Install(t.Context(), w.stack(specs...).WithInventory(inventory, w.account.Prune))
	require.NoError(t, err)
	return report
}

func TestABucketsRolesAreExactlyThoseThatAreNamed(t *testing.T) {
	w := newWorld()
	spec := w.spec("team1")
	w.install(t, spec)
	require.Equal(t, map[string]string{"roles/storage.objectAdmin": "", "roles/storage.legacyBucketReader": ""}, w.google.BucketRoles("acme-flyte", member))

	spec.Buckets = []cloud.BucketAccess{{Bucket: "acme-flyte", ReadOnly: true}, {Bucket: "acme-flyte", Prefix: "models/"}}
	plan, err := planewright.Plan(t.Context(), w.stack(spec))
	require.NoError(t, err)
	step, _ := plan.Step("flyte/ml/identity/flyte-user/bucket/acme-flyte")
	assert.Equal(t, planewright.ActionUpdate, step.Change.Action)
	assert.Equal(t, []planewright.FieldDiff{
		{Path: "bindings[roles/storage.objectViewer]", After: member},
		{Path: `bindings[roles/storage.objectAdmin if resource.name.startsWith("projects/_/buckets/acme-flyte/objects/models/")]`, After: member},
		{Path: "bindings[roles/storage.objectAdmin]", Before: member},
	}, step.Change.Diff)
	w.install(t, spec)
	assert.Equal(t, map[string]string{"roles/storage.objectViewer": "", "roles/storage.legacyBucketReader": "",
		"roles/storage.objectAdmin": `resource.name.startsWith("projects/_/buckets/acme-flyte/objects/models/")`}, w.google.BucketRoles("acme-flyte", member))
	w.google.ForgetCalls()
	w.install(t, spec)
	assert.Empty(t, w.google.Writes())
}

func TestToAnAdoptedServiceAccountRolesAreOnlyAdded(t *testing.T) {
	w := newWorld()
	w.google.PutAccount("flyte-user", "Team one's")
	w.google.AddBucketMember("acme-flyte", "roles/storage.objectAdmin", member)
	spec := w.spec("team1")
	spec.Adopt = true
	spec.Buckets[0].ReadOnly = true
	w.install(t, spec)
	assert.Equal(t, map[string]string{"roles/storage.objectAdmin": "", "roles/storage.objectViewer": "", "roles/storage.legacyBucketReader": ""}, w.google.BucketRoles("acme-flyte", member))
	_, err := planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"roles/storage.objectAdmin": ""}, w.google.BucketRoles("acme-flyte", member), "what somebody else gave it stays")
}

// A binding is somebody else's if its condition has another title, also where it
// says the same, or if its role is none of those that are granted here.
func TestBindingsOfOthersInABucketStay(t *testing.T) {
	w := newWorld()
	theirs := []*storage.PolicyBindings{
		{Role: "roles/storage.objectViewer", Members: []string{"user:somebody@example.com"}, Condition: &storage.Expr{Title: "theirs", Expression: `resource.name.startsWith("projects/_/buckets/acme-flyte/objects/models/")`}},
		{Role: "roles/storage.admin", Members: []string{member}},
	}
	for _, b := range theirs {
		w.google.AddBucketBinding("acme-flyte", b)
	}
	spec := w.spec("team1")
	spec.Buckets = []cloud.BucketAccess{{Bucket: "acme-flyte", Prefix: "models/", ReadOnly: true}}
	w.install(t, spec)
	bindings := w.google.BucketBindings("acme-flyte")
	require.Len(t, bindings, 5)
	assert.Equal(t, theirs, bindings[1:3])
	assert.Equal(t, "planewright-prefix", bindings[4].Condition.Title)
	_, err := planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	bindings = w.google.BucketBindings("acme-flyte")
	require.Len(t, bindings, 3)
	assert.Equal(t, theirs[0], bindings[1])
}

// Cloud Storage goes on naming a service account that was deleted, as
// "deleted:serviceAccount:…?uid=…", in every policy that it was in.
func TestNoDeletedMemberStaysInABucket(t *testing.T) {
	deleted := func(w world) []string {
		var found []string
		for _, bucket := range []string{"acme-flyte", "acme-models"} {
			for _, m := range w.google.BucketMembers(bucket) {
				if m != "projectOwner:acme-ml" {
					found = append(found, bucket+" "+m)
				}
			}
		}
		return found
	}
	arranged := func() (world, cloud.IdentitySpec) {
		w := newWorld()
		w.google.PutBucket(gkefake.Bucket{Name: "acme-models"})
		spec := w.spec("team1")
		spec.Buckets = append(spec.Buckets, cloud.BucketAccess{Bucket: "acme-models", ReadOnly: true, Prefix: "models/"})
		return w, spec
	}
	other := func(w world) cloud.IdentitySpec {
		return cloud.IdentitySpec{Name: "flyte-other", Subjects: w.spec("team1").Subjects}
	}
	t.Run("when no spec names the identity any more", func(t *testing.T) {
		for range 20 { // what is pruned has no order
			w, spec := arranged()
			inventory := &remembered{}
			w.remembering(t, inventory, spec, other(w))
			w.remembering(t, inventory, other(w))
			_, there := w.google.ServiceAccount("flyte-user")
			assert.False(t, there)
			assert.Empty(t, deleted(w))
			w.google.ForgetCalls()
			w.remembering(t, inventory, other(w))
			assert.Empty(t, w.google.Writes())
		}
	})
	t.Run("when the spec names a bucket less", func(t *testing.T) {
		w, spec := arranged()
		inventory := &remembered{}
		w.remembering(t, inventory, spec)
		spec.Buckets = spec.Buckets[:1]
		w.remembering(t, inventory, spec)
		assert.Empty(t, w.google.BucketRoles("acme-models", member))
		assert.Len(t, w.google.BucketRoles("acme-flyte", member), 2)
	})
	t.Run("when it is uninstalled", func(t *testing.T) {
		w, spec := arranged()
		w.install(t, spec)
		_, err := planewright.Uninstall(t.Context(), w.stack(spec))
		require.NoError(t, err)
		assert.Empty(t, deleted(w))
	})
	t.Run("when somebody has deleted the service account", func(t *testing.T) {
		w, spec := arranged()
		w.install(t, spec)
		require.NoError(t, w.google.IAM().DeleteServiceAccount(t.Context(), &adminpb.DeleteServiceAccountRequest{Name: "projects/acme-ml/serviceAccounts/flyte-user@acme-ml.iam.gserviceaccount.com"}))
		require.Len(t, deleted(w), 4)
		w.install(t, spec)
		w.install(t, spec)
		assert.ElementsMatch(t, []string{"acme-flyte " + member, "acme-flyte " + member, "acme-models " + member, "acme-models " + member}, deleted(w), "the new one's alone")
		require.NoError(t, w.google.IAM().DeleteServiceAccount(t.Context(), &adminpb.DeleteServiceAccountRequest{Name: "projects/acme-ml/serviceAccounts/flyte-user@acme-ml.iam.gserviceaccount.com"}))
		_, err := planewright.Uninstall(t.Context(), w.stack(spec))
		require.NoError(t, err)
		assert.Empty(t, deleted(w))
	})
	t.Run("and one of somebody else's is left alone", func(t *testing.T) {
		w, spec := arranged()
		inventory := &remembered{}
		w.remembering(t, inventory, spec, other(w))
		w.google.PutAccount("flyte-user", "Team one's now")
		w.remembering(t, inventory, other(w))
		_, there := w.google.ServiceAccount("flyte-user")
		assert.True(t, there)
		assert.Len(t, w.google.BucketRoles("acme-flyte", member), 2)
	})
}

func TestManyIdentitiesOfOneBucket(t *testing.T) {
	w := newWorld()
	var specs []cloud.IdentitySpec
	for i := range 30 {
		spec := w.spec("team1")
		spec.Name = fmt.Sprintf("flyte-user-%d", i)
		specs = append(specs, spec)
	}
	_, err := planewright.Install(t.Context(), w.stack(specs...), planewright.WithAttempts(1))
	require.NoError(t, err)
	assert.Len(t, w.google.BucketMembers("acme-flyte"), 1+2*len(specs))
}

func TestAnIdentityWithoutAnOwnerIsTheStacks(t *testing.T) {
	w := newWorld()
	spec := w.spec("team1")
	spec.Owner = ""
	w.install(t, spec)
	description, _ := w.google.ServiceAccount("flyte-user")
	assert.Equal(t, "Made by planewright for flyte.ml", description)
}
