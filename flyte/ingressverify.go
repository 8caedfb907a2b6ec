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
	// addressPatience is how long an install waits for the load balancer that an
	// ingress controller makes: an ALB takes up to three minutes.
	addressPatience = 4 * time.Minute
	// reachPatience bounds one way through the ingress.
	reachPatience = 15 * time.Second
	// defaultSecurePort is where TLS is if nothing else is said.
	defaultSecurePort = 443
)

// DNSRecord is the record by which the host leads to the ingress, an output of
// the release's step: with [planewright.Output.From] it is read from an install's
// report. It is not there as long as the ingress has no address.
func (d Deployment) DNSRecord() planewright.Output[DNSRecord] {
	step := d.id() + "/release"
	if d.inPlanes() {
		step = d.id() + "/controlplane/release"
	}
	return planewright.NewOutput[DNSRecord](step, "dns-record")
}

// served is an Ingress of the release that has, or lacks, an address.
type served struct {
	ref     kube.Ref
	address string
}

// serving reads the release's Ingress objects.
func (s releaseStep) serving(ctx context.Context, state kube.ReleaseState) ([]served, error) {
	var list []served
	for _, ref := range state.Objects {
		if ref.Kind != "Ingress" {
			continue
		}
		live, err := s.cluster.Objects.Get(ctx, ref)
		if errors.Is(err, planewright.ErrNotFound) {
			continue // that is drift, and said so
		}
		if err != nil {
			return nil, err
		}
		list = append(list, served{ref, ingressAddress(live)})
	}
	return list, nil
}

// ingressAddress is the name or address of an Ingress's load balancer.
func ingressAddress(live *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(live.Object, "status", "loadBalancer", "ingress")
	for _, item := range list {
		m, _ := asMap(item)
		for _, field := range []string{"hostname", "ip"} {
			if address, _ := m[field].(string); address != "" {
				return address
			}
		}
	}
	return ""
}

// tellRecord gives the DNS record out, if the ingress has an address.
func (s releaseStep) tellRecord(ctx context.Context, run *planewright.Run, state kube.ReleaseState) (DNSRecord, error) {
	host, i := s.recipe.entrance()
	if i.isZero() {
		return DNSRecord{}, nil
	}
	list, err := s.serving(ctx, state)
	if err != nil {
		return DNSRecord{}, err
	}
	for _, ingress := range list {
		if ingress.address != "" {
			record := newDNSRecord(host, ingress.address)
			s.DNSRecord().Set(run, record)
			return record, nil
		}
	}
	return DNSRecord{}, nil
}

// awaitAddress waits for the load balancer where a controller may make one, and
// advises which record leads to it. That there is none in time fails no install:
// Flyte runs, and a verification tells.
func (s releaseStep) awaitAddress(ctx context.Context, run *planewright.Run, state kube.ReleaseState) error {
	host, i := s.recipe.entrance()
	if i.isZero() {
		return nil
	}
	_, err := s.cluster.Objects.Get(ctx, kube.Ref{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass", Name: i.class})
	if err == nil || i.kind == ingressGKE {
		list, err := s.serving(ctx, state)
		if err != nil {
			return err
		}
		if err := s.awaitIngress(ctx, run, list); err != nil {
			return err
		}
	}
	record, err := s.tellRecord(ctx, run, state)
	if err != nil {
		return err
	}
	if record == (DNSRecord{}) {
		run.Advise("the Ingress for %s has no address yet; when it has, create a DNS record that leads to it: kubectl -n %s get ingress", host, s.namespace)
		return nil
	}
	run.Advise("let %s lead to Flyte by the DNS record: %s", host, record)
	return nil
}

func (s releaseStep) awaitIngress(ctx context.Context, run *planewright.Run, list []served) error {
	var refs []kube.Ref
	for _, ingress := range list {
		refs = append(refs, ingress.ref)
	}
	if len(refs) == 0 {
		return nil
	}
	patient, cancel := context.WithTimeoutCause(ctx, addressPatience, planewright.ErrTimeout)
	defer cancel()
	err := s.cluster.Objects.Wait(patient, kube.WaitRequest{
		Refs: refs,
		Until: func(live *unstructured.Unstructured) (bool, string) {
			return live != nil && ingressAddress(live) != "", "its load balancer has no address"
		},
		Progress: func(message string) { run.Progress("%s", message) },
	})
	if err != nil && ctx.Err() == nil && errors.Is(err, planewright.ErrTimeout) {
		return nil
	}
	return err
}

// verifyIngress asks whether the host leads to Flyte: the Ingress has an
// address, the host resolves to it, the certificate is good, and Flyte answers
// through it by HTTP and by gRPC.
func (s releaseStep) verifyIngress(ctx context.Context, state kube.ReleaseState) ([]planewright.Finding, error) {
	host, i := s.recipe.entrance()
	if i.isZero() {
		return nil, nil
	}
	list, err := s.serving(ctx, state)
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	seen := map[string]bool{}
	for _, ingress := range list {
		object := ingress.ref.In(s.cluster.Name)
		if ingress.address == "" {
			software, _ := i.kind.software()
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeIngressAddress, Object: &object,
				Cause: "the Ingress has no address, so that nothing leads to Flyte",
				Fix:   fmt.Sprintf("look at its events, and at the log of the %s: kubectl -n %s describe ingress %s", software, s.namespace, ingress.ref.Name)})
			continue
		}
		if seen[ingress.address] {
			continue
		}
		seen[ingress.address] = true
		findings = append(findings, s.verifyHost(ctx, object, host, ingress.address)...)
		findings = append(findings, s.verifyReach(ctx, object, host, ingress.address)...)
	}
	return findings, nil
}

// verifyHost compares where the host leads with the ingress.
func (s releaseStep) verifyHost(ctx context.Context, object planewright.Object, host, address string) []planewright.Finding {
	if s.resolver == nil {
		return nil
	}
	record := newDNSRecord(host, address)
	finding := planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeDNS, Object: &object, Fix: "create the DNS record: " + record.String()}
	found, err := resolve(ctx, s.resolver, host, address)
	switch {
	case err != nil:
		finding.Severity, finding.Fix = planewright.SeverityUnprobed, ""
		finding.Cause = fmt.Sprintf("where %s leads cannot be asked: %v", host, err)
	case found.here:
		return nil
	case len(found.at) == 0:
		finding.Cause = host + " does not resolve"
	default:
		finding.Cause = fmt.Sprintf("%s resolves to %s, which is not this ingress (%s)", host, joinAnd(found.at), address)
		finding.Fix += "; leave it as it is if a proxy stands before the ingress"
	}
	return []planewright.Finding{finding}
}

// verifyReach connects to the ingress, where the Env says how.
func (s releaseStep) verifyReach(ctx context.Context, object planewright.Object, host, address string) []planewright.Finding {
	if s.dialer == nil || s.resolver == nil {
		return nil
	}
	_, i := s.recipe.entrance()
	through := reach{host: host, address: address, port: i.port(), dialer: s.dialer}
	patient, cancel := context.WithTimeoutCause(ctx, reachPatience, planewright.ErrTimeout)
	defer cancel()
	chain, err := through.certificates(patient)
	if err != nil || len(chain) == 0 {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeHealth, Object: &object,
			Cause: fmt.Sprintf("Flyte cannot be asked through %s from here: %v", address, err)}}
	}
	findings := certificateFinding(planewright.Finding{Severity: planewright.SeverityError, Code: CodeCertificate, Object: &object,
		Fix: "replace the certificate, or the host"}, chain[0], host, s.binding)
	if !trusted(chain, s.now()) {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeCertificate, Object: &object,
			Cause: "the host's certificate is signed by an authority that this machine does not know",
			Fix:   "give clients the authority's certificate: admin.caCertFilePath in flytectl's configuration"})
	}
	if err := through.http(patient); err != nil {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeHealth, Object: &object,
			Cause: "Flyte's health check failed through the ingress: " + err.Error(),
			Fix:   "look at the Ingress's events and at the controller's log"})
	}
	status, err := through.grpc(patient)
	switch {
	case err != nil:
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeIngressGRPC, Object: &object,
			Cause: "gRPC does not get through the ingress: " + err.Error(),
			Fix:   "look whether the controller speaks gRPC (HTTP/2) to flyteadmin, as the annotations of the Ingress for gRPC say"})
	case status == "14":
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeIngressGRPC, Object: &object,
			Cause: "the ingress answers gRPC calls as unavailable: it does not reach flyteadmin",
			Fix:   "look at the controller's log and at flyteadmin's pods"})
	default:
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeIngressGRPC, Object: &object,
			Cause: fmt.Sprintf("flyteadmin answers gRPC through the ingress at %s:%d", host, through.port)})
	}
	return findings
}
