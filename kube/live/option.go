package live

import "log/slog"

// Option changes how a cluster is reached.
type Option func(*options)

type options struct {
	log  *slog.Logger
	name string
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

// WithName sets the name by which specs, plans and events call a cluster that
// comes from a kubeconfig. The default is the name of its context.
func WithName(name string) Option {
	return func(o *options) { o.name = name }
}
