package gke_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/planewright/planewright/cloud/gke/gkefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/storage/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// answering answers everything with one error.
type answering struct {
	gke.Container
	gke.Storage
	err error
}

func (a answering) GetCluster(context.Context, *containerpb.GetClusterRequest, ...gax.CallOption) (*containerpb.Cluster, error) {
	return nil, a.err
}

func (a answering) GetBucket(context.Context, string) (*storage.Bucket, error) { return nil, a.err }

func TestWhatTheCodesOfGoogleMean(t *testing.T) {
	tooFast, err := status.New(codes.ResourceExhausted, "what Google says").WithDetails(&errdetails.ErrorInfo{Reason: "RATE_LIMIT_EXCEEDED"})
	require.NoError(t, err)
	for _, c := range []struct {
		err       error
		code      string
		kind      error
		retryable bool
	}{
		{status.Error(codes.NotFound, "what Google says"), "NOT_FOUND", planewright.ErrNotFound, false},
		{status.Error(codes.AlreadyExists, "what Google says"), "ALREADY_EXISTS", planewright.ErrAlreadyExists, false},
		{status.Error(codes.PermissionDenied, "what Google says"), "PERMISSION_DENIED", planewright.ErrDenied, false},
		{status.Error(codes.Unauthenticated, "what Google says"), "UNAUTHENTICATED", planewright.ErrDenied, false},
		{status.Error(codes.ResourceExhausted, "what Google says"), "RESOURCE_EXHAUSTED", planewright.ErrQuota, false},
		{status.Error(codes.Aborted, "what Google says"), "ABORTED", planewright.ErrConflict, true},
		{status.Error(codes.FailedPrecondition, "what Google says"), "FAILED_PRECONDITION", planewright.ErrConflict, false},
		{status.Error(codes.InvalidArgument, "what Google says"), "INVALID_ARGUMENT", planewright.ErrInvalid, false},
		{status.Error(codes.Unavailable, "what Google says"), "UNAVAILABLE", planewright.ErrUnavailable, true},
		{status.Error(codes.DeadlineExceeded, "what Google says"), "DEADLINE_EXCEEDED", planewright.ErrUnavailable, true},
		{status.Error(codes.Unimplemented, "what Google says"), "Unimplemented", planewright.ErrUnsupported, false},
		{&googleapi.Error{Code: http.StatusNotFound, Message: "what Google says"}, "404", planewright.ErrNotFound, false},
		{&googleapi.Error{Code: http.StatusForbidden, Message: "what Google says"}, "403", planewright.ErrDenied, false},
		{&googleapi.Error{Code: http.StatusPreconditionFailed, Message: "what Google says"}, "412", planewright.ErrConflict, true},
		{&googleapi.Error{Code: http.StatusTooManyRequests, Message: "what Google says"}, "429", planewright.ErrThrottled, true},
		{&googleapi.Error{Code: http.StatusBadGateway, Message: "what Google says"}, "502", planewright.ErrUnavailable, true},
		{&googleapi.Error{Code: http.StatusBadRequest, Message: "what Google says"}, "400", planewright.ErrInvalid, false},
		{tooFast.Err(), "RESOURCE_EXHAUSTED", planewright.ErrThrottled, true},
		{&googleapi.Error{Code: http.StatusForbidden, Message: "what Google says", Errors: []googleapi.ErrorItem{{Reason: "rateLimitExceeded"}}}, "403", planewright.ErrThrottled, true},
		{context.DeadlineExceeded, "", planewright.ErrTimeout, true},
	} {
		name := fmt.Sprintf("%s %v", c.code, c.err)
		port := answering{err: c.err}
		account := gke.New(gke.Config{Project: "acme-ml", Location: "europe-west4", Container: port, Storage: port})
		_, err := account.Clusters.Describe(t.Context(), "main")
		require.ErrorIs(t, err, c.kind, name)
		call, ok := errors.AsType[*cloud.CallError](err)
		require.True(t, ok)
		assert.Equal(t, []any{"container.clusters.get", c.code, c.retryable}, []any{call.Operation, call.Code, call.Retryable()}, name)
		_, err = account.Buckets.Describe(t.Context(), "acme-flyte")
		require.ErrorIs(t, err, c.kind, name)
	}
}

func TestDenialsSayWhatToDo(t *testing.T) {
	for code, want := range map[codes.Code]string{
		codes.PermissionDenied:  "grant the permission; it is also missing where the API is switched off, or the project does not exist",
		codes.Unauthenticated:   "the credentials are not valid any more; log in again: gcloud auth application-default login",
		codes.ResourceExhausted: "ask for more quota, or remove what is no longer needed",
	} {
		account := gke.New(gke.Config{Project: "acme-ml", Location: "europe-west4", Container: answering{err: status.Error(code, "what Google says")}})
		_, err := account.Clusters.Describe(t.Context(), "main")
		call, ok := errors.AsType[*cloud.CallError](err)
		require.True(t, ok)
		assert.Equal(t, want, call.Hint)
	}
}

func TestCallsThatComeTooFastAreMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.google.Fail(gkefake.Call("CreateServiceAccount"), gkefake.Throttled, gkefake.Times(2))
		w.install(t, w.spec("team1"))
		assert.Len(t, w.members("flyte-user"), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.google.Fail(gkefake.Call("CreateServiceAccount"), gkefake.Throttled)
		_, err := planewright.Install(t.Context(), w.stack(w.spec("team1")))
		require.ErrorIs(t, err, planewright.ErrThrottled)
		require.ErrorContains(t, err, "iam.serviceAccounts.create ServiceAccount projects/acme-ml/serviceAccounts/flyte-user@acme-ml.iam.gserviceaccount.com: RESOURCE_EXHAUSTED: Quota exceeded for quota metric")
	})
}
