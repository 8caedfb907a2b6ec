package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/version"
)

// vault gives out tokens that are good for a while, and counts them.
type vault struct {
	given atomic.Int32
	good  time.Duration
	err   error
}

func (v *vault) token(context.Context) (planewright.Secret, time.Time, error) {
	if v.err != nil {
		return planewright.Secret{}, time.Time{}, v.err
	}
	return planewright.SecretValue(fmt.Sprintf("token-%d", v.given.Add(1))), time.Now().Add(v.good), nil
}

func TestTokensAreKeptAndRenewed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cert, ca := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	for name, c := range map[string]struct {
		good    time.Duration
		refused string
		want    []string
		denied  int
	}{
		"kept while it is good":               {good: 15 * time.Minute, want: []string{"token-1", "token-1", "token-1"}},
		"renewed shortly before its end":      {good: time.Minute, want: []string{"token-1", "token-2", "token-3"}},
		"given up when it is no longer taken": {good: 15 * time.Minute, refused: "token-1", want: []string{"token-1", "token-2", "token-2"}, denied: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			url := serve(t, cert, func(w http.ResponseWriter, r *http.Request) {
				token := r.Header.Get("Authorization")[len("Bearer "):]
				seen = append(seen, token)
				if token == c.refused {
					unauthorized(w, r)
					return
				}
				_ = json.NewEncoder(w).Encode(version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2"})
			})
			v := &vault{good: c.good}
			cluster, err := live.FromTokens("main", url, ca, v.token)
			require.NoError(t, err)
			denied := 0
			for range 3 {
				if _, err := cluster.Facts.Version(t.Context()); err != nil {
					require.ErrorIs(t, err, planewright.ErrDenied)
					require.ErrorContains(t, err, "the bearer token is not accepted; may its identity use this cluster?")
					require.NotContains(t, err.Error(), "token-1")
					denied++
				}
			}
			assert.Equal(t, c.want, seen)
			assert.Equal(t, c.denied, denied)
		})
	}
}

func TestTokenSourceThatFails(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cert, ca := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	url := serve(t, cert, unauthorized)
	for name, c := range map[string]struct {
		err   error
		is    error
		retry bool
	}{
		"by an error of its own":      {errors.New("no session"), planewright.ErrDenied, false},
		"by one that may go by":       {passing{}, planewright.ErrThrottled, true},
		"by a context that has ended": {context.Canceled, context.Canceled, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := live.FromTokens("main", url, ca, (&vault{err: c.err}).token)
			require.NoError(t, err)
			_, err = cluster.Facts.Version(t.Context())
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, "get a token for cluster main: ")
			assert.Equal(t, c.retry, retryable(err))
		})
	}
	t.Run("by giving none", func(t *testing.T) {
		t.Parallel()
		cluster, err := live.FromTokens("main", url, ca, func(context.Context) (planewright.Secret, time.Time, error) {
			return planewright.SecretValue(""), time.Time{}, nil
		})
		require.NoError(t, err)
		_, err = cluster.Facts.Version(t.Context())
		require.ErrorIs(t, err, planewright.ErrDenied)
	})
	t.Run("by not being there", func(t *testing.T) {
		t.Parallel()
		_, err := live.FromTokens("main", url, ca, nil)
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
}

// passing is an error that says of itself that it will pass.
type passing struct{}

func (passing) Error() string        { return "slow down" }
func (passing) Retryable() bool      { return true }
func (passing) Is(target error) bool { return target == planewright.ErrThrottled }
