package graph

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is how long to wait between the attempts at one call. It is a few
// lines of its own because the packages that know it well stand on
// Kubernetes, which whoever writes a step need not compile.
type Backoff struct {
	// First is the wait after the first attempt; each further one is twice
	// as long, up to Max.
	First, Max time.Duration
	// Attempts is how often to try in all.
	Attempts int
}

// Retry calls f until it succeeds, its error is not retryable, or the
// attempts or the context are used up. It returns the number of attempts and
// the last error. Before each wait it calls onRetry.
func (b Backoff) Retry(ctx context.Context, retryable func(error) bool, onRetry func(attempt int, wait time.Duration, err error), f func(attempt int) error) (int, error) {
	wait := b.First
	for attempt := 1; ; attempt++ {
		err := f(attempt)
		if err == nil || attempt >= b.Attempts || ctx.Err() != nil || !retryable(err) {
			return attempt, err
		}
		// Up to a quarter is left to chance, so that many steps that failed
		// together do not come back together.
		w := wait - time.Duration(rand.Int64N(int64(wait)/4+1))
		onRetry(attempt, w, err)
		select {
		case <-time.After(w):
		case <-ctx.Done():
			return attempt, err
		}
		wait = min(2*wait, b.Max)
	}
}
