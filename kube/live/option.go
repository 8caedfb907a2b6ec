package live

import "log/slog"

// Option changes how a cluster is reached.
type Option func(*options)

type options struct {
	log *slog.Logger
}

func newOptions(opts []Option) options {
	o := options{log: slog.New(slog.DiscardHandler)}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithLogger sends what Helm, client-go and the API server have to say beside
// results and errors to the logger. The default discards it.
func WithLogger(log *slog.Logger) Option {
	return func(o *options) {
		if log != nil {
			o.log = log
		}
	}
}
