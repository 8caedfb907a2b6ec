package kubestack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startTimeout bounds a start whose context has no earlier deadline. A start takes
// seconds, or a minute on a machine that is busy with something else.
const startTimeout = 3 * time.Minute

// Stack is a set of running clusters. Its methods may be called from any goroutine.
type Stack struct {
	dir       *folder
	processes *processes
	names     []string
	clusters  map[string]*cluster

	alive context.Context // until Stop, or until a process ends by itself
	fail  context.CancelCauseFunc
	stop  func() error
	log   progress
}

// Start starts clusters and returns when all are ready for workloads. The
// context bounds the start alone; the stack then lives until [Stack.Stop]. A start
// that fails stops what it had started; its error wraps a [ProcessError] where a
// process is to blame.
func Start(ctx context.Context, config Config) (*Stack, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("kubestack: the configuration: %w", err)
	}
	bin := config.Binaries
	if bin == (Binaries{}) {
		var err error
		if bin, err = Build(ctx, Options{Log: config.Log}); err != nil {
			return nil, fmt.Errorf("kubestack: build: %w", err)
		}
	}
	s, err := newStack(config, bin)
	if err != nil {
		return nil, fmt.Errorf("kubestack: start: %w", err)
	}
	if err := s.start(ctx, bin); err != nil {
		return nil, fmt.Errorf("kubestack: start: %w", errors.Join(err, s.shutdown(s.dir.removeAllButLogs)))
	}
	return s, nil
}

// newStack returns a stack in which nothing runs yet.
func newStack(config Config, bin Binaries) (*Stack, error) {
	dir, err := newFolder(config.Dir, config.LogDir)
	if err != nil {
		return nil, err
	}
	s := &Stack{dir: dir, clusters: map[string]*cluster{}, log: newProgress(config.Log)}
	s.alive, s.fail = context.WithCancelCause(context.Background())
	s.processes = newProcesses(func(err error) { s.fail(err) })
	s.stop = sync.OnceValue(func() error { return s.shutdown(s.dir.remove) })
	for _, c := range config.Clusters {
		s.names = append(s.names, c.Name)
		s.clusters[c.Name] = &cluster{Cluster: c.withDefaults(), bin: bin, dir: dir, processes: s.processes, log: s.log}
	}
	return s, nil
}

// start starts every process and waits until all clusters are ready.
func (s *Stack) start(ctx context.Context, bin Binaries) error {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// When a process ends there is nothing left to wait for.
	ctx, give := context.WithCancelCause(ctx)
	defer context.AfterFunc(s.alive, func() { give(context.Cause(s.alive)) })()

	if err := os.Mkdir(s.dir.join("clusters"), 0o700); err != nil {
		return fmt.Errorf("make the clusters' folder: %w", err)
	}
	if err := startEtcd(ctx, bin, s.dir, s.processes); err != nil {
		return s.rootCause(err)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range s.clusters {
		group.Go(func() error { return c.start(ctx) })
	}
	if err := group.Wait(); err != nil {
		return s.rootCause(err)
	}

	var configs []*clientcmdapi.Config
	for _, name := range s.names {
		configs = append(configs, s.clusters[name].kubeconfig)
	}
	if err := writeKubeconfig(s.KubeconfigAll(), mergeKubeconfigs(configs...)); err != nil {
		return err
	}
	s.log.printf("%d clusters ready after %s", len(s.names), time.Since(begin).Round(time.Millisecond))
	return nil
}

// rootCause returns the end of a process if there was one: what others say
// of waiting for it is its echo.
func (s *Stack) rootCause(err error) error {
	if s.alive.Err() != nil {
		return context.Cause(s.alive)
	}
	return err
}

// Stop kills every process of the stack, waits until all have ended and removes the
// stack's folder. Later calls return what the first one did.
func (s *Stack) Stop() error { return s.stop() }

// shutdown ends the processes and then clears up.
func (s *Stack) shutdown(tidy func() error) error {
	s.fail(errStopped)
	errs := []error{s.processes.killAll()}
	for _, c := range s.clusters {
		errs = append(errs, c.close())
	}
	return errors.Join(append(errs, tidy())...)
}

// Done returns a channel that is closed when the stack is stopped or when one of its
// processes has ended by itself.
func (s *Stack) Done() <-chan struct{} { return s.alive.Done() }

// Err returns the [ProcessError] of the first process that ended by itself, or nil
// as long as there is none.
func (s *Stack) Err() error {
	if err := context.Cause(s.alive); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

// Clusters returns the clusters' names in the order in which they were given.
func (s *Stack) Clusters() []string { return append([]string(nil), s.names...) }

// Kubeconfig returns the path of a kubeconfig for one cluster, as its
// administrator. The context, the current one, is named as the cluster. The file of
// a cluster that does not exist does not exist either.
func (s *Stack) Kubeconfig(cluster string) string {
	return s.dir.join("clusters", cluster, "kubeconfig")
}

// KubeconfigAll returns the path of a kubeconfig with a context for each cluster; the
// first one's is current.
func (s *Stack) KubeconfigAll() string { return s.dir.join("kubeconfig") }

// RESTConfig returns the configuration of a client of one cluster, as its
// administrator and without a limit of the client's own on its requests.
func (s *Stack) RESTConfig(cluster string) (*rest.Config, error) {
	c, err := s.cluster(cluster)
	if err != nil {
		return nil, err
	}
	return rest.CopyConfig(c.rest), nil
}

// Pause makes a cluster's API server unreachable the hard way: connections are
// accepted and nothing is ever answered, until [Stack.Resume].
func (s *Stack) Pause(cluster string) error {
	c, err := s.cluster(cluster)
	if err != nil {
		return err
	}
	return c.apiServer.pause()
}

// Resume lets a paused API server go on where it was.
func (s *Stack) Resume(cluster string) error {
	c, err := s.cluster(cluster)
	if err != nil {
		return err
	}
	return c.apiServer.signal(syscall.SIGCONT)
}

// cluster returns a cluster by its name.
func (s *Stack) cluster(name string) (*cluster, error) {
	c, ok := s.clusters[name]
	if !ok {
		return nil, fmt.Errorf("kubestack: no cluster is named %q; there are %q", name, s.names)
	}
	return c, nil
}
