package kubestack

import (
	"fmt"
	"io"
	"sync"
)

// progress writes what is going on, a line at a time, for several goroutines.
type progress struct {
	mu *sync.Mutex
	w  io.Writer
}

// newProgress returns a progress that writes to w, or nowhere if w is nil.
func newProgress(w io.Writer) progress {
	if w == nil {
		w = io.Discard
	}
	return progress{mu: &sync.Mutex{}, w: w}
}

// printf writes one line.
func (p progress) printf(format string, args ...any) {
	// A log that cannot be written must not end a start.
	_, _ = p.Write(fmt.Appendf(nil, "kubestack: "+format+"\n", args...))
}

// Write writes b in one piece. It makes a progress the destination of a command's output.
func (p progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w.Write(b)
}
