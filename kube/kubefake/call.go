package kubefake

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// CallRecord is one call that a client made, as the call log keeps it.
type CallRecord struct {
	// Cluster is the name of the cluster.
	Cluster string
	// Verb is get, list, watch, create, update, patch, apply, delete,
	// deletecollection, or discover for a call that is about no object: the
	// version, the served kinds.
	Verb string
	// Group, Version, Resource and Subresource are as in the path of the
	// call; Kind is empty if the kind is not served.
	Group, Version, Resource, Subresource, Kind string
	// Namespace and Name are the object's, as far as the call has them.
	Namespace, Name string
	// Path is the path of the call's URL.
	Path string
	// DryRun tells that the call was not to persist anything.
	DryRun bool
	// Persisted tells that the call changed stored state. Dry runs, access
	// reviews, and writes that change nothing do not.
	Persisted bool
	// Status is the HTTP status of the answer, 0 if there was none.
	Status int
	// Err is why there was no answer.
	Err error
	// Time is when the call began, Duration how long it took.
	Time     time.Time
	Duration time.Duration
}

// String prints the call on one line: "dp-1: apply Secret flyte/db: 200, persisted".
func (c CallRecord) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", c.Cluster, c.Verb)
	if kind := c.kind(); kind != "" {
		b.WriteString(" " + kind)
	} else {
		b.WriteString(" " + c.Path)
	}
	if name := c.qualifiedName(); name != "" {
		b.WriteString(" " + name)
	}
	if c.DryRun {
		b.WriteString(" (dry run)")
	}
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

func (c CallRecord) kind() string {
	kind := c.Kind
	if kind == "" {
		kind = c.Resource
	}
	if c.Subresource != "" {
		kind += "/" + c.Subresource
	}
	return kind
}

func (c CallRecord) qualifiedName() string {
	if c.Namespace == "" {
		return c.Name
	}
	return c.Namespace + "/" + c.Name
}

// Calls returns the calls that were made and match, in the order in which they ended.
func (f *Fleet) Calls(matches ...Match) []CallRecord {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []CallRecord
	for _, c := range f.calls {
		if !slices.ContainsFunc(matches, func(m Match) bool { return !m.matches(c) }) {
			list = append(list, c)
		}
	}
	return list
}

// ForgetCalls empties the call log.
func (f *Fleet) ForgetCalls() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// Writes counts the calls on a cluster that persisted something.
func (f *Fleet) Writes(cluster string) int {
	n := 0
	for _, c := range f.Calls(Call("").On(cluster)) {
		if c.Persisted {
			n++
		}
	}
	return n
}

// Reads counts the calls on a cluster that persisted nothing: reads, watches,
// discovery, dry runs, access reviews, and calls that failed.
func (f *Fleet) Reads(cluster string) int {
	return len(f.Calls(Call("").On(cluster))) - f.Writes(cluster)
}

// OnCall has the function called after every call, before its client gets the
// answer. If it calls [Fleet.Kill] the client gets none. It must not call the
// fleet's clusters.
func (f *Fleet) OnCall(hook func(CallRecord)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks = append(f.hooks, hook)
}

// log keeps the call and tells the hooks. It returns the error that the
// client gets, if any: the call's own, or that the client was killed.
func (f *Fleet) log(c CallRecord, status int, persisted bool, err error) error {
	c.Status, c.Persisted, c.Err, c.Duration = status, persisted, err, time.Since(c.Time)
	f.mu.Lock()
	f.calls = append(f.calls, c)
	hooks := f.hooks
	f.mu.Unlock()
	for _, hook := range hooks {
		hook(c)
	}
	if err != nil {
		return err
	}
	return f.alive()
}
