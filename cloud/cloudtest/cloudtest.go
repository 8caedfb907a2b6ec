package cloudtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Fixture is an account to try the contract on. It has one running cluster
// with workload identity and one bucket of its own, closed to the public.
type Fixture struct {
	Account         cloud.Account
	Cluster, Bucket string
	// Writes tells how many calls that change something were made so far.
	Writes func() int
	// May tells whether pods of a ServiceAccount of the cluster may take on an identity.
	May func(t *testing.T, identity, namespace, serviceAccount string) bool
	// Meddle has somebody else let somebody else take on the identity, and
	// Meddled tells whether that is still so.
	Meddle  func(t *testing.T, identity string)
	Meddled func(t *testing.T, identity string) bool
	// Deny has all calls be denied from now on.
	Deny func()
}

// Run tries the contract. Each test gets a fixture of its own.
func Run(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Fixture){
		"a cluster is described":                            describesCluster,
		"what is not there is not found":                    findsNothing,
		"access is short-lived and secret":                  givesAccess,
		"a bucket is described":                             describesBucket,
		"an identity is known before it is made":            knowsIdentity,
		"an identity is made, and not again":                makesIdentity,
		"subjects come and go":                              changesSubjects,
		"what others add to an adopted identity stays":      keepsForeign,
		"an identity of somebody else is not taken":         refusesStranger,
		"what is made is taken away, and again is no error": undoes,
		"an identity without an owner is the stack's":       defaultsOwner,
		"what no spec names any more is pruned":             prunes,
		"what is denied is told, and nothing is written":    tellsDenied,
		"bad specs are refused before anything is asked":    refusesBadSpecs,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFixture(t)) })
	}
}

const identityName = "contract-user"

// spec is an identity for ServiceAccounts called default in namespaces.
func (f Fixture) spec(namespaces ...string) cloud.IdentitySpec {
	spec := cloud.IdentitySpec{Name: identityName, Owner: "contract.test", Buckets: []cloud.BucketAccess{{Bucket: f.Bucket}}}
	for _, n := range namespaces {
		spec.Subjects = append(spec.Subjects, cloud.Subject{Cluster: f.Account.Cluster(f.Cluster), Namespace: n, ServiceAccount: "default"})
	}
	return spec
}

func (f Fixture) stack(spec cloud.IdentitySpec) planewright.Stack {
	p := f.Account.Identities.Provision("contract/test/identity", spec)
	return planewright.NewStack("contract/test").WithError(p.Err).WithSteps(p.Steps...).WithProbes(p.Probes...)
}

func (f Fixture) install(t *testing.T, spec cloud.IdentitySpec) {
	t.Helper()
	_, err := planewright.Install(t.Context(), f.stack(spec))
	require.NoError(t, err)
}

func describesCluster(t *testing.T, f Fixture) {
	c, err := f.Account.Clusters.Describe(t.Context(), f.Cluster)
	require.NoError(t, err)
	assert.Equal(t, []any{f.Cluster, f.Account.ID, f.Account.Location, cloud.ClusterReady}, []any{c.Name, c.AccountID, c.Location, c.Status})
	assert.Contains(t, c.Endpoint, "https://")
	assert.NotEmpty(t, c.Issuer)
	assert.NotEmpty(t, c.Version)
	_, err = f.Account.Clusters.NodeGroups(t.Context(), f.Cluster)
	require.NoError(t, err)
}

func findsNothing(t *testing.T, f Fixture) {
	_, err := f.Account.Clusters.Describe(t.Context(), "nowhere")
	isCallError(t, err, planewright.ErrNotFound)
	_, err = f.Account.Clusters.NodeGroups(t.Context(), "nowhere")
	isCallError(t, err, planewright.ErrNotFound)
	_, err = f.Account.Clusters.Access(t.Context(), "nowhere")
	isCallError(t, err, planewright.ErrNotFound)
	_, err = f.Account.Buckets.Describe(t.Context(), "nowhere-at-all")
	isCallError(t, err, planewright.ErrNotFound)
}

func isCallError(t *testing.T, err, kind error) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	var call *cloud.CallError
	require.ErrorAs(t, err, &call)
	assert.NotEmpty(t, call.Operation)
	assert.NotEmpty(t, call.Object.Kind)
	assert.False(t, call.Retryable())
}

func givesAccess(t *testing.T, f Fixture) {
	access, err := f.Account.Clusters.Access(t.Context(), f.Cluster)
	require.NoError(t, err)
	token, err := access.Token.Resolve(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, token)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", access, access, access), string(token))
	assert.Greater(t, time.Until(access.Expires), time.Minute)
	assert.Less(t, time.Until(access.Expires), 24*time.Hour)
	again, _, err := f.Account.Cluster(f.Cluster).Token(t.Context())
	require.NoError(t, err)
	assert.False(t, again.IsZero())
}

func describesBucket(t *testing.T, f Fixture) {
	b, err := f.Account.Buckets.Describe(t.Context(), f.Bucket)
	require.NoError(t, err)
	assert.Equal(t, f.Bucket, b.Name)
	assert.True(t, b.Ours)
	assert.False(t, b.Public)
	assert.True(t, b.PublicAccessBlocked)
	assert.NotEmpty(t, b.Location)
}

func knowsIdentity(t *testing.T, f Fixture) {
	p := f.Account.Identities.Provision("contract/test/identity", f.spec("a"))
	require.NoError(t, p.Err)
	require.Len(t, p.Identities, 1)
	assert.Contains(t, p.Identities[0].Principal, identityName)
	assert.Len(t, p.Identities[0].Annotations, 1)
	assert.NotEmpty(t, p.Identities[0].Needs)
	assert.Zero(t, f.Writes())
}

func makesIdentity(t *testing.T, f Fixture) {
	f.install(t, f.spec("a"))
	assert.True(t, f.May(t, identityName, "a", "default"))
	assert.False(t, f.May(t, identityName, "a", "other"))
	assert.False(t, f.May(t, identityName, "b", "default"))
	writes := f.Writes()
	plan, err := planewright.Plan(t.Context(), f.stack(f.spec("a")))
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
	f.install(t, f.spec("a"))
	assert.Equal(t, writes, f.Writes())
}

func changesSubjects(t *testing.T, f Fixture) {
	f.install(t, f.spec("a"))
	f.install(t, f.spec("a", "b"))
	assert.True(t, f.May(t, identityName, "a", "default"))
	assert.True(t, f.May(t, identityName, "b", "default"))
	f.install(t, f.spec("b"))
	assert.False(t, f.May(t, identityName, "a", "default"), "who is no longer named may no longer")
	assert.True(t, f.May(t, identityName, "b", "default"))
}

// made makes an identity of somebody else's.
func (f Fixture) made(t *testing.T) {
	t.Helper()
	other := f.spec("theirs")
	other.Owner = "somebody.else"
	f.install(t, other)
}

func refusesStranger(t *testing.T, f Fixture) {
	f.made(t)
	writes := f.Writes()
	_, err := planewright.Install(t.Context(), f.stack(f.spec("a")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "adopt")
	assert.Equal(t, writes, f.Writes())
}

func keepsForeign(t *testing.T, f Fixture) {
	f.made(t)
	f.Meddle(t, identityName)
	spec := f.spec("a")
	spec.Adopt = true
	f.install(t, spec)
	assert.True(t, f.Meddled(t, identityName))
	assert.True(t, f.May(t, identityName, "a", "default"))
	spec.Subjects = append(spec.Subjects, f.spec("b").Subjects...)
	f.install(t, spec)
	assert.True(t, f.Meddled(t, identityName))
}

func undoes(t *testing.T, f Fixture) {
	f.install(t, f.spec("a"))
	for range 2 {
		_, err := planewright.Uninstall(t.Context(), f.stack(f.spec("a")))
		require.NoError(t, err)
	}
	plan, err := planewright.Plan(t.Context(), f.stack(f.spec("a")))
	require.NoError(t, err)
	assert.True(t, plan.HasChanges())
}

func defaultsOwner(t *testing.T, f Fixture) {
	spec := f.spec("a")
	spec.Owner = ""
	f.install(t, spec)
	writes := f.Writes()
	f.install(t, f.spec("a"))
	assert.Equal(t, writes, f.Writes(), "contract.test owns it")
}

// inventory is one in memory.
type inventory struct{ entries []planewright.InventoryEntry }

func (i *inventory) Load(context.Context) ([]planewright.InventoryEntry, error) {
	return i.entries, nil
}

func (i *inventory) Save(_ context.Context, entries []planewright.InventoryEntry) error {
	i.entries = entries
	return nil
}

func prunes(t *testing.T, f Fixture) {
	remembered := &inventory{}
	other := f.spec("a")
	other.Name = "contract-other"
	install := func(specs ...cloud.IdentitySpec) *planewright.Report {
		p := f.Account.Identities.Provision("contract/test/identity", specs...)
		require.NoError(t, p.Err)
		report, err := planewright.Install(t.Context(), planewright.NewStack("contract/test").WithSteps(p.Steps...).WithInventory(remembered, f.Account.Prune))
		require.NoError(t, err)
		return report
	}
	install(f.spec("a"), other)
	install(other)
	for _, e := range remembered.entries {
		assert.NotContains(t, e.Step, identityName)
	}
	plan, err := planewright.Plan(t.Context(), f.stack(f.spec("a")))
	require.NoError(t, err)
	for _, step := range plan.Steps() {
		if strings.Contains(step.ID, identityName) {
			assert.Equal(t, planewright.ActionCreate, step.Change.Action, step.ID)
		}
	}
	assert.True(t, f.May(t, "contract-other", "a", "default"))
	assert.Empty(t, install(other).Changed())
}

func tellsDenied(t *testing.T, f Fixture) {
	f.Deny()
	_, err := planewright.Install(t.Context(), f.stack(f.spec("a")), planewright.WithAttempts(1))
	require.ErrorIs(t, err, planewright.ErrDenied)
	assert.Zero(t, f.Writes())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Account.Clusters.Describe(ctx, f.Cluster)
	require.ErrorIs(t, err, context.Canceled)
}

func refusesBadSpecs(t *testing.T, f Fixture) {
	elsewhere := f.Account
	elsewhere.Provider = map[cloud.Provider]cloud.Provider{cloud.AWS: cloud.GCP, cloud.GCP: cloud.AWS}[f.Account.Provider]
	for name, change := range map[string]func(*cloud.IdentitySpec){
		"no name":           func(s *cloud.IdentitySpec) { s.Name = "" },
		"nobody":            func(s *cloud.IdentitySpec) { s.Subjects = nil },
		"a literal pattern": func(s *cloud.IdentitySpec) { s.Subjects[0].Namespace = "*" },
		"everybody": func(s *cloud.IdentitySpec) {
			s.Subjects[0].Namespace, s.Subjects[0].ServiceAccount, s.Subjects[0].Pattern, s.Subjects[0].AnyNamespace = "*", "*", true, true
		},
		"another cloud": func(s *cloud.IdentitySpec) { s.Subjects[0].Cluster = elsewhere.Cluster("x") },
		"no bucket":     func(s *cloud.IdentitySpec) { s.Buckets[0].Bucket = "" },
	} {
		spec := f.spec("a")
		change(&spec)
		require.ErrorIs(t, f.Account.Identities.Provision("contract/test/identity", spec).Err, planewright.ErrInvalid, name)
	}
	assert.Zero(t, f.Writes())
}
