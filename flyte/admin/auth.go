package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/planewright/planewright"
)

// authorizer puts credentials into requests.
type authorizer interface {
	// authorize adds the credentials, and returns the token. An *Error is a
	// failed login.
	authorize(ctx context.Context, request *http.Request) (token string, err error)
	// forget drops a token that was refused, and reports whether another may be had.
	forget(token string) bool
}

// authorizer chooses how the client authorizes its calls.
func (s *settings) authorizer(c *Client) authorizer {
	header := s.header
	switch {
	case s.credentials != nil:
		return newLogin(c, *s.credentials, header)
	case !s.token.IsZero():
		if header == "" {
			header = DefaultAuthorizationHeader
		}
		return bearer{token: s.token, header: header}
	}
	return anonymous{}
}

type anonymous struct{}

func (anonymous) authorize(context.Context, *http.Request) (string, error) { return "", nil }
func (anonymous) forget(string) bool                                       { return false }

// bearer is a token that the caller has.
type bearer struct {
	token  planewright.Secret
	header string
}

func (b bearer) authorize(ctx context.Context, request *http.Request) (string, error) {
	token, err := b.token.Resolve(ctx)
	if err != nil {
		return "", err
	}
	return "", setToken(request, b.header, strings.TrimSpace(string(token)))
}

func (bearer) forget(string) bool { return false }

// setToken adds a bearer token. The error of net/http would print it if it
// could not be a header's value.
func setToken(request *http.Request, header, token string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the token is empty or holds characters that no token holds: %w", planewright.ErrDenied)
	}
	request.Header.Set(header, "Bearer "+token)
	return nil
}

// notAuthorized is the error of a call that was not made for want of
// credentials: certainly without effect.
func notAuthorized(ctx context.Context, call call, err error) *Error {
	var login *Error
	if errors.As(err, &login) {
		failed := *login
		failed.Uncertain = false
		return &failed
	}
	e := &Error{Op: call.op, Path: call.path, Kind: planewright.ErrDenied, Message: oneLine("no credentials: " + err.Error()), Err: err}
	if ctx.Err() != nil {
		return e.endedBy(ctx)
	}
	return e
}
