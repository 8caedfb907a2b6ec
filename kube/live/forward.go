package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forwarder implements [kube.Forwarder] as kubectl does: over a websocket, or
// over SPDY where the API server or a proxy in between does not know how.
type forwarder struct{ c *connection }

var _ kube.Forwarder = (*forwarder)(nil)

// Forward implements [kube.Forwarder].
func (f *forwarder) Forward(ctx context.Context, request kube.ForwardRequest) (kube.Forwarding, error) {
	ctx = f.c.quiet(ctx)
	ref := kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: request.Namespace, Name: request.Service}
	fail := func(err error) error { return f.c.fail(ctx, "forward to", ref.In(f.c.name), err) }
	if len(request.Ports) == 0 {
		return nil, fail(invalid("there are no ports"))
	}
	obj, err := (&objects{f.c}).Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	services := convert[corev1.Service]([]*unstructured.Unstructured{obj})
	if len(services) == 0 {
		return nil, fail(errors.New("the Service cannot be read"))
	}
	pod, err := f.readyPod(ctx, services[0])
	if err != nil {
		return nil, fail(err)
	}
	targets, err := targetPorts(services[0], *pod, request.Ports)
	if err != nil {
		return nil, fail(err)
	}
	open, err := f.open(ctx, pod, request.Ports, targets)
	if err != nil {
		return nil, fail(err)
	}
	return open, nil
}

// readyPod picks a pod that the Service sends traffic to.
func (f *forwarder) readyPod(ctx context.Context, service corev1.Service) (*corev1.Pod, error) {
	if len(service.Spec.Selector) == 0 {
		return nil, fmt.Errorf("it selects no pods, traffic goes elsewhere: %w", planewright.ErrUnsupported)
	}
	items, _, err := f.c.list(ctx, kube.Ref{APIVersion: "v1", Kind: "Pod"}, client.InNamespace(service.Namespace), client.MatchingLabels(service.Spec.Selector))
	if err != nil {
		return nil, err
	}
	pods := convert[corev1.Pod](items)
	for i, pod := range pods {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if ready && pod.DeletionTimestamp == nil {
			return &pods[i], nil
		}
	}
	text := "it selects no pod"
	if len(pods) > 0 {
		text = fmt.Sprintf("none of its %d pods is ready", len(pods))
		if lines := podLines(pods); len(lines) > 0 {
			text += ": " + strings.Join(lines, "; ")
		}
	}
	ref := kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: service.Namespace, Name: service.Name}
	return nil, &callError{op: "find a ready pod of", object: ref.In(f.c.name).String(), err: errors.New(text), verdict: verdict{sentinel: planewright.ErrUnavailable, retry: true}}
}

// targetPorts finds the pod's ports behind those of the Service.
func targetPorts(service corev1.Service, pod corev1.Pod, ports []int) ([]int, error) {
	targets := make([]int, len(ports))
	for i, port := range ports {
		at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return int(p.Port) == port && p.Protocol != corev1.ProtocolUDP })
		if at < 0 {
			return nil, fmt.Errorf("port %d: %w; there are %s", port, planewright.ErrNotFound, servicePorts(service))
		}
		target := service.Spec.Ports[at].TargetPort
		switch {
		case target.Type == intstr.String:
			number, ok := containerPort(pod, target.StrVal)
			if !ok {
				return nil, fmt.Errorf("port %d leads to port %q, which no container of pod %s has: %w", port, target.StrVal, pod.Name, planewright.ErrNotFound)
			}
			targets[i] = number
		case target.IntVal != 0:
			targets[i] = int(target.IntVal)
		default:
			targets[i] = port
		}
	}
	return targets, nil
}

func servicePorts(service corev1.Service) string {
	var list []string
	for _, p := range service.Spec.Ports {
		list = append(list, strconv.Itoa(int(p.Port)))
	}
	if len(list) == 0 {
		return "no ports"
	}
	return "the ports " + strings.Join(list, ", ")
}

func containerPort(pod corev1.Pod, name string) (int, bool) {
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if p.Name == name {
				return int(p.ContainerPort), true
			}
		}
	}
	return 0, false
}

// open opens one connection to the pod and listens for all ports.
func (f *forwarder) open(ctx context.Context, pod *corev1.Pod, ports, targets []int) (*forwarding, error) {
	if f.c.original.Transport != nil {
		// A round tripper of the caller's carries requests, not streams.
		return nil, fmt.Errorf("the API server is reached through a transport that cannot carry streams: %w", planewright.ErrUnsupported)
	}
	dialer, err := f.dialer(pod)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	wanted := make([]string, len(targets))
	for i, target := range targets {
		wanted[i] = "0:" + strconv.Itoa(target)
	}
	listening := make(chan struct{})
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{"127.0.0.1"}, wanted, listening, io.Discard, io.Discard)
	if err != nil {
		cancel()
		return nil, err
	}
	open := &forwarding{done: make(chan struct{}), cancel: cancel, local: map[int]string{}}
	failed := make(chan error, 1)
	go func() {
		defer close(open.done)
		defer cancel()
		err := forwarder.ForwardPorts()
		failed <- err
		if err != nil && ctx.Err() == nil {
			f.c.log.InfoContext(ctx, "port-forward ended", "pod", pod.Namespace+"/"+pod.Name, "error", err)
		}
	}()
	select {
	case <-listening:
	case err := <-failed:
		cancel()
		return nil, unforwarded(pod, err)
	case <-ctx.Done():
		cancel()
		return nil, context.Cause(ctx)
	}
	bound, err := forwarder.GetPorts()
	if err == nil && len(bound) != len(ports) {
		err = fmt.Errorf("%d of %d ports could be listened on", len(bound), len(ports))
	}
	if err != nil {
		return nil, errors.Join(err, open.Close())
	}
	for i, port := range ports {
		open.local[port] = net.JoinHostPort("127.0.0.1", strconv.Itoa(int(bound[i].Local)))
	}
	return open, nil
}

// unforwarded is the error of a connection that could not be made. A pod without
// a kubelet that the API server can reach cannot be forwarded to.
func unforwarded(pod *corev1.Pod, err error) error {
	text := err.Error()
	for _, sign := range []string{"dial tcp", "no preferred addresses", "unknown host", "proxy error", "No agent available", "connection refused", "i/o timeout"} {
		if strings.Contains(text, sign) {
			return fmt.Errorf("the API server cannot reach the kubelet of node %s, where pod %s runs: %w: %w", pod.Spec.NodeName, pod.Name, planewright.ErrUnsupported, err)
		}
	}
	return err
}

// dialer makes the connection to a pod.
func (f *forwarder) dialer(pod *corev1.Pod) (httpstream.Dialer, error) {
	address := f.c.rest.Post().AbsPath("api", "v1", "namespaces", pod.Namespace, "pods", pod.Name, "portforward").URL()
	config := rest.CopyConfig(f.c.original)
	config.Timeout = 0
	overSPDY, err := spdyDialer(config, address)
	if err != nil {
		return nil, err
	}
	overWebsocket, err := portforward.NewSPDYOverWebsocketDialerForStreamingWithLogger(klog.LoggerWithName(f.c.logr(), "portforward"), address, config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(overWebsocket, overSPDY, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

func spdyDialer(config *rest.Config, address *url.URL) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, address), nil
}

// forwarding implements [kube.Forwarding].
type forwarding struct {
	local  map[int]string
	done   chan struct{}
	cancel context.CancelFunc
	close  sync.Once
}

// Address implements [kube.Forwarding].
func (f *forwarding) Address(port int) string { return f.local[port] }

// Done implements [kube.Forwarding].
func (f *forwarding) Done() <-chan struct{} { return f.done }

// Close implements [kube.Forwarding]. It returns when nothing is forwarded any more.
func (f *forwarding) Close() error {
	f.close.Do(f.cancel)
	<-f.done
	return nil
}
