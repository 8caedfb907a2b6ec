package planewright_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/planewright/planewright"
)

// world is a place of named things with contents, for steps to make so: the
// smallest thing that an engine can be tried on.
type world struct {
	mu       sync.Mutex
	things   map[string]string
	versions map[string]int
	writes   []string
	// before is called before each write, with the lock not held; its error fails the write.
	before func(ctx context.Context, name string) error
	// after is called after each write; its error is what the writer sees.
	after func(ctx context.Context, name string) error
}

func newWorld() *world {
	return &world{things: map[string]string{}, versions: map[string]int{}}
}

func (w *world) get(name string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	content, ok := w.things[name]
	return content, ok
}

func (w *world) put(ctx context.Context, name, content string) error {
	if w.before != nil {
		if err := w.before(ctx, name); err != nil {
			return err
		}
	}
	w.mu.Lock()
	if content == "" {
		delete(w.things, name)
	} else {
		w.things[name] = content
	}
	w.versions[name]++
	w.writes = append(w.writes, name)
	w.mu.Unlock()
	if w.after != nil {
		return w.after(ctx, name)
	}
	return nil
}

func (w *world) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.writes)
}

func thing(name string) planewright.Object {
	return planewright.Object{Kind: "Thing", Name: name}
}

// step makes the thing that has the step's id for its name hold the content.
func (w *world) step(id, content string, needs ...string) planewright.Step {
	return planewright.Step{
		ID: id, Title: "Thing " + id, Needs: needs, Objects: []planewright.Object{thing(id)},
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			return w.check(id, content), nil
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error { return w.put(ctx, id, content) },
		Undo: func(ctx context.Context, _ *planewright.Run) error {
			if _, ok := w.get(id); !ok {
				return nil
			}
			return w.put(ctx, id, "")
		},
	}
}

func (w *world) check(name, content string) planewright.Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	change := planewright.Change{Fingerprint: fmt.Sprint(w.versions[name])}
	switch is, ok := w.things[name]; {
	case !ok:
		change.Action = planewright.ActionCreate
	case is != content:
		change.Action = planewright.ActionUpdate
		change.Diff = []planewright.FieldDiff{{Path: "content", Before: is, After: content}}
	}
	return change
}

// prune is the world's Pruner.
func (w *world) prune(entry planewright.InventoryEntry) (planewright.Step, bool) {
	return planewright.Step{
		Title: "Thing no longer wanted",
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			for _, o := range entry.Objects {
				if _, ok := w.get(o.Name); ok {
					return planewright.Change{Action: planewright.ActionDelete}, nil
				}
			}
			return planewright.Change{}, nil
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			for _, o := range entry.Objects {
				if err := w.put(ctx, o.Name, ""); err != nil {
					return err
				}
			}
			return nil
		},
	}, true
}

// inventory is an Inventory in memory.
type inventory struct {
	entries []planewright.InventoryEntry
	saves   int
}

func (i *inventory) Load(context.Context) ([]planewright.InventoryEntry, error) {
	return slices.Clone(i.entries), nil
}

func (i *inventory) Save(_ context.Context, entries []planewright.InventoryEntry) error {
	i.entries = slices.Clone(entries)
	i.saves++
	return nil
}

// lockbox is a Locker in memory.
type lockbox struct {
	name   string
	mu     sync.Mutex
	holder string
	lost   chan struct{}
	log    []string
}

func (l *lockbox) Name() string { return l.name }

func (l *lockbox) Lock(_ context.Context, holder string, _ func(string)) (planewright.Lock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != "" {
		return nil, &planewright.LockedError{Lock: l.name, Holder: l.holder, Since: time.Unix(0, 0)}
	}
	l.holder = holder
	l.log = append(l.log, "lock")
	l.lost = make(chan struct{})
	return heldLock{l}, nil
}

type heldLock struct{ box *lockbox }

func (h heldLock) Lost() <-chan struct{} { return h.box.lost }

func (h heldLock) Release(context.Context) error {
	h.box.mu.Lock()
	defer h.box.mu.Unlock()
	h.box.holder = ""
	h.box.log = append(h.box.log, "release")
	return nil
}

// flaky is an error that says of itself that it may go away.
type flaky struct{ text string }

func (f flaky) Error() string   { return cmp.Or(f.text, "flaky") }
func (f flaky) Retryable() bool { return true }
