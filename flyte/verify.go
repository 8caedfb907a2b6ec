package flyte

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// readyPatience is how long a workload is given that should be ready already.
	readyPatience = 5 * time.Second
	// healthPatience bounds the whole of a health check.
	healthPatience = 15 * time.Second
)

// verify asks whether the release works: its workloads by component, its
// Services and their ports, Flyte's own health, and its webhook.
func (s releaseStep) verify(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
	state, err := s.cluster.Releases.State(ctx, s.namespace, s.release)
	object := s.object()
	if errors.Is(err, planewright.ErrNotFound) {
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeNotInstalled, Object: &object,
			Cause: "the release does not exist", Fix: "install"}}, nil
	}
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	if state.Status != "deployed" {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeReleaseStatus, Object: &object,
			Cause: fmt.Sprintf("revision %d is %s: %s", state.Revision, state.Status, state.Description), Fix: "install again"})
	}
	ready, workloads, err := s.verifyWorkloads(ctx, state)
	if err != nil {
		return nil, err
	}
	findings = append(findings, workloads...)
	services, found, err := s.services(ctx, state)
	if err != nil {
		return nil, err
	}
	findings = append(findings, found...)
	ingress, err := s.verifyIngress(ctx, state)
	if err != nil {
		return nil, err
	}
	findings = append(findings, ingress...)
	if !ready {
		return append(findings, planewright.Finding{Severity: planewright.SeverityUnprobed, Code: CodeHealth, Object: &object,
			Cause: "Flyte's health is not asked for before its workloads are ready"}), nil
	}
	access, err := s.verifyAccess(ctx, run)
	if err != nil {
		return nil, err
	}
	findings = append(findings, access...)
	running, health := s.health(ctx, services[doorHTTP])
	findings = append(findings, health...)
	webhook, err := s.verifyWebhook(ctx, services[doorWebhook], running)
	if err != nil {
		return nil, err
	}
	findings = append(findings, webhook...)
	if s.recipe.webhook() == podWebhook {
		certificate, err := s.verifyWebhookCertificate(ctx)
		if err != nil {
			return nil, err
		}
		findings = append(findings, certificate...)
	}
	return findings, nil
}

// verifyWorkloads looks at each workload of the release.
func (s releaseStep) verifyWorkloads(ctx context.Context, state kube.ReleaseState) (ready bool, findings []planewright.Finding, err error) {
	ready = true
	for _, ref := range state.Objects {
		if !takesTime(ref) {
			continue
		}
		patient, cancel := context.WithTimeoutCause(ctx, readyPatience, planewright.ErrTimeout)
		err := s.cluster.Objects.Wait(patient, kube.WaitRequest{Refs: []kube.Ref{ref}})
		cancel()
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return false, nil, context.Cause(ctx)
		}
		ready = false
		object := ref.In(s.cluster.Name)
		findings = append(findings, planewright.Finding{
			Severity: planewright.SeverityError, Code: CodeWorkload, Object: &object,
			Cause: fmt.Sprintf("the component %s is not ready: %v", s.component(ctx, ref), err),
			Fix:   fmt.Sprintf("look at its pods: kubectl -n %s describe pods -l app.kubernetes.io/instance=%s", s.namespace, s.release),
		})
	}
	return ready, findings, nil
}

// component names a workload as the chart's labels do, or by its name.
func (s releaseStep) component(ctx context.Context, ref kube.Ref) string {
	live, err := s.cluster.Objects.Get(ctx, ref)
	if err == nil {
		labels, _, _ := unstructured.NestedStringMap(live.Object, "spec", "selector", "matchLabels")
		if c := labels["app.kubernetes.io/component"]; c != "" {
			return c
		}
	}
	return ref.Name
}

// servicePort is a port of a Service, by its number.
type servicePort struct {
	service string
	port    int
}

// services finds the Services of the release that its doors are in, by what
// the doors are for.
func (s releaseStep) services(ctx context.Context, state kube.ReleaseState) (map[string]servicePort, []planewright.Finding, error) {
	found := map[string]servicePort{}
	var findings []planewright.Finding
	for _, ref := range state.Objects {
		if ref.Kind != "Service" || ref.APIVersion != "v1" {
			continue
		}
		live, err := s.cluster.Objects.Get(ctx, ref)
		if errors.Is(err, planewright.ErrNotFound) {
			object := ref.In(s.cluster.Name)
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeService, Object: &object,
				Cause: "the Service does not exist", Fix: "install again"})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		list, _, _ := unstructured.NestedSlice(live.Object, "spec", "ports")
		for _, item := range list {
			p, _ := asMap(item)
			port, ok := p["port"].(int64)
			for _, d := range s.recipe.doors() {
				if ok && d.port == p["name"] && (d.service == "" || d.service == ref.Name) {
					found[d.use] = servicePort{ref.Name, int(port)}
				}
			}
		}
	}
	if len(findings) > 0 {
		return found, findings, nil
	}
	for _, d := range s.recipe.doors() {
		if _, ok := found[d.use]; !ok {
			object := s.object()
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeService, Object: &object,
				Cause: "no Service of the release has a port called " + d.port, Fix: "leave the raw values for Services out"})
		}
	}
	return found, findings, nil
}

// health asks Flyte itself, over a port-forward. Running tells whether what
// answers is known to be Flyte.
func (s releaseStep) health(ctx context.Context, service servicePort) (running bool, findings []planewright.Finding) {
	if service.service == "" {
		return false, nil
	}
	object := kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: s.namespace, Name: service.service}.In(s.cluster.Name)
	patient, cancel := context.WithTimeoutCause(ctx, healthPatience, planewright.ErrTimeout)
	defer cancel()
	forwarding, err := s.cluster.Ports.Forward(patient, kube.ForwardRequest{Namespace: s.namespace, Service: service.service, Ports: []int{service.port}})
	if err != nil {
		return false, []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeHealth, Object: &object,
			Cause: "Flyte's health cannot be probed here: " + err.Error()}}
	}
	defer func() { _ = forwarding.Close() }()
	gateway := gateway{forwarding.Address(service.port)}
	path := healthPath1
	if s.isFlyte2() {
		path = healthPath2
	}
	if err := gateway.health(patient, path); err != nil {
		return false, []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeHealth, Object: &object,
			Cause: "Flyte's health check failed: " + err.Error(),
			Fix:   fmt.Sprintf("look at its log: kubectl -n %s logs deployment/%s", s.namespace, s.recipe.workload())}}
	}
	finding := planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeHealth, Object: &object, Cause: "Flyte answers its health check"}
	version, ok := gateway.version(patient)
	if ok && version != "" {
		finding.Cause = "Flyte " + version + " answers its health check"
	}
	return ok, []planewright.Finding{finding}
}

// verifyWebhook looks for the webhook that gives tasks their secrets. Flyte
// registers it when it starts; where Flyte does not really run, nothing can be said.
func (s releaseStep) verifyWebhook(ctx context.Context, service servicePort, running bool) ([]planewright.Finding, error) {
	if service.service == "" {
		return nil, nil
	}
	ref := webhookRef(s.recipe.webhook())
	object := ref.In(s.cluster.Name)
	_, err := s.cluster.Objects.Get(ctx, ref)
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, planewright.ErrDenied):
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeWebhook, Object: &object,
			Cause: "the webhook's registration may not be read: " + err.Error()}}, nil
	case !errors.Is(err, planewright.ErrNotFound):
		return nil, err
	case !running:
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeWebhook, Object: &object,
			Cause: "the webhook is not registered; Flyte does so when it starts, and whether it has could not be probed here"}}, nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeWebhook, Object: &object,
		Cause: "Flyte runs and has not registered its webhook, so tasks get no secrets",
		Fix:   "look for webhook errors in its log, and whether its ClusterRole may write mutatingwebhookconfigurations"}}, nil
}
