package live

import (
	"net/http"

	"github.com/planewright/planewright"
)

// throttled tells when the API server asks to come back later. client-go does
// as it is asked, up to ten times, and says nothing; whoever watches an install
// should know what it waits for.
type throttled struct {
	next    http.RoundTripper
	cluster string
}

func (t throttled) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err == nil && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= http.StatusInternalServerError) {
		if after := resp.Header.Get("Retry-After"); after != "" {
			planewright.Tell(r.Context(), "cluster %s answers %s and asks to wait %ss before the next attempt", t.cluster, resp.Status, after)
		}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go find the transport below, to close its idle connections.
func (t throttled) WrappedRoundTripper() http.RoundTripper { return t.next }
