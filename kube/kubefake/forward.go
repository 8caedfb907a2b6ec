package kubefake

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake/internal/apiserver"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// forwarder implements [kube.Forwarder] with listeners on this machine.
type forwarder struct{ cluster *cluster }

// Forward implements [kube.Forwarder].
func (f *forwarder) Forward(ctx context.Context, request kube.ForwardRequest) (kube.Forwarding, error) {
	ref := kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: request.Namespace, Name: request.Service}
	fail := func(sentinel error, retry bool, format string, args ...any) (kube.Forwarding, error) {
		return nil, &forwardError{object: ref.In(f.cluster.name), sentinel: sentinel, retry: retry, text: fmt.Sprintf(format, args...)}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	service, pod := f.find(request)
	switch {
	case service == nil:
		return fail(planewright.ErrNotFound, false, "there is no such Service")
	case len(service.Spec.Selector) == 0:
		return fail(planewright.ErrUnsupported, false, "it selects no pods, traffic goes elsewhere")
	case pod == nil:
		return fail(planewright.ErrUnavailable, true, "no pod behind it is ready")
	}
	for _, port := range request.Ports {
		if err := leads(service, pod, port); err != "" {
			return fail(planewright.ErrNotFound, false, "%s", err)
		}
	}
	health, unforwarded := f.handler()
	if unforwarded {
		return fail(planewright.ErrUnsupported, false, "no container runs behind the cluster's pods")
	}
	return openForwarding(ctx, request.Ports, health)
}

// find looks up the Service and a ready pod behind it.
func (f *forwarder) find(request kube.ForwardRequest) (service *corev1.Service, ready *corev1.Pod) {
	f.cluster.server.Do(func(tx apiserver.Tx) {
		service, _ = tx.Get("", "Service", request.Namespace, request.Service).(*corev1.Service)
		if service == nil || len(service.Spec.Selector) == 0 {
			return
		}
		selector := labels.SelectorFromSet(service.Spec.Selector)
		for _, obj := range tx.List("", "Pod", request.Namespace) {
			if pod, ok := obj.(*corev1.Pod); ok && pod.DeletionTimestamp == nil && selector.Matches(labels.Set(pod.Labels)) && isReady(pod) {
				ready = pod
			}
		}
	})
	return service, ready
}

// leads is why a port of a Service leads to none of the pod, empty if it does.
func leads(s *corev1.Service, pod *corev1.Pod, port int) string {
	for _, p := range s.Spec.Ports {
		if int(p.Port) != port {
			continue
		}
		if p.TargetPort.Type != intstr.String {
			return ""
		}
		for _, c := range pod.Spec.Containers {
			for _, has := range c.Ports {
				if has.Name == p.TargetPort.StrVal {
					return ""
				}
			}
		}
		return fmt.Sprintf("port %d leads to port %q, which no container of pod %s has", port, p.TargetPort.StrVal, pod.Name)
	}
	return fmt.Sprintf("it has no port %d", port)
}

func (f *forwarder) handler() (health http.Handler, unforwarded bool) {
	f.cluster.fleet.mu.Lock()
	defer f.cluster.fleet.mu.Unlock()
	health = f.cluster.settings.health
	if health == nil {
		health = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	}
	return health, f.cluster.settings.unforwarded
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// forwarding implements [kube.Forwarding].
type forwarding struct {
	addresses map[int]string
	listeners []net.Listener
	server    *http.Server
	close     sync.Once
	done      chan struct{}

	mu   sync.Mutex
	stop func() bool // forgets the context
}

func openForwarding(ctx context.Context, ports []int, handler http.Handler) (kube.Forwarding, error) {
	f := &forwarding{
		addresses: map[int]string{}, done: make(chan struct{}),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
	}
	for _, port := range ports {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("listening on this machine: %w", err)
		}
		f.addresses[port] = l.Addr().String()
		f.listeners = append(f.listeners, l)
		go func() { _ = f.server.Serve(l) }()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop = context.AfterFunc(ctx, func() { _ = f.Close() })
	return f, nil
}

// Address implements [kube.Forwarding].
func (f *forwarding) Address(port int) string { return f.addresses[port] }

// Done implements [kube.Forwarding].
func (f *forwarding) Done() <-chan struct{} { return f.done }

// Close implements [kube.Forwarding].
func (f *forwarding) Close() error {
	var err error
	f.close.Do(func() {
		f.mu.Lock()
		if f.stop != nil {
			f.stop()
		}
		f.mu.Unlock()
		err = f.server.Close()
		// The server knows only the listeners that it has begun to serve.
		for _, l := range f.listeners {
			_ = l.Close()
		}
		close(f.done)
	})
	return err
}

// forwardError says why there is no port-forward.
type forwardError struct {
	object   planewright.Object
	sentinel error
	retry    bool
	text     string
}

// Error implements error.
func (e *forwardError) Error() string {
	return fmt.Sprintf("port-forward to %s: %v: %s", e.object, e.sentinel, e.text)
}

// Unwrap returns the sentinel.
func (e *forwardError) Unwrap() error { return e.sentinel }

// Retryable implements [planewright.Retryable].
func (e *forwardError) Retryable() bool { return e.retry }
