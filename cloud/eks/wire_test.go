package eks_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overTheWire is the world with the SDK's own clients, which talk HTTP to the fake.
func overTheWire(t *testing.T, options ...eks.Option) world {
	t.Helper()
	fake := eksfake.New(accountID, "us-east-1", "control", "dp-1", "dp-2")
	server := httptest.NewServer(fake.Handler())
	t.Cleanup(server.Close)
	return world{fake, eks.New(fake.ConfigAt(server.URL), options...)}
}

func TestIdentitiesOverTheWire(t *testing.T) {
	t.Parallel()
	w := overTheWire(t, eks.WithTags(map[string]string{"cost center": "ml+ai"}))
	w.install(t, w.admin(), w.user("dp-1", "dp-2"))
	want := newWorld()
	want.install(t, want.admin(), want.user("dp-1", "dp-2"))
	assert.Equal(t, state(t, want), state(t, w), "the same as without a wire")
	role, _ := w.aws.Role("flyte-admin")
	assert.Equal(t, "ml+ai", role.Tags["cost center"])

	w.aws.ForgetCalls()
	w.install(t, w.admin(), w.user("dp-1", "dp-2"))
	assert.Empty(t, w.aws.Writes(), "what was written is read as it was meant")
	w.install(t, w.user("dp-1"))
	assert.Len(t, w.trust(t, "flyte-user").Statements(), 1)
	_, err := planewright.Uninstall(t.Context(), w.stack(w.admin(), w.user("dp-1", "dp-2")))
	require.NoError(t, err)
	_, ok := w.aws.Role("flyte-user")
	assert.False(t, ok)
}

func TestPodIdentityOverTheWire(t *testing.T) {
	t.Parallel()
	w := overTheWire(t, eks.WithIdentityMode(eks.PodIdentity))
	w.install(t, w.admin())
	assert.Len(t, w.aws.Associations("control"), 2)
	w.aws.ForgetCalls()
	w.install(t, w.admin())
	assert.Empty(t, w.aws.Writes())
	_, err := planewright.Uninstall(t.Context(), w.stack(w.admin()))
	require.NoError(t, err)
	assert.Empty(t, w.aws.Associations("control"))
}

func TestClustersOverTheWire(t *testing.T) {
	t.Parallel()
	w := overTheWire(t)
	_, err := planewright.Install(t.Context(), w.making(dp3()))
	require.NoError(t, err)
	c, err := w.account.Clusters.Describe(t.Context(), "dp-3")
	require.NoError(t, err)
	assert.Equal(t, []any{cloud.ClusterReady, "1.34", w.aws.Issuer("dp-3"), false, "ml"}, []any{c.Status, c.Version, c.Issuer, c.PublicEndpoint, c.Labels["team"]})
	groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-3")
	require.NoError(t, err)
	assert.Equal(t, "t3.xlarge", groups[0].MachineType)
	_, err = w.account.Clusters.Describe(t.Context(), "nowhere")
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

// The ARN of a principal is one part of a path, with its slashes escaped.
func TestAccessOverTheWire(t *testing.T) {
	t.Parallel()
	fake := eksfake.New(accountID, "us-east-1", "dp-1")
	var mu sync.Mutex
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if r.Method == http.MethodPost && r.URL.Path != "/" {
			paths = append(paths, r.URL.EscapedPath())
		}
		mu.Unlock()
		fake.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	w := world{fake, eks.New(fake.ConfigAt(server.URL))}
	w.putDeployer(t)
	_, err := planewright.Install(t.Context(), w.access(t, deployer))
	require.NoError(t, err)
	assert.True(t, w.aws.Administers("dp-1", deployer))
	assert.Equal(t, []string{"/clusters/dp-1/access-entries", "/clusters/dp-1/access-entries/arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fci%2Fdeployer/access-policies"}, paths)
	w.aws.ForgetCalls()
	_, err = planewright.Install(t.Context(), w.access(t, deployer))
	require.NoError(t, err)
	assert.Empty(t, w.aws.Writes())
}

// The SDK tries throttled calls again, and not those that met another writer.
func TestATrustPolicyThatMeetsAnotherWriterOverTheWire(t *testing.T) {
	t.Parallel()
	w := overTheWire(t)
	w.install(t, w.user("dp-1"))
	w.aws.Fail(eksfake.Call("UpdateAssumeRolePolicy"), eksfake.Concurrent, eksfake.Times(2))
	_, err := planewright.Install(t.Context(), w.stack(w.user("dp-1", "dp-2")), planewright.WithAttempts(1))
	require.NoError(t, err)
	assert.Len(t, w.trust(t, "flyte-user").Statements(), 2)
}

func TestBucketsOverTheWire(t *testing.T) {
	t.Parallel()
	w := overTheWire(t)
	const key = "arn:aws:kms:us-east-1:123456789012:key/1"
	w.aws.PutKey(key, true)
	w.aws.PutBucket(eksfake.Bucket{Name: "acme-flyte", KMSKey: key})
	w.aws.PutBucket(eksfake.Bucket{Name: "acme-open", Public: true, Open: true})
	w.aws.PutBucket(eksfake.Bucket{Name: "theirs", Owner: "999999999999"})
	b, err := w.account.Buckets.Describe(t.Context(), "acme-flyte")
	require.NoError(t, err)
	assert.Equal(t, cloud.Bucket{Name: "acme-flyte", Location: "us-east-1", OwnedBy: accountID, Ours: true, PublicAccessBlocked: true, KMSKey: key, KMSKeyUsable: true}, b)
	b, err = w.account.Buckets.Describe(t.Context(), "acme-open")
	require.NoError(t, err)
	assert.Equal(t, cloud.Bucket{Name: "acme-open", Location: "us-east-1", OwnedBy: accountID, Ours: true, Public: true}, b)
	_, err = w.account.Buckets.Describe(t.Context(), "nowhere")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = w.account.Buckets.Describe(t.Context(), "theirs")
	require.ErrorIs(t, err, planewright.ErrDenied)
	w.aws.Fail(eksfake.Call("DescribeKey"), eksfake.Denied)
	b, err = w.account.Buckets.Describe(t.Context(), "acme-flyte")
	require.NoError(t, err)
	assert.Contains(t, b.Unknown["KMSKeyUsable"], "AccessDenied")
}

func TestErrorsOverTheWire(t *testing.T) {
	t.Parallel()
	for fault, want := range map[eksfake.Fault]error{
		eksfake.Denied: planewright.ErrDenied, eksfake.Throttled: planewright.ErrThrottled, eksfake.Unavailable: planewright.ErrUnavailable,
		eksfake.Reset: planewright.ErrUnavailable, eksfake.Concurrent: planewright.ErrConflict,
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			w := overTheWire(t)
			w.aws.Fail(eksfake.Call("GetRole"), fault)
			_, err := planewright.Plan(t.Context(), w.stack(w.admin()), planewright.WithAttempts(1))
			require.ErrorIs(t, err, want)
			call, ok := errors.AsType[*cloud.CallError](err)
			require.True(t, ok)
			assert.Equal(t, "iam:GetRole", call.Operation)
			if fault != eksfake.Reset {
				assert.Equal(t, "11111111-1111-1111-1111-111111111111", call.RequestID, "of the header, not of the body")
			}
		})
	}
	t.Run("throttling is tried again by the SDK", func(t *testing.T) {
		t.Parallel()
		w := overTheWire(t)
		w.aws.Fail(eksfake.Call("GetRole"), eksfake.Throttled, eksfake.Times(2))
		_, err := planewright.Plan(t.Context(), w.stack(w.admin()), planewright.WithAttempts(1))
		require.NoError(t, err)
	})
}
