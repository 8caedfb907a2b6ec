package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatAnAnswerMeans(t *testing.T) {
	for _, tt := range []struct {
		status    int
		code      admin.Code
		kind      error
		transient bool
	}{
		{400, admin.CodeInvalidArgument, planewright.ErrInvalid, false},
		{400, admin.CodeFailedPrecondition, planewright.ErrConflict, false},
		{400, admin.CodeOutOfRange, planewright.ErrInvalid, false},
		{401, admin.CodeUnauthenticated, planewright.ErrDenied, false},
		{403, admin.CodePermissionDenied, planewright.ErrDenied, false},
		{404, admin.CodeNotFound, planewright.ErrNotFound, false},
		{408, admin.CodeCancelled, planewright.ErrTimeout, true},
		{409, admin.CodeAlreadyExists, planewright.ErrAlreadyExists, false},
		{409, admin.CodeAborted, planewright.ErrConflict, true},
		{429, admin.CodeResourceExhausted, planewright.ErrThrottled, true},
		{500, admin.CodeUnknown, planewright.ErrUnavailable, true},
		{500, admin.CodeInternal, planewright.ErrUnavailable, true},
		{501, admin.CodeUnimplemented, planewright.ErrUnsupported, false},
		{502, admin.CodeNone, planewright.ErrUnavailable, true},
		{503, admin.CodeUnavailable, planewright.ErrUnavailable, true},
		{504, admin.CodeDeadlineExceeded, planewright.ErrTimeout, true},
	} {
		t.Run(fmt.Sprintf("%d %s", tt.status, tt.code), func(t *testing.T) {
			_, err := answering(t, tt.status, fmt.Sprintf(`{"code":%d,"message":"it said so","details":[]}`, tt.code)).Project(t.Context(), "team1")
			err = fmt.Errorf("wrapped: %w", err)
			require.ErrorIs(t, err, tt.kind)
			var failure *admin.Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, admin.Error{
				Op: "GetProject", Path: "/api/v1/projects/team1", Status: tt.status, Code: tt.code, Message: "it said so",
				Kind: tt.kind, Transient: tt.transient, Hint: failure.Hint,
			}, *failure)
			var retryable planewright.Retryable
			require.ErrorAs(t, err, &retryable)
			assert.Equal(t, tt.transient, retryable.Retryable())
			for _, other := range []error{planewright.ErrNotFound, planewright.ErrAlreadyExists, planewright.ErrDenied, planewright.ErrTimeout} {
				assert.Equal(t, errors.Is(tt.kind, other), errors.Is(err, other))
			}
		})
	}
}

func TestErrorsReadWell(t *testing.T) {
	fake := adminfake.New()
	client := clientOf(t, fake, admin.WithRetries(0))
	_, err := client.Project(t.Context(), "team1")
	require.EqualError(t, err, "flyteadmin: GetProject /api/v1/projects/team1: 404 NOT_FOUND: project [team1] not found")

	for _, tt := range []struct {
		fault adminfake.Fault
		want  string
	}{
		{adminfake.BadGateway, "502: a page of HTML or XML; it may have had its effect"},
		{adminfake.LoginPage, "302: redirected elsewhere, which is not followed; check that the endpoint's scheme and path are right, and that calls need no login in a browser"},
		{adminfake.NotFlyte, "200: the answer is not flyteadmin's: a page of HTML or XML; check that the endpoint leads to flyteadmin's HTTP port and not to a login page or to the console"},
		{adminfake.Reset, "unavailable: read tcp: connection reset by peer; it may have had its effect"},
		{adminfake.Unreachable, "unavailable: dial tcp: connection refused"},
		{adminfake.Unauthenticated, "401 UNAUTHENTICATED: token parse error: refused by a rule of the fake; give credentials that flyteadmin accepts, by WithAuthorizationHeader in another header if the gateway reads another"},
	} {
		rule := fake.Fail(adminfake.Operation("UpdateProject"), tt.fault)
		require.EqualError(t, client.UpdateProject(t.Context(), admin.Project{ID: "team1"}), "flyteadmin: UpdateProject /api/v1/projects/team1: "+tt.want)
		rule.Remove()
	}
}

func TestMessagesAreOneBoundedLine(t *testing.T) {
	long := strings.Repeat("wörter, ", 20_000)
	for body, want := range map[string]string{
		`{"code":3,"message":" a\n\tb   c "}`:        "a b c",
		"\n plain \x00\x1b[31m text\r\n":             "plain [31m text",
		"":                                           "an empty answer",
		"  <!DOCTYPE html>…":                         "a page of HTML or XML",
		`{"message":"no code"}`:                      "no code",
		`{"something":"else"}`:                       `{"something":"else"}`,
		`{"code":"not a number","message":"x"}`:      `{"code":"not a number","message":"x"}`,
		fmt.Sprintf(`{"code":3,"message":%q}`, long): "",
		long: "",
		`{"code":3,"message":"` + strings.Repeat("x", 512) + `"}`:  strings.Repeat("x", 512),
		`{"code":3,"message":"` + strings.Repeat("é", 257) + `"}`:  strings.Repeat("é", 254) + "…",
		`{"code":3,"message":"` + strings.Repeat("€", 1000) + `"}`: strings.Repeat("€", 169) + "…",
	} {
		_, err := answering(t, http.StatusBadRequest, body).Project(t.Context(), "team1")
		var failure *admin.Error
		require.ErrorAs(t, err, &failure)
		assert.LessOrEqual(t, len(failure.Message), admin.MaxMessage)
		if want != "" {
			assert.Equal(t, want, failure.Message)
		} else {
			assert.True(t, strings.HasSuffix(failure.Message, "…"))
		}
	}
}

func TestCancelledIsNotTimedOut(t *testing.T) {
	fake := adminfake.New()
	fake.Fail(adminfake.Operation(""), adminfake.Block)
	client := clientOf(t, fake)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	err := client.Health(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, planewright.ErrTimeout)
	require.EqualError(t, err, "flyteadmin: Health /healthcheck: no answer: context canceled")

	late, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	err = client.Health(late)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, planewright.ErrTimeout)
}

func TestCodesHaveNames(t *testing.T) {
	assert.Equal(t, "OK", admin.CodeNone.String())
	assert.Equal(t, "UNAUTHENTICATED", admin.CodeUnauthenticated.String())
	assert.Equal(t, "code 17", admin.Code(17).String())
	assert.Equal(t, "code -1", admin.Code(-1).String())
}
