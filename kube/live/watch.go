package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/planewright/planewright/kube"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newWatchBackoff is how long to pause before a watch that broke is made again.
func newWatchBackoff() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 8, Cap: 10 * time.Second}
}

// watch follows the named objects of one kind in one namespace: it lists them,
// then watches from there, and begins again where a watch broke. It returns when
// the context ends or after it has sent an error that will not go away.
func (w *waiter) watch(ctx context.Context, group kube.Ref, names []string) {
	f := &follower{
		c:     w.c,
		group: group,
		names: names,
		send: func(u waitUpdate) {
			select {
			case w.updates <- u:
			case <-ctx.Done():
			}
		},
		backoff: newWatchBackoff(),
	}
	f.opts = []client.ListOption{client.InNamespace(group.Namespace)}
	if len(names) == 1 {
		f.opts = append(f.opts, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", names[0])})
	}
	f.run(ctx)
}

// follower keeps one watch alive.
type follower struct {
	c       *connection
	group   kube.Ref
	names   []string
	opts    []client.ListOption
	send    func(waitUpdate)
	backoff wait.Backoff
	broken  bool
}

func (f *follower) run(ctx context.Context) {
	version, listed := "", false
	for ctx.Err() == nil {
		var err error
		if !listed {
			version, err = f.list(ctx)
		}
		if err == nil {
			listed = true
			version, err = f.watch(ctx, version)
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			listed = false // too old a version: the list tells what was missed
			err = nil
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil && !f.c.judge(ctx, err).retry {
			f.send(waitUpdate{err: f.c.failure(ctx, "watch", f.String(), err)})
			return
		}
		if err != nil {
			f.broken = true
			f.send(waitUpdate{trouble: fmt.Sprintf("the watch of %s broke and will be made again: %v", f, err)})
		}
		f.pause(ctx)
	}
}

// pause waits a little longer each time, until something is heard again.
func (f *follower) pause(ctx context.Context) {
	timer := time.NewTimer(f.backoff.Step())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// heard notes that the API server talks to us.
func (f *follower) heard() {
	f.backoff = newWatchBackoff()
	f.mended()
}

// mended takes back what was told of a broken watch.
func (f *follower) mended() {
	if f.broken {
		f.broken = false
		f.send(waitUpdate{})
	}
}

func (f *follower) list(ctx context.Context) (string, error) {
	items, version, err := f.c.list(ctx, f.group, f.opts...)
	if err != nil {
		return "", err
	}
	f.heard()
	found := make(map[string]*unstructured.Unstructured, len(items))
	for _, item := range items {
		found[item.GetName()] = item
	}
	for _, name := range f.names {
		f.tell(name, found[name])
	}
	return version, nil
}

func (f *follower) tell(name string, obj *unstructured.Unstructured) {
	ref := f.group
	ref.Name = name
	f.send(waitUpdate{ref: ref, obj: obj})
}

// watch follows the objects from a version on. It returns the last version seen
// and why the watch ended, nil if the API server just closed it.
func (f *follower) watch(ctx context.Context, version string) (string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(f.group.APIVersion)
	list.SetKind(f.group.Kind + "List")
	opts := append(slices.Clip(f.opts), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := f.c.client.Watch(ctx, list, opts...)
	if err != nil {
		return version, err
	}
	defer events.Stop()
	f.mended()
	for {
		select {
		case <-ctx.Done():
			return version, nil
		case e, open := <-events.ResultChan():
			if !open {
				return version, nil
			}
			if e.Type == watch.Error {
				return version, apierrors.FromObject(e.Object)
			}
			f.heard()
			obj, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			version = obj.GetResourceVersion()
			if e.Type == watch.Bookmark || !slices.Contains(f.names, obj.GetName()) {
				continue
			}
			if e.Type == watch.Deleted {
				f.tell(obj.GetName(), nil)
				continue
			}
			f.tell(obj.GetName(), obj)
		}
	}
}

// String names what is watched.
func (f *follower) String() string {
	if f.group.Namespace == "" {
		return f.group.Kind + "s of cluster " + f.c.name
	}
	return fmt.Sprintf("%ss in namespace %s of cluster %s", f.group.Kind, f.group.Namespace, f.c.name)
}
