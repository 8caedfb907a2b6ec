package admin

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/planewright/planewright"
)

// refused is the error of a call that was answered with another status than 200.
func refused(call call, response *http.Response, answer []byte) *Error {
	e := &Error{Op: call.op, Path: call.path, Status: response.StatusCode}
	var body struct {
		Code    Code   `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &body) == nil && (body.Code != CodeNone || body.Message != "") {
		e.Code, e.Message = body.Code, oneLine(body.Message)
	} else {
		e.Message = describe(answer)
	}
	e.classify()
	e.Uncertain = e.Status >= http.StatusInternalServerError && e.Status != http.StatusNotImplemented && call.method != http.MethodGet
	e.retryAfter = retryAfter(response.Header.Get("Retry-After"))
	return e
}

// classify sets the sentinel, whether it is transient, and the hint. The code
// tells more than the status: grpc-gateway makes 400 of several.
func (e *Error) classify() {
	switch e.Code {
	case CodeFailedPrecondition:
		e.Kind = planewright.ErrConflict
		return
	case CodeAborted:
		e.Kind, e.Transient = planewright.ErrConflict, true
		return
	default:
	}
	switch s := e.Status; {
	case s >= 300 && s < 400:
		e.Kind, e.Message = planewright.ErrDenied, "redirected elsewhere, which is not followed"
		e.Hint = "check that the endpoint's scheme and path are right, and that calls need no login in a browser"
	case s == http.StatusUnauthorized:
		e.Kind, e.Hint = planewright.ErrDenied, "give credentials that flyteadmin accepts, by WithAuthorizationHeader in another header if the gateway reads another"
	case s == http.StatusForbidden:
		e.Kind = planewright.ErrDenied
	case s == http.StatusNotFound:
		e.Kind = planewright.ErrNotFound
		if e.Code == CodeNone {
			e.Hint = "check that the endpoint leads to flyteadmin's HTTP port"
		}
	case s == http.StatusConflict:
		e.Kind = planewright.ErrAlreadyExists
	case s == http.StatusTooManyRequests:
		e.Kind, e.Transient = planewright.ErrThrottled, true
	case s == http.StatusNotImplemented:
		e.Kind = planewright.ErrUnsupported
	case s == http.StatusGatewayTimeout, s == http.StatusRequestTimeout:
		e.Kind, e.Transient = planewright.ErrTimeout, true
	case s >= 500:
		e.Kind, e.Transient = planewright.ErrUnavailable, true
	default:
		e.Kind = planewright.ErrInvalid
	}
}

// noAnswer is the error of a call that got no answer, or not all of it.
func (c *Client) noAnswer(ctx context.Context, call call, err error) *Error {
	e := &Error{Op: call.op, Path: call.path, Kind: planewright.ErrUnavailable, Transient: true, Uncertain: call.method != http.MethodGet}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // which would print the URL once more
	}
	e.Err = err
	var untrusted *tls.CertificateVerificationError
	var dial *net.OpError
	switch {
	case ctx.Err() != nil:
		return e.endedBy(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Err = planewright.ErrTimeout, nil
		e.Message = fmt.Sprintf("no answer within %v", c.timeout)
	case errors.As(err, &untrusted):
		e.Transient, e.Uncertain = false, false
		e.Hint = "if the certificate is signed by a CA of your own, give it by WithRootCAs"
	case errors.As(err, &dial) && dial.Op == "dial":
		e.Uncertain = false
	}
	return e
}

// endedBy makes the error say that the context ended before the call could succeed.
func (e *Error) endedBy(ctx context.Context) *Error {
	ended := *e
	ended.Kind, ended.Transient = nil, false
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		ended.Kind = planewright.ErrTimeout
	}
	if e.Err == nil || !errors.Is(e.Err, ctx.Err()) {
		ended.Message = oneLine(strings.TrimSuffix(fmt.Sprintf("%v: %s", ctx.Err(), e.said()), ": "))
	}
	ended.Err = ctx.Err()
	return &ended
}

func (e *Error) said() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

// describe says in short what an answer is that is none of flyteadmin's.
func describe(answer []byte) string {
	text := bytes.TrimSpace(answer)
	switch {
	case len(text) == 0:
		return "an empty answer"
	case text[0] == '<':
		return "a page of HTML or XML"
	}
	return oneLine(string(text))
}

// oneLine makes a bounded line of a text: runs of white space and of what
// cannot be printed become one space.
func oneLine(text string) string {
	if len(text) > 4*MaxMessage {
		text = text[:4*MaxMessage]
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError
	}), " ")
	if len(text) <= MaxMessage {
		return text
	}
	cut := MaxMessage - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// retryAfter reads the header in its form of seconds.
func retryAfter(value string) time.Duration {
	seconds, err := strconv.Atoi(value)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}
