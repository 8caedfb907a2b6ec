package live

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/planewright/planewright"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// userAgent is how the API server's audit log knows this module.
	userAgent = "planewright"
	// requestTimeout bounds one request that is no watch: the API server
	// itself gives up on a request after a minute.
	requestTimeout = time.Minute
	// dialTimeout bounds the making of a connection, so that a wrong address
	// or a private endpoint is told in seconds.
	dialTimeout = 10 * time.Second
)

// connection is what all ports of one cluster share: one transport, one client,
// one view of what the API server serves.
type connection struct {
	name string
	log  *slog.Logger
	// original is the configuration as given, for what needs its own connection.
	original *rest.Config
	// config leads through the shared transport. It holds no credentials.
	config *rest.Config
	http   *http.Client
	client client.WithWatch
	// rest is for requests that client has no form for.
	rest rest.Interface
	apis *apis
}

func newConnection(name string, config *rest.Config, o options) (*connection, error) {
	original := rest.CopyConfig(config)
	original.QPS = -1
	original.RateLimiter = nil
	if original.ExecProvider != nil {
		// A library does not read what a user types to the program around it.
		original.ExecProvider = original.ExecProvider.DeepCopy()
		original.ExecProvider.StdinUnavailable = true
		original.ExecProvider.StdinUnavailableMessage = "planewright does not read standard input; log in first"
	}
	if original.UserAgent == "" {
		original.UserAgent = userAgent
	}
	original.WarningHandler = nil
	original.WarningHandlerWithContext = warnings{o.log.With("cluster", name)}
	if original.Dial == nil && original.Transport == nil {
		original.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}

	host, err := serverURL(original)
	if err != nil {
		return nil, &planewright.ValidationError{Spec: "cluster " + name, Problems: []planewright.Problem{{
			Path: "config.host", Value: original.Host, Rule: err.Error(), Fix: "https://host or https://host:port",
		}}}
	}
	transport, err := rest.TransportFor(original)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: credentials for %s cannot be used: %w: %w", name, host.Host, planewright.ErrInvalid, err)
	}
	transport = throttled{transport, name}
	c := &connection{
		name:     name,
		log:      o.log.With("cluster", name),
		original: original,
		http:     &http.Client{Transport: transport},
		config: &rest.Config{
			Host:                      host.String(),
			Transport:                 transport,
			UserAgent:                 original.UserAgent,
			QPS:                       -1,
			WarningHandlerWithContext: original.WarningHandlerWithContext,
		},
	}
	if c.rest, err = rest.UnversionedRESTClientForConfigAndClient(withCodec(c.config), c.http); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	if c.apis, err = newAPIs(c); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	c.client, err = client.NewWithWatch(c.config, client.Options{
		HTTPClient: c.http,
		Scheme:     scheme.Scheme,
		Mapper:     c.apis.mapper,
		Log:        c.logr(),
	})
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	return c, nil
}

func withCodec(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return config
}

// serverURL is the API server's address with a scheme.
func serverURL(config *rest.Config) (*url.URL, error) {
	host := config.Host
	if host == "" {
		return nil, fmt.Errorf("there is no host")
	}
	if !strings.Contains(host, "://") {
		scheme := "http://"
		tls := config.TLSClientConfig
		if tls.Insecure || tls.CAFile != "" || len(tls.CAData) > 0 || tls.CertFile != "" || len(tls.CertData) > 0 {
			scheme = "https://"
		}
		host = scheme + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("is not the URL of an API server")
	}
	return u, nil
}

func (c *connection) logr() logr.Logger { return logr.FromSlogHandler(c.log.Handler()) }

// context bounds one request, and keeps client-go's log off stderr.
func (c *connection) context(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := requestTimeout
	if c.original.Timeout > 0 {
		timeout = c.original.Timeout
	}
	return context.WithTimeoutCause(c.quiet(ctx), timeout, errNoAnswer)
}

// quiet sends what client-go logs under the context to our logger.
func (c *connection) quiet(ctx context.Context) context.Context {
	return klog.NewContext(ctx, c.logr())
}

// warnings sends the API server's warnings to the logger instead of stderr.
type warnings struct{ log *slog.Logger }

func (w warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	if code == 299 && text != "" {
		w.log.WarnContext(ctx, "API server warns", "warning", text)
	}
}
