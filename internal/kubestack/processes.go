package kubestack

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// errStopped is what starting a process returns after the stack was stopped.
var errStopped = errors.New("the stack is stopped")

// processes is the set of processes of a stack.
type processes struct {
	// failed is called when a process ends that was not killed by killAll.
	failed func(error)

	thread chan func() // runs on the one thread that starts processes

	mu      sync.Mutex
	stopped bool
	running []*process
	waiters sync.WaitGroup
}

// newProcesses returns an empty set.
func newProcesses(failed func(error)) *processes {
	ps := &processes{failed: failed, thread: make(chan func())}
	// The kernel ends a process with the thread that started it, not with the
	// whole parent. Go ends a thread when a goroutine that is locked to it returns,
	// which any other package may do; so the processes get a thread that lives as
	// long as they do.
	go func() {
		runtime.LockOSThread()
		for f := range ps.thread {
			f()
		}
	}()
	return ps
}

// start starts a process and watches over it.
func (ps *processes) start(c command) (*process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.stopped {
		return nil, errStopped
	}
	var (
		p       *process
		err     error
		started = make(chan struct{})
	)
	ps.thread <- func() {
		defer close(started)
		p, err = startProcess(c)
	}
	<-started
	if err != nil {
		return nil, err
	}
	ps.running = append(ps.running, p)
	ps.waiters.Go(func() {
		err := p.wait()
		ps.mu.Lock()
		stopped := ps.stopped
		ps.mu.Unlock()
		if !stopped {
			ps.failed(err)
		}
	})
	return p, nil
}

// killAll kills every process and returns when all have ended. Nothing starts
// afterwards. What they hold is about to be deleted, so none is asked to end
// in its own time; a kill also ends one that is paused.
func (ps *processes) killAll() error {
	ps.mu.Lock()
	if ps.stopped {
		ps.mu.Unlock()
		return nil
	}
	ps.stopped = true
	var errs []error
	for _, p := range ps.running {
		if err := p.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	ps.mu.Unlock()
	if len(errs) == 0 {
		ps.waiters.Wait()
	}
	close(ps.thread)
	return errors.Join(errs...)
}
