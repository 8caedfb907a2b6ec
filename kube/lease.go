package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// leaseDuration is how long a Lease is somebody's after its last renewal.
	leaseDuration = 15 * time.Second
	// leaseRenewal is how often the holder renews it.
	leaseRenewal = 5 * time.Second
	// leaseDoubt is how long a Lease must have gone without a renewal before
	// its holder counts as dead, whatever the clocks say: longer than a
	// living holder lets it go.
	leaseDoubt = leaseRenewal + time.Second
	// leaseCall bounds one call of a renewal or of a release.
	leaseCall = 4 * time.Second
)

// NewLeaseLocker makes a lock of a Lease in a cluster, in a namespace that
// must exist when the lock is taken (otherwise taking it is ErrNotFound).
//
// The Lease is held for 15 seconds at a time and renewed every 5. Whoever
// finds it held watches for a renewal: if one comes, the holder is alive, and taking the
// lock is a [*planewright.LockedError]; if none comes in the time that is left
// (at least 6 seconds, so that clocks need not agree), the holder is dead and the Lease
// is taken over. When the lock is released the Lease is deleted.
func NewLeaseLocker(cluster Cluster, namespace, name string) planewright.Locker {
	return leaseLocker{objects: cluster.Objects, cluster: cluster.Name,
		ref: Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: namespace, Name: name}}
}

type leaseLocker struct {
	objects Objects
	cluster string
	ref     Ref
}

// Name implements [planewright.Locker].
func (l leaseLocker) Name() string { return l.ref.In(l.cluster).String() }

// Lock implements [planewright.Locker].
func (l leaseLocker) Lock(ctx context.Context, holder string, progress func(string)) (planewright.Lock, error) {
	for {
		lock, err := l.try(ctx, holder, progress)
		// Somebody else was faster, or gave it up just now: look again.
		if errors.Is(err, errLeaseMoved) {
			continue
		}
		return lock, err
	}
}

// errLeaseMoved says that the Lease changed while it was looked at.
var errLeaseMoved = errors.New("the Lease has changed")

// try takes the Lease if nobody has it, or waits for what becomes of it.
func (l leaseLocker) try(ctx context.Context, holder string, progress func(string)) (planewright.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	live, err := l.objects.Get(ctx, l.ref)
	if errors.Is(err, planewright.ErrNotFound) {
		taken, err := l.objects.Create(ctx, l.held(nil, holder))
		if errors.Is(err, planewright.ErrAlreadyExists) {
			return nil, errLeaseMoved
		}
		if err != nil {
			return nil, err
		}
		return l.hold(ctx, taken, holder), nil
	}
	if err != nil {
		return nil, err
	}
	if spec := readLease(live); spec.holder != "" {
		if err := l.waitOut(ctx, live, progress); err != nil {
			return nil, err
		}
		progress(fmt.Sprintf("%s has not renewed %s and counts as dead; taking it over", spec.holder, l.Name()))
	}
	taken, err := l.objects.Update(ctx, l.held(live, holder))
	if errors.Is(err, planewright.ErrConflict) || errors.Is(err, planewright.ErrNotFound) {
		return nil, errLeaseMoved
	}
	if err != nil {
		return nil, err
	}
	return l.hold(ctx, taken, holder), nil
}

// waitOut returns nil when the holder of the Lease is dead.
func (l leaseLocker) waitOut(ctx context.Context, live *unstructured.Unstructured, progress func(string)) error {
	seen := readLease(live)
	left := min(max(time.Until(seen.renewed.Add(seen.duration)), leaseDoubt), max(seen.duration, leaseDoubt))
	progress(fmt.Sprintf("%s is held by %s; waiting up to %s to see whether it is alive", l.Name(), seen.holder, left.Round(time.Second)))
	waiting, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var now *unstructured.Unstructured
	err := l.objects.Wait(waiting, WaitRequest{Refs: []Ref{l.ref}, Until: func(obj *unstructured.Unstructured) (bool, string) {
		now = obj
		return obj == nil || readLease(obj) != seen, "held by " + seen.holder
	}})
	switch {
	case err == nil && now == nil:
		return errLeaseMoved
	case err == nil:
		later := readLease(now)
		if later.holder == "" {
			return errLeaseMoved
		}
		return &planewright.LockedError{Lock: l.Name(), Holder: later.holder, Since: later.acquired, Renewed: later.renewed}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case waiting.Err() != nil:
		return nil
	}
	return err
}

// held is the Lease as its holder writes it: a new one, or a change of what is there.
func (l leaseLocker) held(live *unstructured.Unstructured, holder string) *unstructured.Unstructured {
	now := time.Now().UTC().Format(microTime)
	spec := map[string]any{
		"holderIdentity":       holder,
		"leaseDurationSeconds": int64(leaseDuration / time.Second),
		"acquireTime":          now,
		"renewTime":            now,
		"leaseTransitions":     int64(0),
	}
	if live == nil {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": l.ref.APIVersion,
			"kind":       l.ref.Kind,
			"metadata": map[string]any{"name": l.ref.Name, "namespace": l.ref.Namespace,
				"labels": map[string]any{managedByLabel: FieldManager}},
			"spec": spec,
		}}
	}
	obj := live.DeepCopy()
	transitions, _, _ := unstructured.NestedInt64(live.Object, "spec", "leaseTransitions")
	spec["leaseTransitions"] = transitions + 1
	obj.Object["spec"] = spec
	return obj
}

// managedByLabel marks what this module makes.
const managedByLabel = "app.kubernetes.io/managed-by"

// microTime is how Kubernetes writes times with microseconds.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// leaseSpec is what a Lease says.
type leaseSpec struct {
	holder            string
	acquired, renewed time.Time
	duration          time.Duration
}

// readLease reads a Lease. One without a duration counts as one of ours.
func readLease(obj *unstructured.Unstructured) leaseSpec {
	text := func(field string) string {
		s, _, _ := unstructured.NestedString(obj.Object, "spec", field)
		return s
	}
	at := func(field string) time.Time {
		t, _ := time.Parse(time.RFC3339Nano, text(field))
		return t
	}
	spec := leaseSpec{holder: text("holderIdentity"), acquired: at("acquireTime"), renewed: at("renewTime"), duration: leaseDuration}
	if seconds, ok, _ := unstructured.NestedInt64(obj.Object, "spec", "leaseDurationSeconds"); ok && seconds > 0 {
		spec.duration = time.Duration(seconds) * time.Second
	}
	return spec
}

// leaseLock is a Lease that is held.
type leaseLock struct {
	leaseLocker
	holder string
	stop   context.CancelFunc
	// ended is closed when the renewal has ended, lost when the Lease may be
	// somebody else's.
	ended, lost chan struct{}
	release     sync.Once
	released    error
	// lease is as last written; the renewal's, and after ended the release's.
	lease *unstructured.Unstructured
}

// hold renews the Lease from now on, whatever becomes of the context.
func (l leaseLocker) hold(ctx context.Context, lease *unstructured.Unstructured, holder string) planewright.Lock {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	lock := &leaseLock{leaseLocker: l, holder: holder, stop: stop, ended: make(chan struct{}), lost: make(chan struct{}), lease: lease}
	go lock.renewing(ctx, time.Now())
	return lock
}

// Lost implements [planewright.Lock].
func (l *leaseLock) Lost() <-chan struct{} { return l.lost }

// renewing renews the Lease until the lock is released. A renewal that fails
// is tried again every second, for as long as the Lease is surely still ours.
func (l *leaseLock) renewing(ctx context.Context, last time.Time) {
	defer close(l.ended)
	timer := time.NewTimer(leaseRenewal)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		begun := time.Now()
		err := l.renew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			last = begun
			timer.Reset(leaseRenewal)
			continue
		case errors.Is(err, errLeaseMoved):
			close(l.lost)
			return
		}
		// The last attempt must end before the Lease does.
		if time.Since(last)+time.Second+leaseCall > leaseDuration {
			close(l.lost)
			return
		}
		timer.Reset(time.Second)
	}
}

// renew writes the Lease again. What is no longer ours is errLeaseMoved.
func (l *leaseLock) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseCall)
	defer cancel()
	obj := l.lease.DeepCopy()
	_ = unstructured.SetNestedField(obj.Object, time.Now().UTC().Format(microTime), "spec", "renewTime")
	written, err := l.objects.Update(ctx, obj)
	if errors.Is(err, planewright.ErrConflict) {
		// A label may have been put on it, or an earlier renewal got through
		// whose answer did not.
		live, getErr := l.objects.Get(ctx, l.ref)
		if getErr != nil {
			return l.moved(getErr)
		}
		if live.GetUID() != l.lease.GetUID() || readLease(live).holder != l.holder {
			return errLeaseMoved
		}
		l.lease = live
		obj = live.DeepCopy()
		_ = unstructured.SetNestedField(obj.Object, time.Now().UTC().Format(microTime), "spec", "renewTime")
		written, err = l.objects.Update(ctx, obj)
	}
	if err != nil {
		return l.moved(err)
	}
	l.lease = written
	return nil
}

// moved makes errLeaseMoved of an error that says that the Lease is gone.
func (l *leaseLock) moved(err error) error {
	if errors.Is(err, planewright.ErrNotFound) {
		return errLeaseMoved
	}
	return err
}

// Release implements [planewright.Lock].
func (l *leaseLock) Release(ctx context.Context) error {
	l.release.Do(func() {
		l.stop()
		<-l.ended
		select {
		case <-l.lost:
			return
		default:
		}
		// A last renewal makes sure that the Lease is ours, and keeps it so
		// until it is deleted: nobody takes one over that was renewed just now.
		err := l.renew(ctx)
		if err == nil {
			call, cancel := context.WithTimeout(ctx, leaseCall)
			defer cancel()
			err = l.objects.Delete(call, l.ref, DeleteOptions{UID: string(l.lease.GetUID())})
		}
		if err != nil && !errors.Is(err, errLeaseMoved) && !errors.Is(err, planewright.ErrConflict) {
			l.released = err
		}
	})
	return l.released
}
