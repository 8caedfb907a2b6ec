package admin_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/require"
)

// transport answers requests.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answering makes a client that gets one answer to all calls.
func answering(tb testing.TB, status int, body string, options ...admin.Option) *admin.Client {
	tb.Helper()
	stub := transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
	client, err := admin.New("https://flyte.acme.example", append([]admin.Option{admin.WithRetries(0), admin.WithHTTPClient(&http.Client{Transport: stub})}, options...)...)
	require.NoError(tb, err)
	return client
}

// answer is an answer that succeeded.
func answer(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}
