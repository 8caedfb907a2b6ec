package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watcher is the body of a watch's response: it yields events as they come.
type watcher struct {
	server    *Server
	selection selection
	form      form
	ctx       context.Context //nolint:containedctx // the request's: it ends the stream
	timer     *time.Timer     // nil without a time-out
	bookmarks bool

	wake chan struct{} // holds a token when there is something new

	// Guarded by the server's lock.
	events []event
	done   bool

	buffer bytes.Buffer // the reader's own
}

// event is one event that was not written yet.
type event struct {
	kind   watch.EventType
	record *record
	raw    any // written instead of the record
}

func (s *Server) watch(r *Request, k *kind) (*Reply, error) {
	sel, err := s.selection(r, k)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		server: s, selection: sel, form: formOf(r, k), ctx: r.http.Context(),
		bookmarks: isTrue(r.query, "allowWatchBookmarks"), wake: make(chan struct{}, 1),
	}
	if seconds, _ := strconv.Atoi(r.query.Get("timeoutSeconds")); seconds > 0 {
		w.timer = time.NewTimer(time.Duration(seconds) * time.Second)
	}
	version := r.query.Get("resourceVersion")
	switch since, err := strconv.ParseUint(version, 10, 64); {
	case isTrue(r.query, "sendInitialEvents"):
		w.initial(s, k)
		w.events = append(w.events, event{kind: watch.Bookmark, raw: bookmark(k, s.revision, map[string]string{metav1.InitialEventsAnnotationKey: "true"})})
	case version == "" || version == "0":
		w.initial(s, k)
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q: %v", version, err))
	case since < s.forgotten:
		gone := *apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", since, s.forgotten+1))
		gone.ErrStatus.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		w.events = append(w.events, event{kind: watch.Error, raw: gone.ErrStatus})
		w.done = true
	default:
		for _, c := range s.history {
			if c.revision > since {
				w.offer(c)
			}
		}
	}
	if !w.done {
		s.watchers[w] = struct{}{}
	}
	return &Reply{Code: http.StatusOK, stream: w}, nil
}

// initial lists what is there as if it had just been added.
func (w *watcher) initial(s *Server, k *kind) {
	for _, rec := range s.table(k.stored(s)).sorted(w.selection.namespace) {
		if w.selection.matches(rec.obj) {
			w.events = append(w.events, event{kind: watch.Added, record: rec})
		}
	}
}

// offer queues a change if the watch is about it. The server's lock is held.
func (w *watcher) offer(c change) {
	if c.kind.GroupResource() != w.form.kind.GroupResource() || w.done {
		return
	}
	was := c.old != nil && w.selection.matches(c.old.obj)
	is := c.now != nil && w.selection.matches(c.now.obj)
	switch {
	case !was && is:
		w.queue(event{kind: watch.Added, record: c.now})
	case was && is:
		w.queue(event{kind: watch.Modified, record: c.now})
	case was && c.now != nil: // no longer selected
		last := Clone(c.old.obj)
		last.SetResourceVersion(c.now.obj.GetResourceVersion())
		w.queue(event{kind: watch.Deleted, record: &record{obj: last}})
	case was:
		w.queue(event{kind: watch.Deleted, record: c.last})
	}
}

func (w *watcher) queue(e event) {
	w.events = append(w.events, e)
	w.signal()
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// end closes the stream after what was queued. The server's lock is held.
func (w *watcher) end() {
	w.done = true
	delete(w.server.watchers, w)
	w.signal()
}

// Read implements [io.Reader].
func (w *watcher) Read(p []byte) (int, error) {
	for w.buffer.Len() == 0 {
		more, err := w.take()
		if err != nil {
			return 0, err
		}
		if more {
			continue
		}
		var expired <-chan time.Time
		if w.timer != nil {
			expired = w.timer.C
		}
		select {
		case <-w.wake:
		case <-expired:
			w.expire()
		case <-w.ctx.Done():
			_ = w.Close()
			return 0, w.ctx.Err()
		}
	}
	return w.buffer.Read(p)
}

// take moves queued events into the buffer. It reports io.EOF once there will be no more.
func (w *watcher) take() (bool, error) {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if len(w.events) == 0 {
		if w.done {
			return false, io.EOF
		}
		return false, nil
	}
	for _, e := range w.events {
		var object []byte
		var err error
		if e.raw != nil {
			object, err = json.Marshal(e.raw)
		} else {
			object, err = w.form.encode(e.record)
		}
		if err != nil {
			return false, err
		}
		w.buffer.WriteString(`{"type":"` + string(e.kind) + `","object":`)
		w.buffer.Write(object)
		w.buffer.WriteString("}\n")
	}
	w.events = nil
	return true, nil
}

// expire ends a watch whose time is up, with a last bookmark if it wants them.
func (w *watcher) expire() {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if w.bookmarks && !w.done {
		w.events = append(w.events, event{kind: watch.Bookmark, raw: bookmark(w.form.kind, w.server.revision, nil)})
	}
	w.end()
}

// Close implements [io.Closer].
func (w *watcher) Close() error {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	w.end()
	if w.timer != nil {
		w.timer.Stop()
	}
	return nil
}

// bookmark is an object of the kind that says nothing but a version.
func bookmark(k *kind, revision uint64, annotations map[string]string) any {
	obj := k.newObject()
	obj.SetResourceVersion(strconv.FormatUint(revision, 10))
	obj.SetAnnotations(annotations)
	return obj
}
