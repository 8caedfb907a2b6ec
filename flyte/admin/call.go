package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// maxAnswer bounds how much of an answer is read.
	maxAnswer = 64 << 20
	// firstPause is the mean pause before the first retry; the next ones double, up to maxPause.
	firstPause = 250 * time.Millisecond
	maxPause   = 8 * time.Second
	// maxRetryAfter bounds what a Retry-After header can ask for.
	maxRetryAfter = 30 * time.Second
)

// call is one call to the gateway.
type call struct {
	// op is flyteadmin's name of the call.
	op, method, path string
	query            url.Values
	body             any
	// anonymous calls carry no credentials.
	anonymous bool
	// discard says that the answer is no JSON, and of no interest.
	discard bool
}

// pathOf joins segments of a path, each escaped.
func pathOf(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	return "/api/v1/" + strings.Join(escaped, "/")
}

// do makes a call, again if that makes sense, and reads the answer with the
// function, which may be nil. Its errors are *Error.
func (c *Client) do(ctx context.Context, call call, read func(message)) error {
	var body []byte
	if call.body != nil {
		var err error
		if body, err = json.Marshal(call.body); err != nil {
			return &Error{Op: call.op, Path: call.path, Err: err}
		}
	}
	fresh := false
	for attempt := 0; ; attempt++ {
		answer, token, failure := c.attempt(ctx, call, body)
		if failure == nil {
			return readAnswer(call, answer, read)
		}
		if failure.Status == http.StatusUnauthorized && !call.anonymous && !fresh && c.auth.forget(token) {
			fresh = true
			continue
		}
		uncertain := failure.Uncertain && call.method == http.MethodPost
		if !failure.Transient || uncertain || attempt >= c.retries {
			return failure
		}
		if !pause(ctx, pauseAfter(attempt, failure.retryAfter)) {
			return failure.endedBy(ctx)
		}
	}
}

// attempt makes a call once. The token is the one that it was made with, if
// another may be had.
func (c *Client) attempt(ctx context.Context, call call, body []byte) (answer []byte, token string, failure *Error) {
	within, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	target := *c.endpoint
	target.RawQuery = call.query.Encode()
	request, err := http.NewRequestWithContext(within, call.method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, "", &Error{Op: call.op, Path: call.path, Err: err}
	}
	request.URL.Path, request.URL.RawPath = joinPath(c.endpoint, call.path)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if !call.anonymous {
		if token, err = c.auth.authorize(within, request); err != nil {
			return nil, "", notAuthorized(ctx, call, err)
		}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, token, c.noAnswer(ctx, call, err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, token, c.noAnswer(ctx, call, err)
	case response.StatusCode != http.StatusOK:
		return nil, token, refused(call, response, answer)
	case len(answer) > maxAnswer:
		return nil, token, &Error{Op: call.op, Path: call.path, Status: response.StatusCode, Message: "the answer is too long"}
	}
	return answer, token, nil
}

// joinPath puts a path behind the endpoint's, in its plain and its escaped form.
func joinPath(endpoint *url.URL, path string) (plain, escaped string) {
	escaped = endpoint.EscapedPath() + path
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	return endpoint.Path + plain, escaped
}

// readAnswer hands an answer of the gateway to the function.
func readAnswer(call call, answer []byte, read func(message)) error {
	if call.discard {
		return nil
	}
	m, err := parseMessage(answer)
	if err == nil && read != nil {
		read(m)
		err = m.err()
	}
	if err != nil {
		return &Error{
			Op: call.op, Path: call.path, Status: http.StatusOK, Message: oneLine("the answer is not flyteadmin's: " + describe(answer)), Err: err,
			Hint: "check that the endpoint leads to flyteadmin's HTTP port and not to a login page or to the console",
		}
	}
	return nil
}

// pauseAfter is how long to wait after an attempt, the first being 0: a random
// time around the mean, so that many clients do not come back at once.
func pauseAfter(attempt int, asked time.Duration) time.Duration {
	mean := min(firstPause<<min(attempt, 10), maxPause)
	d := mean/2 + rand.N(mean)
	return max(d, min(asked, maxRetryAfter))
}

// pause waits, and reports whether the context has not ended by then.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
