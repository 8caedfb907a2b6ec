package gke

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/googleapis/gax-go/v2/apierror"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failure is the error of a call to Google, over gRPC or REST.
func failure(operation string, object planewright.Object, err error) error {
	if err == nil {
		return nil
	}
	e := &cloud.CallError{Operation: operation, Object: object, Err: err}
	var rest *googleapi.Error
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return e
	case errors.As(err, &rest):
		e.Code, e.Message = fmt.Sprint(rest.Code), rest.Message
		e.Kind, e.Transient = ofStatus(rest.Code)
	case status.Code(err) != codes.Unknown:
		s, _ := status.FromError(err)
		e.Code, e.Message = code(s.Code()), s.Message()
		e.Kind, e.Transient = ofCode(s.Code())
	case errors.Is(err, context.DeadlineExceeded):
		// The client's own time-out, or the caller's: then nobody tries again.
		e.Kind, e.Transient = planewright.ErrTimeout, true
	case errors.As(err, &network):
		e.Kind, e.Transient = planewright.ErrUnavailable, true
	}
	if tooFast(err) {
		e.Kind, e.Transient = planewright.ErrThrottled, true
	}
	switch {
	case e.Code == "UNAUTHENTICATED" || e.Code == "401":
		e.Hint = "the credentials are not valid any more; log in again: gcloud auth application-default login"
	case is(e.Kind, planewright.ErrDenied):
		e.Hint = "grant the permission; it is also missing where the API is switched off, or the project does not exist"
	case is(e.Kind, planewright.ErrQuota):
		e.Hint = "ask for more quota, or remove what is no longer needed"
	}
	return e
}

// tooFast reports whether calls come too fast. Google says so by the codes for
// exhausted quotas and for denials too, and tells the difference by a reason.
// https://cloud.google.com/apis/design/errors#error_info
func tooFast(err error) bool {
	if api, ok := apierror.FromError(err); ok && api.Reason() == "RATE_LIMIT_EXCEEDED" {
		return true
	}
	rest, ok := errors.AsType[*googleapi.Error](err)
	return ok && slices.ContainsFunc(rest.Errors, func(item googleapi.ErrorItem) bool {
		return item.Reason == "rateLimitExceeded" || item.Reason == "userRateLimitExceeded"
	})
}

// code is a gRPC code as Google's documentation spells it.
func code(c codes.Code) string {
	names := map[codes.Code]string{
		codes.Canceled: "CANCELLED", codes.InvalidArgument: "INVALID_ARGUMENT", codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND",
		codes.AlreadyExists: "ALREADY_EXISTS", codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
		codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE", codes.Unauthenticated: "UNAUTHENTICATED",
	}
	if name, ok := names[c]; ok {
		return name
	}
	return c.String()
}

func ofCode(c codes.Code) (sentinel error, transient bool) {
	switch c {
	case codes.Canceled:
		return context.Canceled, false // gRPC's own error is not the context's
	case codes.NotFound:
		return planewright.ErrNotFound, false
	case codes.AlreadyExists:
		return planewright.ErrAlreadyExists, false
	case codes.PermissionDenied, codes.Unauthenticated:
		return planewright.ErrDenied, false
	case codes.ResourceExhausted:
		return planewright.ErrQuota, false
	case codes.Aborted:
		return planewright.ErrConflict, true
	case codes.FailedPrecondition:
		return planewright.ErrConflict, false
	case codes.InvalidArgument, codes.OutOfRange:
		return planewright.ErrInvalid, false
	case codes.Unavailable, codes.Internal, codes.DeadlineExceeded:
		return planewright.ErrUnavailable, true
	case codes.Unimplemented:
		return planewright.ErrUnsupported, false
	case codes.OK, codes.Unknown, codes.DataLoss:
	}
	return nil, false
}

func ofStatus(status int) (sentinel error, transient bool) {
	switch {
	case status == http.StatusNotFound:
		return planewright.ErrNotFound, false
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return planewright.ErrDenied, false
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		return planewright.ErrConflict, true
	case status == http.StatusTooManyRequests:
		return planewright.ErrThrottled, true
	case status >= http.StatusInternalServerError:
		return planewright.ErrUnavailable, true
	case status == http.StatusBadRequest:
		return planewright.ErrInvalid, false
	}
	return nil, false
}

// is reports whether an error is of a kind: one of planewright's sentinels.
func is(err, sentinel error) bool { return errors.Is(err, sentinel) }

// codeOf is the code of a failure, empty if it has none.
func codeOf(err error) string {
	if e, ok := errors.AsType[*cloud.CallError](err); ok {
		return e.Code
	}
	return ""
}
