package kube_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// versions is a cluster that knows its version only.
type versions struct{ kube.Facts }

func (versions) Version(context.Context) (kube.Version, error) { return kube.Version{Minor: 37}, nil }

func TestADeferredClusterIsConnectedToOnceItIsThere(t *testing.T) {
	there, dials := false, atomic.Int32{}
	cluster := kube.Deferred("dp-3", func(context.Context) (kube.Cluster, error) {
		dials.Add(1)
		if !there {
			return kube.Cluster{}, &planewright.UnknownError{Step: "aws/dp-3/cluster", Output: "cluster"}
		}
		return kube.Cluster{Facts: versions{}}, nil
	})
	assert.Equal(t, "dp-3", cluster.Name)
	_, err := cluster.Facts.Version(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnknown)
	require.ErrorIs(t, cluster.Objects.Delete(t.Context(), kube.Ref{}, kube.DeleteOptions{}), planewright.ErrUnknown)
	require.ErrorIs(t, cluster.Objects.Wait(t.Context(), kube.WaitRequest{}), planewright.ErrUnknown)
	_, err = cluster.Releases.List(t.Context(), "flyte")
	require.ErrorIs(t, err, planewright.ErrUnknown)
	_, err = cluster.Ports.Forward(t.Context(), kube.ForwardRequest{})
	require.ErrorIs(t, err, planewright.ErrUnknown)
	require.EqualValues(t, 5, dials.Load(), "what failed is tried again")

	there = true
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			version, err := cluster.Facts.Version(t.Context())
			if !assert.NoError(t, err) { //nolint:testifylint // another goroutine may not end the test
				return
			}
			assert.Equal(t, 37, version.Minor)
		})
	}
	wait.Wait()
	assert.EqualValues(t, 6, dials.Load())
}

func TestWhoWaitsForADeferredClusterCanGiveUp(t *testing.T) {
	dialing, end := make(chan struct{}), make(chan struct{})
	cluster := kube.Deferred("dp-3", func(context.Context) (kube.Cluster, error) {
		close(dialing)
		<-end
		return kube.Cluster{Facts: versions{}}, nil
	})
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = cluster.Facts.Version(t.Context()) })
	<-dialing
	impatient, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := cluster.Facts.Version(impatient)
	require.EqualError(t, err, "enough")
	close(end)
	wait.Wait()
}
