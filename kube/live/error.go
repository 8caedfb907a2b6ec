package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/planewright/planewright"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errNoAnswer is the cause of a request that ran into our own time limit.
var errNoAnswer = errors.New("the API server did not answer in time")

// callError is a failed call on a cluster. It matches its sentinel and what
// went wrong underneath, and implements [planewright.Retryable].
type callError struct {
	// op is the verb, object what it was about: "apply Secret flyte/db in cluster dp-1".
	op, object string
	verdict
	err error
}

// verdict is what an error means.
type verdict struct {
	// sentinel is one of planewright's, nil if none fits.
	sentinel error
	// retry reports whether the same call may succeed later, after not before when.
	retry bool
	after time.Duration
	// hint says what to do about it.
	hint string
}

func (e *callError) Error() string {
	var b strings.Builder
	if e.op != "" {
		b.WriteString(e.op)
		b.WriteByte(' ')
	}
	b.WriteString(e.object)
	b.WriteString(": ")
	if e.sentinel != nil && !strings.Contains(e.err.Error(), e.sentinel.Error()) {
		b.WriteString(e.sentinel.Error())
		b.WriteString(": ")
	}
	b.WriteString(e.err.Error())
	if e.hint != "" {
		b.WriteString("; ")
		b.WriteString(e.hint)
	}
	return b.String()
}

func (e *callError) Unwrap() []error {
	if e.sentinel == nil {
		return []error{e.err}
	}
	return []error{e.sentinel, e.err}
}

// Retryable implements [planewright.Retryable].
func (e *callError) Retryable() bool { return e.retry }

// RetryAfter is how long the API server asked to wait, zero if it did not.
func (e *callError) RetryAfter() time.Duration { return e.after }

// fail makes an error of a failed call on an object. An error that is one
// already is returned as it is.
func (c *connection) fail(ctx context.Context, op string, object planewright.Object, err error) error {
	var done planewright.Retryable
	if object.Kind != "Secret" || errors.As(err, &done) {
		return c.failure(ctx, op, object.String(), err)
	}
	return &callError{op: op, object: object.String(), verdict: c.judge(ctx, err), err: withoutDetails(err)}
}

// failure is fail for what is no single object.
func (c *connection) failure(ctx context.Context, op, object string, err error) error {
	if err == nil {
		return nil
	}
	var done planewright.Retryable
	if errors.As(err, &done) {
		return err
	}
	return &callError{op: op, object: object, verdict: c.judge(ctx, err), err: err}
}

// withoutDetails takes the text out of an API server's complaint about what is
// in an object, because it quotes the offending values.
func withoutDetails(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	switch s.Reason {
	case metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest, metav1.StatusReasonInternalError, metav1.StatusReasonUnknown:
	default:
		return err
	}
	if isWebhookFailure(s) {
		return err
	}
	text := "the API server refuses its content (details are withheld, they may hold secret values)"
	if s.Details != nil {
		var fields []string
		causes := make([]metav1.StatusCause, len(s.Details.Causes))
		for i, cause := range s.Details.Causes {
			causes[i] = metav1.StatusCause{Type: cause.Type, Field: cause.Field}
			fields = append(fields, fmt.Sprintf("%s: %s", cause.Field, cause.Type))
		}
		details := *s.Details
		details.Causes = causes
		s.Details = &details
		if len(fields) > 0 {
			text += ": " + strings.Join(fields, ", ")
		}
	}
	s.Message = text
	return &apierrors.StatusError{ErrStatus: s}
}
