package planewright

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/planewright/planewright/internal/graph"
)

// The defaults of the options.
const (
	// DefaultParallelism is how many steps run at a time, see [WithParallelism].
	DefaultParallelism = 1024
	// DefaultClusterParallelism is how many steps work on one cluster at a
	// time, see [WithClusterParallelism].
	DefaultClusterParallelism = 8
	// DefaultStepTimeout bounds one step, see [WithStepTimeout].
	DefaultStepTimeout = 10 * time.Minute
	// DefaultAttempts is how often a step is tried, see [WithAttempts].
	DefaultAttempts = 5
)

// Option says how a verb does its work: in parallel, watched, bounded. What
// should exist is said by stacks alone. Every verb takes every option; one
// that means nothing to it is ignored.
type Option interface {
	Argument
	// option keeps stacks from being options.
	option()
}

type optionFunc func(*config)

func (optionFunc) option() {}

// WithEvents hands every event to handle, one at a time, in order, from one
// goroutine. The run goes on while an event is handled, and returns when the
// last one has been.
func WithEvents(handle func(Event)) Option {
	return optionFunc(func(c *config) { c.handle = handle })
}

// WithLogger sends details to a logger. By default nothing is logged.
func WithLogger(log *slog.Logger) Option {
	return optionFunc(func(c *config) { c.log = log })
}

// WithParallelism bounds how many steps run at a time. 0 means [DefaultParallelism].
func WithParallelism(steps int) Option {
	return optionFunc(func(c *config) { c.parallelism = steps })
}

// WithClusterParallelism bounds how many steps work on one cluster at a time.
// 0 means [DefaultClusterParallelism].
func WithClusterParallelism(steps int) Option {
	return optionFunc(func(c *config) { c.clusterParallelism = steps })
}

// WithStepTimeout bounds how long one step may be applied and waited for, if
// the step has no timeout of its own. 0 means [DefaultStepTimeout].
func WithStepTimeout(d time.Duration) Option {
	return optionFunc(func(c *config) { c.stepTimeout = d })
}

// WithAttempts sets how often a call that fails with a [Retryable] error is
// made in all. 0 means [DefaultAttempts], 1 never to try again.
func WithAttempts(attempts int) Option {
	return optionFunc(func(c *config) { c.backoff.Attempts = attempts })
}

// WithTargets restricts the run to the steps with the given ids and what they
// need. Nothing is pruned in such a run. An id that no step has is an error.
func WithTargets(ids ...string) Option {
	return optionFunc(func(c *config) { c.targets = append(c.targets, ids...) })
}

// WithHolder sets the name under which locks are held. By default it is made
// of the host's name and the process id.
func WithHolder(name string) Option {
	return optionFunc(func(c *config) { c.holder = name })
}

type config struct {
	handle             func(Event)
	log                *slog.Logger
	parallelism        int
	clusterParallelism int
	stepTimeout        time.Duration
	backoff            graph.Backoff
	targets            []string
	holder             string
}

func newConfig() config {
	return config{
		handle:  func(Event) {},
		log:     slog.New(slog.DiscardHandler),
		backoff: graph.Backoff{First: 250 * time.Millisecond, Max: 10 * time.Second},
	}
}

// complete puts the defaults in place of zero values.
func (c *config) complete() {
	if c.parallelism <= 0 {
		c.parallelism = DefaultParallelism
	}
	if c.clusterParallelism <= 0 {
		c.clusterParallelism = DefaultClusterParallelism
	}
	if c.stepTimeout <= 0 {
		c.stepTimeout = DefaultStepTimeout
	}
	if c.backoff.Attempts <= 0 {
		c.backoff.Attempts = DefaultAttempts
	}
	if c.holder == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown-host"
		}
		c.holder = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
}

func (c *config) limits() graph.Limits {
	return graph.Limits{Total: c.parallelism, PerGroup: c.clusterParallelism}
}
