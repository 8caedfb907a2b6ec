package kubefake_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

func TestEveryFaultIsWhatAClientMeetsInTheField(t *testing.T) {
	var refused *net.OpError
	var expired x509.CertificateInvalidError
	faults := map[kubefake.Fault]func(error) bool{
		kubefake.Throttled:    apierrors.IsTooManyRequests,
		kubefake.Unavailable:  apierrors.IsServiceUnavailable,
		kubefake.ServerError:  apierrors.IsInternalError,
		kubefake.Timeout:      apierrors.IsTimeout,
		kubefake.Conflict:     apierrors.IsConflict,
		kubefake.Denied:       apierrors.IsForbidden,
		kubefake.Unauthorized: apierrors.IsUnauthorized,
		kubefake.Reset:        func(err error) bool { return errors.Is(err, syscall.ECONNRESET) },
		kubefake.Unreachable:  func(err error) bool { return errors.As(err, &refused) && refused.Op == "dial" },
		kubefake.CertificateExpired: func(err error) bool {
			return errors.As(err, &expired) && expired.Reason == x509.Expired && expired.Cert != nil
		},
		kubefake.Block:  func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		kubefake.Killed: func(err error) bool { return errors.Is(err, kubefake.ErrKilled) },
	}
	assert.Len(t, kubefake.Faults(), len(faults))
	for _, fault := range kubefake.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				fleet.Fail(kubefake.Call("create"), fault)
				_, err := c.CoreV1().Secrets("default").Create(ctx, secret("a"), metav1.CreateOptions{})
				require.Error(t, err)
				assert.True(t, faults[fault](err), "%T %v", err, err)
				fleet.Heal()
				fleet.Revive()
				_, err = c.CoreV1().Secrets("default").Get(t.Context(), "a", metav1.GetOptions{})
				assert.True(t, apierrors.IsNotFound(err), "the call had no effect")
			})
		})
	}
}

func TestAFaultCanStrikeAfterTheEffect(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		fleet.Fail(kubefake.Call("create"), kubefake.Reset, kubefake.AfterEffect())
		_, err := c.CoreV1().Secrets("default").Create(t.Context(), secret("a"), metav1.CreateOptions{})
		require.ErrorIs(t, err, syscall.ECONNRESET)
		_, err = c.CoreV1().Secrets("default").Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, 1, fleet.Writes("dp-1"), "the log knows that it was stored")
	})
}

func TestRulesStrikeTheCallsTheyAreMeantFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := kubefake.NewFleet("dp-1", "dp-2")
		one, two := client(t, fleet, "dp-1").CoreV1(), client(t, fleet, "dp-2").CoreV1()
		rule := fleet.Fail(kubefake.Call("write").On("dp-1").Kind("Secret").Named("default/db*"), kubefake.ServerError, kubefake.After(1), kubefake.Times(2))
		on1, on2 := creator{t, one.Secrets("default")}, creator{t, two.Secrets("default")}
		assert.NoError(t, on2.create("db-0"), "another cluster")
		assert.NoError(t, on1.create("other"), "another name")
		assert.NoError(t, on1.create("db-1"), "the first may pass")
		require.Error(t, on1.create("db-2"))
		_, err := one.Secrets("default").Get(t.Context(), "db-1", metav1.GetOptions{})
		require.NoError(t, err, "a read")
		require.Error(t, on1.create("db-2"))
		require.NoError(t, on1.create("db-2"), "twice is enough")
		assert.Equal(t, 2, rule.Hits())

		rule = fleet.Fail(kubefake.Call(""), kubefake.ServerError)
		require.Error(t, on2.create("x"))
		rule.Remove()
		assert.NoError(t, on2.create("x"))
	})
}

type creator struct {
	t       *testing.T
	secrets typedcorev1.SecretInterface
}

func (c creator) create(name string) error {
	_, err := c.secrets.Create(c.t.Context(), secret(name), metav1.CreateOptions{})
	return err
}

func TestLatencyIsTheClustersOrARules(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		took := func(ctx context.Context) (time.Duration, error) {
			start := time.Now()
			_, err := c.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
			return time.Since(start), err
		}
		fleet.Configure("dp-1", kubefake.WithLatency(20*time.Millisecond))
		d, err := took(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 20*time.Millisecond, d)

		fleet.Fail(kubefake.Call("list"), kubefake.None, kubefake.Latency(time.Second))
		d, err = took(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1020*time.Millisecond, d)

		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		d, err = took(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 500*time.Millisecond, d, "a call that waits can be given up")
	})
}

func TestAKilledProcessGetsNoMoreAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		written := 0
		fleet.OnCall(func(call kubefake.CallRecord) {
			if call.Persisted {
				if written++; written == 2 {
					fleet.Kill()
				}
			}
		})
		secrets := creator{t, c.CoreV1().Secrets("default")}
		require.NoError(t, secrets.create("a"))
		require.ErrorIs(t, secrets.create("b"), kubefake.ErrKilled, "it was stored, and nobody learned of it")
		require.ErrorIs(t, secrets.create("c"), kubefake.ErrKilled)
		fleet.Revive()
		list, err := c.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, 2)
	})
}

func TestARuleCanCallAFunction(t *testing.T) {
	bubble(t, func(t *testing.T, fleet *kubefake.Fleet, c *kubernetes.Clientset) {
		ctx, cancel := context.WithCancel(t.Context())
		var struck kubefake.CallRecord
		fleet.Fail(kubefake.Call("create"), kubefake.None, kubefake.Do(func(call kubefake.CallRecord) {
			struck = call
			cancel()
		}), kubefake.Latency(time.Millisecond))
		_, err := c.CoreV1().Secrets("default").Create(ctx, secret("a"), metav1.CreateOptions{})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, "default", struck.Namespace)
		assert.Equal(t, "a", struck.Name)
	})
}
