package gke_test

import (
	"context"
	"net"
	"net/http/httptest"
	"sync"
	"testing"

	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/type/expr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"
)

// overTheWire is the world with Google's own clients, which talk gRPC and HTTP
// to the fake.
func overTheWire(t *testing.T) (world, *routes) {
	t.Helper()
	w, seen := newWorld(), &routes{all: map[string]string{}}
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.UnaryInterceptor(seen.note))
	w.google.Register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:///buf", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	require.NoError(t, err)
	rest := httptest.NewServer(w.google.StorageHandler())
	t.Cleanup(rest.Close)
	config, err := w.google.ConfigOver(t.Context(), conn, rest.URL)
	require.NoError(t, err)
	w.account = gke.New(config)
	return w, seen
}

// routes notes by which header Google's front finds the way.
type routes struct {
	mu  sync.Mutex
	all map[string]string
}

func (r *routes) note(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	headers, _ := metadata.FromIncomingContext(ctx)
	r.mu.Lock()
	if values := headers.Get("x-goog-request-params"); len(values) > 0 {
		r.all[info.FullMethod] = values[0]
	}
	r.mu.Unlock()
	return handle(ctx, request)
}

func TestIdentitiesOverTheWire(t *testing.T) {
	t.Parallel()
	w, seen := overTheWire(t)
	spec := w.spec("team1", "team2")
	spec.Buckets = append(spec.Buckets, cloud.BucketAccess{Bucket: "acme-flyte", Prefix: "models/", ReadOnly: true})
	w.install(t, spec)
	assert.Len(t, w.members("flyte-user"), 2)
	assert.Len(t, w.google.BucketRoles("acme-flyte", "serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com"), 3)
	assert.Contains(t, seen.all["/google.container.v1.ClusterManager/GetCluster"], "name=projects%2Facme-ml%2Flocations%2Feurope-west4%2Fclusters%2Fmain")

	w.google.ForgetCalls()
	w.install(t, spec)
	assert.Empty(t, w.google.Writes())
	_, err := planewright.Uninstall(t.Context(), w.stack(spec))
	require.NoError(t, err)
	_, ok := w.google.ServiceAccount("flyte-user")
	assert.False(t, ok)
}

// Google's client asks for version 1 of a policy unless it is told otherwise,
// and a policy that is read so has lost its conditions.
func TestConditionsSurviveTheWire(t *testing.T) {
	t.Parallel()
	w, _ := overTheWire(t)
	expired := &iampb.Binding{Role: user, Members: []string{"serviceAccount:acme-ml.svc.id.goog[old/default]"}, Condition: &expr.Expr{Title: "expired", Expression: "request.time < timestamp('2020-01-01T00:00:00Z')"}}
	w.google.PutAccount("flyte-user", "Team one's", expired)
	spec := w.spec("team1")
	spec.Adopt = true
	w.install(t, spec)
	bindings := w.google.Bindings("flyte-user")
	require.Len(t, bindings, 2)
	assert.Equal(t, "expired", bindings[0].GetCondition().GetTitle())
	assert.Equal(t, expired.GetMembers(), bindings[0].GetMembers())
	assert.Nil(t, bindings[1].GetCondition())
}

func TestErrorsOverTheWire(t *testing.T) {
	t.Parallel()
	for fault, want := range map[gkefake.Fault]error{gkefake.Denied: planewright.ErrDenied, gkefake.Exhausted: planewright.ErrQuota, gkefake.Throttled: planewright.ErrThrottled, gkefake.Aborted: planewright.ErrConflict} {
		w, _ := overTheWire(t)
		w.google.Fail(gkefake.Call("GetServiceAccount"), fault)
		_, err := planewright.Plan(t.Context(), w.stack(w.spec("team1")), planewright.WithAttempts(1))
		require.ErrorIs(t, err, want)
		require.ErrorContains(t, err, "iam.serviceAccounts.get ServiceAccount projects/acme-ml/serviceAccounts/flyte-user@acme-ml.iam.gserviceaccount.com")
	}
	t.Run("what is not there", func(t *testing.T) {
		t.Parallel()
		w, _ := overTheWire(t)
		_, err := w.account.Clusters.Describe(t.Context(), "nowhere")
		require.ErrorIs(t, err, planewright.ErrNotFound)
		_, err = w.account.Buckets.Describe(t.Context(), "nowhere")
		require.ErrorIs(t, err, planewright.ErrNotFound)
	})
	t.Run("reads are tried again by Google's client", func(t *testing.T) {
		t.Parallel()
		w, _ := overTheWire(t)
		w.google.Fail(gkefake.Call("GetCluster"), gkefake.Unavailable, gkefake.Times(2))
		_, err := w.account.Clusters.Describe(t.Context(), "main")
		require.NoError(t, err)
	})
	t.Run("what is not to be tried again by Google's client is by ours", func(t *testing.T) {
		t.Parallel()
		w, _ := overTheWire(t)
		w.google.Fail(gkefake.Call("SetIamPolicy"), gkefake.Aborted, gkefake.Times(2))
		w.install(t, w.spec("team1"))
		assert.Len(t, w.members("flyte-user"), 1)
	})
	t.Run("a policy that somebody else has written is read again", func(t *testing.T) {
		t.Parallel()
		w, _ := overTheWire(t)
		w.google.Fail(gkefake.Call("SetBucketPolicy"), gkefake.None, gkefake.Times(1), gkefake.Do(func() { w.google.PutBucket(gkefake.Bucket{Name: "acme-flyte"}) }))
		w.install(t, w.spec("team1"))
		assert.Len(t, w.google.BucketRoles("acme-flyte", "serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com"), 2)
	})
}
