package apiserver

import "time"

// change is one step in the history of a server.
type change struct {
	kind     *kind
	revision uint64
	at       time.Time
	// old is nil for a new object, now is nil for a removed one; last is then
	// what watches see of it.
	old, now, last *record
}

// Change tells a controller what became of an object.
type Change struct {
	// Group, Kind and Resource name the kind: "apps", "Deployment", "deployments".
	Group, Kind, Resource string
	// Old is nil for a new object, New for one that is gone.
	Old, New Object
}

// historyLimit and historyAge bound what a server remembers for watches that
// start in the past; older ones are told that their version is gone.
const (
	historyLimit = 1000
	historyAge   = 10 * time.Second
)

func (s *Server) notify(c change) {
	c.at = time.Now()
	s.history = append(s.history, c)
	if len(s.history) > historyLimit {
		s.forget(historyLimit / 4)
	} else if len(s.history)%64 == 0 {
		old := 0
		for old < len(s.history) && c.at.Sub(s.history[old].at) > historyAge {
			old++
		}
		s.forget(old)
	}
	for w := range s.watchers {
		w.offer(c)
	}
	seen := Change{Group: c.kind.Group, Kind: c.kind.Kind, Resource: c.kind.Plural}
	if c.old != nil {
		seen.Old = c.old.obj
	}
	if c.now != nil {
		seen.New = c.now.obj
	}
	for _, hook := range s.hooks {
		hook(seen)
	}
}

// forget drops the n oldest changes.
func (s *Server) forget(n int) {
	if n == 0 {
		return
	}
	s.forgotten = s.history[n-1].revision
	s.history = append([]change(nil), s.history[n:]...)
}
