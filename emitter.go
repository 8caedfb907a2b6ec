package planewright

import (
	"sync"
	"time"
)

// emitter hands events to one handler from one goroutine, without making the
// senders wait for it.
type emitter struct {
	mu    sync.Mutex
	more  *sync.Cond
	queue []Event
	ended bool
	done  chan struct{}
}

func newEmitter(handle func(Event)) *emitter {
	e := &emitter{done: make(chan struct{})}
	e.more = sync.NewCond(&e.mu)
	go e.run(handle)
	return e
}

func (e *emitter) run(handle func(Event)) {
	defer close(e.done)
	for {
		e.mu.Lock()
		for len(e.queue) == 0 && !e.ended {
			e.more.Wait()
		}
		batch, ended := e.queue, e.ended
		e.queue = nil
		e.mu.Unlock()
		for _, event := range batch {
			handle(event)
		}
		if ended && len(batch) == 0 {
			return
		}
	}
}

// emit queues an event. After close it does nothing.
func (e *emitter) emit(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	event.Time = time.Now()
	e.queue = append(e.queue, event)
	e.more.Signal()
}

// close returns when every event has been handled.
func (e *emitter) close() {
	e.mu.Lock()
	e.ended = true
	e.more.Signal()
	e.mu.Unlock()
	<-e.done
}
