package live

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxStatus is how much of an answer is read for its status.
const maxStatus = 64 << 10

// trace remembers the last request of one Helm operation that failed. Helm turns
// many errors into texts, and a text does not tell whether to try again.
type trace struct {
	next http.RoundTripper
	// caller is what the requests are made for. Helm's have no context of their
	// own: they borrow its values, so that whoever watches a run hears of them.
	caller context.Context //nolint:containedctx // Helm passes none on

	mu     sync.Mutex
	failed error
	call   string // the one that failed
}

// RoundTrip implements http.RoundTripper.
func (t *trace) RoundTrip(request *http.Request) (*http.Response, error) {
	borrowed := borrowing{request.Context(), t.caller}
	response, err := t.next.RoundTrip(request.WithContext(borrowed)) //nolint:contextcheck // it is the request's own
	call := request.Method + " " + request.URL.Path
	if err != nil {
		t.note(call, err)
		return response, err
	}
	if response.StatusCode < http.StatusBadRequest || response.StatusCode == http.StatusNotFound {
		t.succeeded(call)
		return response, nil
	}
	head, err := io.ReadAll(io.LimitReader(response.Body, maxStatus))
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), &failing{err, response.Body}), response.Body}
	status := metav1.Status{}
	if json.Unmarshal(head, &status) != nil || status.Kind != "Status" {
		status = apierrors.NewGenericServerResponse(response.StatusCode, request.Method, schema.GroupResource{}, "", string(head), 0, true).ErrStatus
	}
	t.note(call, &apierrors.StatusError{ErrStatus: status})
	return response, nil
}

// borrowing is a context with the values of another one.
type borrowing struct {
	context.Context                 //nolint:containedctx // it is a context itself
	values          context.Context //nolint:containedctx // it is a context itself
}

// Value implements context.Context.
func (b borrowing) Value(key any) any {
	if v := b.Context.Value(key); v != nil {
		return v
	}
	return b.values.Value(key)
}

func (t *trace) note(call string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call, t.failed = call, err
}

// succeeded forgets the failure of a call that client-go has made again.
func (t *trace) succeeded(call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.call == call {
		t.call, t.failed = "", nil
	}
}

// last is the last failure, nil if there was none.
func (t *trace) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// failing is the rest of a body, or the error that was met while reading it.
type failing struct {
	err  error
	rest io.Reader
}

func (f *failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.rest.Read(p)
}
