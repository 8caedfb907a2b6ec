package adminfake

import (
	"fmt"
	"net/http"

	"github.com/planewright/planewright/flyte/admin"
)

// status is an answer of the gateway's that is an error.
type status struct {
	code    admin.Code
	message string
}

func (s *status) Error() string { return fmt.Sprintf("%s: %s", s.code, s.message) }

func statusf(code admin.Code, format string, args ...any) *status {
	return &status{code, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *status {
	return statusf(admin.CodeInvalidArgument, format, args...)
}

// http is the HTTP status that grpc-gateway makes of a code.
func (s *status) http() int {
	switch s.code {
	case admin.CodeInvalidArgument, admin.CodeFailedPrecondition, admin.CodeOutOfRange:
		return http.StatusBadRequest
	case admin.CodeUnauthenticated:
		return http.StatusUnauthorized
	case admin.CodePermissionDenied:
		return http.StatusForbidden
	case admin.CodeNotFound:
		return http.StatusNotFound
	case admin.CodeAlreadyExists, admin.CodeAborted:
		return http.StatusConflict
	case admin.CodeResourceExhausted:
		return http.StatusTooManyRequests
	case admin.CodeUnimplemented:
		return http.StatusNotImplemented
	case admin.CodeUnavailable:
		return http.StatusServiceUnavailable
	case admin.CodeDeadlineExceeded:
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}

// body is the JSON of the error.
func (s *status) body() fields {
	return fields{"code": int(s.code), "message": s.message, "details": []any{}}
}
