package graph_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright/internal/graph"
)

func TestRetryWaitsTwiceAsLongEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		attempts, err := graph.Backoff{First: time.Second, Max: 3 * time.Second, Attempts: 4}.Retry(t.Context(),
			func(error) bool { return true },
			func(_ int, wait time.Duration, _ error) { waits = append(waits, wait) },
			func(int) error { return errBroken })
		assert.Equal(t, 4, attempts)
		require.ErrorIs(t, err, errBroken)
		for i, most := range []time.Duration{1, 2, 3} {
			assert.InDelta(t, float64(most*time.Second)*7/8, float64(waits[i]), float64(most*time.Second)/8)
		}
	})
}

func TestRetryStopsAtWhatIsNotRetryable(t *testing.T) {
	fatal := errors.New("fatal")
	attempts, err := graph.Backoff{First: time.Nanosecond, Max: time.Nanosecond, Attempts: 9}.Retry(t.Context(),
		func(err error) bool { return !errors.Is(err, fatal) },
		func(int, time.Duration, error) {},
		func(attempt int) error {
			if attempt == 3 {
				return fatal
			}
			return errBroken
		})
	assert.Equal(t, 3, attempts)
	assert.Equal(t, fatal, err)
}
