package adminfake

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Call is one call that a client made, as the call log keeps it.
type Call struct {
	// Operation is flyteadmin's name of the call, "RegisterProject"; "Health"
	// for the health check, "Token" for a login, empty for paths that are not served.
	Operation string
	// Method and Path are the request's.
	Method, Path string
	// Query is the request's, in its encoded form.
	Query string
	// Body is the request's, but for logins, whose secret is not kept.
	Body string
	// Persisted tells that the call changed what is stored.
	Persisted bool
	// Status is the HTTP status of the answer, 0 if there was none.
	Status int
	// Err is why there was no answer.
	Err error
	// Time is when the call began.
	Time time.Time
}

// String prints the call on one line: "RegisterProject POST /api/v1/projects: 200, persisted".
func (c Call) String() string {
	var b strings.Builder
	if c.Operation != "" {
		b.WriteString(c.Operation + " ")
	}
	fmt.Fprintf(&b, "%s %s", c.Method, c.Path)
	if c.Err != nil {
		fmt.Fprintf(&b, ": %v", c.Err)
	} else {
		fmt.Fprintf(&b, ": %d", c.Status)
	}
	if c.Persisted {
		b.WriteString(", persisted")
	}
	return b.String()
}

// Calls returns the calls that were made and match, in the order in which they ended.
func (f *Fake) Calls(matches ...Match) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []Call
	for _, c := range f.calls {
		if !slices.ContainsFunc(matches, func(m Match) bool { return !m.matches(c) }) {
			list = append(list, c)
		}
	}
	return list
}

// ForgetCalls empties the call log.
func (f *Fake) ForgetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// Writes counts the calls that changed what is stored.
func (f *Fake) Writes() int {
	n := 0
	for _, c := range f.Calls() {
		if c.Persisted {
			n++
		}
	}
	return n
}
