package gke_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/gke"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/storage/v1"
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
