package live

import (
	"context"
	"errors"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	helmkube "helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// maxHistory is how many records of a release are kept: as many as the
	// helm command keeps.
	maxHistory = 10
	// hookTimeout bounds Helm's hooks unless a release says otherwise.
	hookTimeout = 5 * time.Minute
)

// helmCall is one operation of Helm on one release. Helm's types are not made
// to be shared or used twice, so each operation builds its own, and gives the
// one namespace to all that ask for it.
type helmCall struct {
	config *action.Configuration
	client *helmClient
	store  *recordStore
	trace  *trace
}

// newHelmCall prepares an operation. The context stops waits, not writes. The
// capabilities are those that the release was planned with.
func (r *releases) newHelmCall(ctx context.Context, namespace string, caps *chartutil.Capabilities) (*helmCall, error) {
	call := &helmCall{trace: &trace{next: r.c.http.Transport, caller: ctx}}
	config := rest.CopyConfig(r.c.config)
	config.Transport = call.trace
	// Helm's requests know no context; this is what ends one that hangs. None
	// of them is a watch: those are ours.
	config.Timeout = requestTimeout
	if r.c.original.Timeout > 0 {
		config.Timeout = r.c.original.Timeout
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	log := func(format string, args ...any) { logf(ctx, r.c.log, namespace, format, args...) }

	getter := &helmGetter{c: r.c, config: config, namespace: namespace}
	client := helmkube.New(getter)
	client.Namespace = namespace
	client.Log = log
	call.client = &helmClient{Client: client, c: r.c, ctx: ctx}
	call.store = &recordStore{SecretInterface: clientset.CoreV1().Secrets(namespace)}
	secrets := driver.NewSecrets(call.store)
	secrets.Log = log
	call.config = &action.Configuration{
		RESTClientGetter: getter,
		Releases:         storage.Init(secrets),
		KubeClient:       call.client,
		Capabilities:     caps,
		Log:              log,
	}
	call.config.Releases.MaxHistory = maxHistory
	call.config.Releases.Log = log
	return call, nil
}

// run runs the operation to its end, whatever becomes of any context: Helm goes
// on writing after its own context has ended.
func (call *helmCall) run(operation func() error) error {
	err := operation()
	if err == nil {
		return nil
	}
	return &helmError{err: err, cause: errors.Join(append(call.client.waits, call.trace.last())...)}
}

// helmError is an error of Helm, which often is a text only, with the failed
// request that is most likely behind it.
type helmError struct{ err, cause error }

func (e *helmError) Error() string { return e.err.Error() }

func (e *helmError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.err}
	}
	return []error{e.err, e.cause}
}
