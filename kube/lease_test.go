package kube_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lease is the Lease that the tests lock.
var lease = kube.Ref{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: "flyte", Name: "planewright-flyte-ml"}

// withLocker runs a test in virtual time on a cluster that has the namespace flyte.
func withLocker(t *testing.T, test func(t *testing.T, fleet *kubefake.Fleet, cluster kube.Cluster, locker planewright.Locker)) {
	synctest.Test(t, func(t *testing.T) {
		fleet := kubefake.NewFleet("main")
		defer fleet.Close()
		cluster, err := live.FromConfig("main", fleet.Config("main"))
		require.NoError(t, err)
		_, err = cluster.Objects.Create(t.Context(), namespace("flyte"))
		require.NoError(t, err)
		test(t, fleet, cluster, kube.NewLeaseLocker(cluster, "flyte", lease.Name))
	})
}

func namespace(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
}

func silent(string) {}

func holderOf(t *testing.T, cluster kube.Cluster) string {
	t.Helper()
	live, err := cluster.Objects.Get(t.Context(), lease)
	require.NoError(t, err)
	holder, _, _ := unstructured.NestedString(live.Object, "spec", "holderIdentity")
	return holder
}

func TestALeaseIsHeldRenewedAndDeleted(t *testing.T) {
	withLocker(t, func(t *testing.T, fleet *kubefake.Fleet, cluster kube.Cluster, locker planewright.Locker) {
		assert.Equal(t, "Lease flyte/planewright-flyte-ml in cluster main", locker.Name())
		lock, err := locker.Lock(t.Context(), "ana@laptop", silent)
		require.NoError(t, err)
		assert.Equal(t, "ana@laptop", holderOf(t, cluster))

		fleet.ForgetCalls()
		time.Sleep(61 * time.Second)
		assert.Len(t, fleet.Calls(kubefake.Call("update")), 12, "it is renewed every five seconds")
		select {
		case <-lock.Lost():
			t.Fatal("the lock is lost")
		default:
		}

		require.NoError(t, lock.Release(t.Context()))
		require.NoError(t, lock.Release(t.Context()), "releasing is idempotent")
		_, err = cluster.Objects.Get(t.Context(), lease)
		assert.ErrorIs(t, err, planewright.ErrNotFound)
	})
}

func TestALivingHolderIsNamed(t *testing.T) {
	withLocker(t, func(t *testing.T, _ *kubefake.Fleet, _ kube.Cluster, locker planewright.Locker) {
		since := time.Now()
		lock, err := locker.Lock(t.Context(), "ana@laptop", silent)
		require.NoError(t, err)
		defer func() { assert.NoError(t, lock.Release(t.Context())) }()
		time.Sleep(2 * time.Second)

		begun := time.Now()
		var told []string
		_, err = locker.Lock(t.Context(), "ben@ci", func(message string) { told = append(told, message) })
		var locked *planewright.LockedError
		require.ErrorAs(t, err, &locked)
		require.ErrorIs(t, err, planewright.ErrLocked)
		assert.Equal(t, "ana@laptop", locked.Holder)
		assert.Equal(t, since.UTC().Truncate(time.Microsecond), locked.Since.UTC())
		assert.Equal(t, 3*time.Second, time.Since(begun), "the next renewal shows that the holder is alive")
		assert.Equal(t, []string{"Lease flyte/planewright-flyte-ml in cluster main is held by ana@laptop; waiting up to 13s to see whether it is alive"}, told)
	})
}

func TestADeadHolderIsWaitedOut(t *testing.T) {
	for name, c := range map[string]struct{ idle, waited time.Duration }{
		"killed just now":      {0, 15 * time.Second},
		"killed a while ago":   {7 * time.Second, 8 * time.Second},
		"killed long ago":      {time.Hour, 6 * time.Second},
		"killed as it ran out": {15 * time.Second, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withLocker(t, func(t *testing.T, fleet *kubefake.Fleet, cluster kube.Cluster, locker planewright.Locker) {
				lock, err := locker.Lock(t.Context(), "ana@laptop", silent)
				require.NoError(t, err)
				fleet.Kill()
				time.Sleep(time.Minute)
				<-lock.Lost()
				fleet.Revive()
				// The Lease is as it would be if its holder had been killed some time ago.
				live, err := cluster.Objects.Get(t.Context(), lease)
				require.NoError(t, err)
				require.NoError(t, unstructured.SetNestedField(live.Object, time.Now().Add(-c.idle).UTC().Format("2006-01-02T15:04:05.000000Z07:00"), "spec", "renewTime"))
				_, err = cluster.Objects.Update(t.Context(), live)
				require.NoError(t, err)

				begun := time.Now()
				var told []string
				taken, err := locker.Lock(t.Context(), "ben@ci", func(message string) { told = append(told, message) })
				require.NoError(t, err)
				assert.Equal(t, c.waited, time.Since(begun))
				assert.Equal(t, "ben@ci", holderOf(t, cluster))
				assert.Contains(t, told[len(told)-1], "ana@laptop has not renewed")
				require.NoError(t, lock.Release(t.Context()), "the dead holder's release leaves the new one's Lease alone")
				assert.Equal(t, "ben@ci", holderOf(t, cluster))
				require.NoError(t, taken.Release(t.Context()))
			})
		})
	}
}

func TestALockIsLost(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, fleet *kubefake.Fleet, cluster kube.Cluster){
		"when the API server stays away": func(_ *testing.T, fleet *kubefake.Fleet, _ kube.Cluster) { fleet.Kill() },
		"when somebody deletes the Lease": func(t *testing.T, _ *kubefake.Fleet, cluster kube.Cluster) {
			require.NoError(t, cluster.Objects.Delete(t.Context(), lease, kube.DeleteOptions{}))
		},
		"when somebody else takes it": func(t *testing.T, _ *kubefake.Fleet, cluster kube.Cluster) {
			live, err := cluster.Objects.Get(t.Context(), lease)
			require.NoError(t, err)
			require.NoError(t, unstructured.SetNestedField(live.Object, "ben@ci", "spec", "holderIdentity"))
			_, err = cluster.Objects.Update(t.Context(), live)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withLocker(t, func(t *testing.T, fleet *kubefake.Fleet, cluster kube.Cluster, locker planewright.Locker) {
				lock, err := locker.Lock(t.Context(), "ana@laptop", silent)
				require.NoError(t, err)
				begun := time.Now()
				lose(t, fleet, cluster)
				<-lock.Lost()
				assert.LessOrEqual(t, time.Since(begun), 15*time.Second, "before anybody may take it over")
				require.NoError(t, lock.Release(t.Context()))
			})
		})
	}
}

func TestARenewalSurvivesWhatPasses(t *testing.T) {
	withLocker(t, func(t *testing.T, fleet *kubefake.Fleet, cluster kube.Cluster, locker planewright.Locker) {
		lock, err := locker.Lock(t.Context(), "ana@laptop", silent)
		require.NoError(t, err)
		// Somebody labels the Lease, and the API server is away for a moment.
		live, err := cluster.Objects.Get(t.Context(), lease)
		require.NoError(t, err)
		live.SetAnnotations(map[string]string{"note": "seen"})
		_, err = cluster.Objects.Update(t.Context(), live)
		require.NoError(t, err)
		time.Sleep(6 * time.Second)
		fleet.Kill()
		time.Sleep(7 * time.Second)
		fleet.Revive()
		time.Sleep(time.Minute)
		select {
		case <-lock.Lost():
			t.Fatal("the lock is lost")
		default:
		}
		require.NoError(t, lock.Release(t.Context()))
	})
}

func TestOfManyAtOnceOneGetsTheLock(t *testing.T) {
	withLocker(t, func(t *testing.T, _ *kubefake.Fleet, _ kube.Cluster, locker planewright.Locker) {
		var mu sync.Mutex
		var locks []planewright.Lock
		var wait sync.WaitGroup
		for n := range 20 {
			wait.Go(func() {
				lock, err := locker.Lock(t.Context(), fmt.Sprintf("holder-%d", n), silent)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					locks = append(locks, lock)
				} else {
					assert.ErrorIs(t, err, planewright.ErrLocked)
				}
			})
		}
		wait.Wait()
		require.Len(t, locks, 1)
		require.NoError(t, locks[0].Release(t.Context()))
	})
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	withLocker(t, func(t *testing.T, fleet *kubefake.Fleet, _ kube.Cluster, locker planewright.Locker) {
		lock, err := locker.Lock(t.Context(), "ana@laptop", silent)
		require.NoError(t, err)
		defer func() { assert.NoError(t, lock.Release(t.Context())) }()
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		_, err = locker.Lock(ctx, "ben@ci", silent)
		assert.ErrorIs(t, err, cause)
	})
}

func TestALockNeedsItsNamespace(t *testing.T) {
	withLocker(t, func(t *testing.T, _ *kubefake.Fleet, cluster kube.Cluster, _ planewright.Locker) {
		_, err := kube.NewLeaseLocker(cluster, "nowhere", "lock").Lock(t.Context(), "ana@laptop", silent)
		assert.ErrorIs(t, err, planewright.ErrNotFound)
	})
}
