package eks

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
)

// failure is the error of a call to AWS.
func failure(operation string, object planewright.Object, err error) error {
	if err == nil {
		return nil
	}
	e := &cloud.CallError{Operation: operation, Object: object, Err: err}
	var api smithy.APIError
	if errors.As(err, &api) {
		e.Code, e.Message = api.ErrorCode(), api.ErrorMessage()
	}
	status := 0
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		e.RequestID, status = response.ServiceRequestID(), response.HTTPStatusCode()
	}
	e.Kind, e.Transient = kind(e.Code, status)
	switch {
	case errors.Is(err, context.Canceled):
		e.Kind, e.Transient = nil, false
	case e.Code == "" && status == 0:
		e.Kind, e.Transient = unreached(err)
	}
	e.Hint = hint(e)
	return e
}

// empty is the error of an answer that lacks what was asked for.
func empty(operation string, object planewright.Object) error {
	return &cloud.CallError{Operation: operation, Object: object, Message: "the answer is empty", Kind: planewright.ErrUnavailable, Transient: true}
}

// kind is the sentinel for a code of IAM, EKS, S3, KMS or STS. IAM's codes have
// no "Exception" at their end, EKS's do.
func kind(code string, status int) (sentinel error, transient bool) {
	switch strings.TrimSuffix(code, "Exception") {
	case "NoSuchEntity", "ResourceNotFound", "NotFound", "NoSuchBucket", "NoSuchPublicAccessBlockConfiguration", "NoSuchBucketPolicy", "ServerSideEncryptionConfigurationNotFoundError":
		return planewright.ErrNotFound, false
	case "EntityAlreadyExists", "ResourceInUse":
		return planewright.ErrAlreadyExists, false
	case "ConcurrentModification", "EntityTemporarilyUnmodifiable":
		return planewright.ErrConflict, true
	case "DeleteConflict", "UnmodifiableEntity", "InvalidState":
		return planewright.ErrConflict, false
	case "LimitExceeded", "ResourceLimitExceeded", "ServiceQuotaExceeded":
		return planewright.ErrQuota, false
	case "AccessDenied", "Forbidden", "UnauthorizedOperation", "InvalidClientTokenId", "ExpiredToken", "UnrecognizedClient", "SignatureDoesNotMatch", "AuthFailure", "OptInRequired":
		return planewright.ErrDenied, false
	case "Throttling", "ThrottledException", "Throttled", "TooManyRequests", "RequestLimitExceeded", "RequestThrottled", "SlowDown", "PriorRequestNotComplete":
		return planewright.ErrThrottled, true
	case "ServiceFailure", "ServiceUnavailable", "Server", "InternalFailure", "InternalError", "RequestTimeout", "OpenIdIdpCommunicationError", "ResourcePropagationDelay":
		return planewright.ErrUnavailable, true
	case "MalformedPolicyDocument", "InvalidInput", "InvalidParameter", "InvalidRequest", "ValidationError", "Validation", "Client", "UnsupportedAvailabilityZone":
		return planewright.ErrInvalid, false
	}
	switch {
	case status == http.StatusNotFound:
		return planewright.ErrNotFound, false
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return planewright.ErrDenied, false
	case status == http.StatusTooManyRequests:
		return planewright.ErrThrottled, true
	case status >= http.StatusInternalServerError:
		return planewright.ErrUnavailable, true
	}
	return nil, false
}

// unreached judges an error without an answer.
func unreached(err error) (sentinel error, transient bool) {
	var network net.Error
	var lost *net.OpError
	switch {
	case strings.Contains(err.Error(), "no EC2 IMDS role found"):
		// Outside of EC2 the last place where the SDK looks for credentials is
		// a server that is not there.
		return planewright.ErrDenied, false
	case errors.As(err, &lost), errors.As(err, &network) && !network.Timeout():
		return planewright.ErrUnavailable, true
	case errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		// The SDK's own time-out, or the caller's: then nobody tries again.
		return planewright.ErrTimeout, true
	}
	if strings.Contains(err.Error(), "credentials") {
		return planewright.ErrDenied, false
	}
	return nil, false
}

func hint(e *cloud.CallError) string {
	switch {
	case errors.Is(e.Kind, planewright.ErrDenied) && e.Code == "" && e.RequestID == "":
		return "the SDK found no credentials; log in, or set AWS_PROFILE"
	case strings.HasPrefix(e.Code, "ExpiredToken"):
		return "the credentials have expired; log in again"
	case errors.Is(e.Kind, planewright.ErrDenied):
		return "allow " + e.Operation + " for the credentials in use"
	case e.Code == "LimitExceeded" && strings.Contains(e.Message, "ACLSizePerRole"):
		return "the trust policy is longer than the account allows"
	case e.Code == "LimitExceeded" && strings.Contains(e.Message, "OpenIdConnectProvidersPerAccount"):
		return "delete the OIDC providers of clusters that are gone, or ask for more in Service Quotas"
	case errors.Is(e.Kind, planewright.ErrQuota):
		return "ask for more in Service Quotas, or remove what is no longer needed"
	}
	return ""
}

// is reports whether an error is of a kind: one of planewright's sentinels.
func is(err, sentinel error) bool { return errors.Is(err, sentinel) }

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	e, ok := errors.AsType[*cloud.CallError](err)
	return ok && e.Transient
}

// codeOf is the code of a failure, empty if it has none.
func codeOf(err error) string {
	if e, ok := errors.AsType[*cloud.CallError](err); ok {
		return strings.TrimSuffix(e.Code, "Exception")
	}
	return ""
}
