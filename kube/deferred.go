package kube

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Deferred is a handle on a cluster that is connected to only when it is
// first used: one that the same install makes, most of all. Connect is called
// until it succeeds, never by two at a time, and then no more. While the
// cluster is not there it returns a [*planewright.UnknownError], as
// cloud.ClusterRef's Access does; steps on the cluster are unknown in a plan
// then, and not wrong. All ports return Connect's errors.
//
//	where := account.Cluster("dp-3").MadeBy(provision)
//	cluster := kube.Deferred("dp-3", func(ctx context.Context) (kube.Cluster, error) {
//		access, err := where.Access(ctx)
//		if err != nil {
//			return kube.Cluster{}, err
//		}
//		return live.FromTokens("dp-3", access.Endpoint, access.CA, where.Token)
//	})
func Deferred(name string, connect func(context.Context) (Cluster, error)) Cluster {
	d := &deferred{connect: connect, turn: make(chan struct{}, 1)}
	return Cluster{Name: name, Objects: deferredObjects{d}, Releases: deferredReleases{d}, Facts: deferredFacts{d}, Ports: deferredPorts{d}}
}

// deferred is a connection to be made.
type deferred struct {
	connect func(context.Context) (Cluster, error)
	// turn holds who connects.
	turn chan struct{}

	mu        sync.Mutex
	connected bool
	cluster   Cluster
}

func (d *deferred) have() (Cluster, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cluster, d.connected
}

// get connects, or waits for who does. A caller whose context ends does not wait on.
func (d *deferred) get(ctx context.Context) (Cluster, error) {
	if c, ok := d.have(); ok {
		return c, nil
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return Cluster{}, context.Cause(ctx)
	}
	if c, ok := d.have(); ok {
		return c, nil
	}
	c, err := d.connect(ctx)
	if err != nil {
		return Cluster{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cluster, d.connected = c, true
	return c, nil
}

// on calls f with the cluster.
func on[T any](ctx context.Context, d *deferred, f func(Cluster) (T, error)) (T, error) {
	c, err := d.get(ctx)
	if err != nil {
		var zero T
		return zero, err
	}
	return f(c)
}

type deferredObjects struct{ d *deferred }

func (o deferredObjects) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	return on(ctx, o.d, func(c Cluster) (*unstructured.Unstructured, error) { return c.Objects.Get(ctx, ref) })
}

func (o deferredObjects) List(ctx context.Context, list ListRequest) ([]*unstructured.Unstructured, error) {
	return on(ctx, o.d, func(c Cluster) ([]*unstructured.Unstructured, error) { return c.Objects.List(ctx, list) })
}

func (o deferredObjects) Diff(ctx context.Context, obj *unstructured.Unstructured, opts ApplyOptions) (Diff, error) {
	return on(ctx, o.d, func(c Cluster) (Diff, error) { return c.Objects.Diff(ctx, obj, opts) })
}

func (o deferredObjects) Apply(ctx context.Context, obj *unstructured.Unstructured, opts ApplyOptions) (*unstructured.Unstructured, error) {
	return on(ctx, o.d, func(c Cluster) (*unstructured.Unstructured, error) { return c.Objects.Apply(ctx, obj, opts) })
}

func (o deferredObjects) Create(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return on(ctx, o.d, func(c Cluster) (*unstructured.Unstructured, error) { return c.Objects.Create(ctx, obj) })
}

func (o deferredObjects) Update(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return on(ctx, o.d, func(c Cluster) (*unstructured.Unstructured, error) { return c.Objects.Update(ctx, obj) })
}

func (o deferredObjects) Patch(ctx context.Context, ref Ref, patch Patch) (*unstructured.Unstructured, error) {
	return on(ctx, o.d, func(c Cluster) (*unstructured.Unstructured, error) { return c.Objects.Patch(ctx, ref, patch) })
}

func (o deferredObjects) Delete(ctx context.Context, ref Ref, opts DeleteOptions) error {
	c, err := o.d.get(ctx)
	if err != nil {
		return err
	}
	return c.Objects.Delete(ctx, ref, opts)
}

func (o deferredObjects) Wait(ctx context.Context, wait WaitRequest) error {
	c, err := o.d.get(ctx)
	if err != nil {
		return err
	}
	return c.Objects.Wait(ctx, wait)
}

type deferredReleases struct{ d *deferred }

func (r deferredReleases) Render(ctx context.Context, release Release) ([]*unstructured.Unstructured, error) {
	return on(ctx, r.d, func(c Cluster) ([]*unstructured.Unstructured, error) { return c.Releases.Render(ctx, release) })
}

func (r deferredReleases) State(ctx context.Context, namespace, name string) (ReleaseState, error) {
	return on(ctx, r.d, func(c Cluster) (ReleaseState, error) { return c.Releases.State(ctx, namespace, name) })
}

func (r deferredReleases) History(ctx context.Context, namespace, name string) ([]ReleaseState, error) {
	return on(ctx, r.d, func(c Cluster) ([]ReleaseState, error) { return c.Releases.History(ctx, namespace, name) })
}

func (r deferredReleases) List(ctx context.Context, namespace string) ([]ReleaseState, error) {
	return on(ctx, r.d, func(c Cluster) ([]ReleaseState, error) { return c.Releases.List(ctx, namespace) })
}

func (r deferredReleases) Plan(ctx context.Context, release Release) (ReleasePlan, error) {
	return on(ctx, r.d, func(c Cluster) (ReleasePlan, error) { return c.Releases.Plan(ctx, release) })
}

func (r deferredReleases) Apply(ctx context.Context, release Release) (ReleaseState, error) {
	return on(ctx, r.d, func(c Cluster) (ReleaseState, error) { return c.Releases.Apply(ctx, release) })
}

func (r deferredReleases) Rollback(ctx context.Context, namespace, name string, revision int) (ReleaseState, error) {
	return on(ctx, r.d, func(c Cluster) (ReleaseState, error) { return c.Releases.Rollback(ctx, namespace, name, revision) })
}

func (r deferredReleases) Uninstall(ctx context.Context, namespace, name string) ([]Ref, error) {
	return on(ctx, r.d, func(c Cluster) ([]Ref, error) { return c.Releases.Uninstall(ctx, namespace, name) })
}

type deferredFacts struct{ d *deferred }

func (f deferredFacts) Version(ctx context.Context) (Version, error) {
	return on(ctx, f.d, func(c Cluster) (Version, error) { return c.Facts.Version(ctx) })
}

func (f deferredFacts) Nodes(ctx context.Context) ([]Node, error) {
	return on(ctx, f.d, func(c Cluster) ([]Node, error) { return c.Facts.Nodes(ctx) })
}

func (f deferredFacts) StorageClasses(ctx context.Context) ([]StorageClass, error) {
	return on(ctx, f.d, func(c Cluster) ([]StorageClass, error) { return c.Facts.StorageClasses(ctx) })
}

func (f deferredFacts) Serves(ctx context.Context, kinds ...schema.GroupVersionKind) (map[schema.GroupVersionKind]bool, error) {
	return on(ctx, f.d, func(c Cluster) (map[schema.GroupVersionKind]bool, error) { return c.Facts.Serves(ctx, kinds...) })
}

func (f deferredFacts) Denied(ctx context.Context, accesses ...Access) ([]Access, error) {
	return on(ctx, f.d, func(c Cluster) ([]Access, error) { return c.Facts.Denied(ctx, accesses...) })
}

func (f deferredFacts) Endpoint(ctx context.Context) (Endpoint, error) {
	return on(ctx, f.d, func(c Cluster) (Endpoint, error) { return c.Facts.Endpoint(ctx) })
}

type deferredPorts struct{ d *deferred }

func (p deferredPorts) Forward(ctx context.Context, request ForwardRequest) (Forwarding, error) {
	return on(ctx, p.d, func(c Cluster) (Forwarding, error) { return c.Ports.Forward(ctx, request) })
}
