package live

import (
	"bytes"
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

	mu     sync.Mutex
	failed error
}

// RoundTrip implements http.RoundTripper.
func (t *trace) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		t.note(err)
		return response, err
	}
	if response.StatusCode < http.StatusBadRequest || response.StatusCode == http.StatusNotFound {
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
	t.note(&apierrors.StatusError{ErrStatus: status})
	return response, nil
}

func (t *trace) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = err
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
