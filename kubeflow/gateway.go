package kubeflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
)

// The gateway that the base makes for the host.
const (
	gatewayNamespace = "istio-system"
	gatewayName      = "kubeflow-external-gateway"
	gatewayService   = "kubeflow-istio-ingressgateway"
)

// loginTimeout bounds the opening of the host's page.
const loginTimeout = 10 * time.Second

// GatewayAddress is where the host's name must lead: an address or a name of a
// load balancer. An install gives it once the base is there, if the gateway has one.
func (s KubeflowStack) GatewayAddress() planewright.Output[string] {
	return planewright.NewOutput[string](s.id()+"/"+string(ComponentBase)+"/instance", "gateway-address")
}

// LoginFingerprint is the SHA-256 sum of the certificate of the platform's
// login, in hex, as the mesh is given it; several are separated by spaces.
func (s KubeflowStack) LoginFingerprint() planewright.Output[string] {
	return planewright.NewOutput[string](s.id()+"/login-certificate", "fingerprint")
}

// gatewayAddress finds the gateway's address, empty if it has none.
func (b binding) gatewayAddress(ctx context.Context) (string, error) {
	gateway, err := b.workload.Objects.Get(ctx, kube.Ref{APIVersion: "gateway.networking.k8s.io/v1", Kind: "Gateway", Namespace: gatewayNamespace, Name: gatewayName})
	if err == nil {
		if addresses := mapsAt(gateway.Object, "status", "addresses"); len(addresses) > 0 {
			return textAt(addresses[0], "value"), nil
		}
	} else if !errors.Is(err, planewright.ErrNotFound) && !errors.Is(err, planewright.ErrDenied) {
		return "", err
	}
	service, err := b.workload.Objects.Get(ctx, kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: gatewayNamespace, Name: gatewayService})
	if err != nil {
		if errors.Is(err, planewright.ErrNotFound) || errors.Is(err, planewright.ErrDenied) {
			return "", nil
		}
		return "", err
	}
	ingress := mapsAt(service.Object, "status", "loadBalancer", "ingress")
	if len(ingress) == 0 {
		return "", nil
	}
	return cmp.Or(textAt(ingress[0], "ip"), textAt(ingress[0], "hostname")), nil
}

// record is what leads the host's name to an address.
func (b binding) record(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil {
		kind := "A"
		if ip.Is6() {
			kind = "AAAA"
		}
		return fmt.Sprintf("make the DNS record %s %s %s, or add the line \"%s %s\" to the hosts files of those who try it", b.host, kind, address, address, b.host)
	}
	return fmt.Sprintf("make the DNS record %s CNAME %s", b.host, address)
}

// advise tells what is left to be done once a component is there, and where it appears.
func (s instanceStep) advise(ctx context.Context, run *planewright.Run) {
	switch s.Component {
	case ComponentBase:
		s.adviseAccess(ctx, run)
		if len(s.registries) == 0 {
			run.Advise("the page of model registries is empty until the first one is made: WithModelRegistries")
		}
	case ComponentPipelines:
		run.Advise("pipelines appear in the dashboard once their operator has reconciled; reload the page")
	case ComponentModelRegistry, ComponentTrainer:
	}
}

// adviseAccess tells how people get in.
func (s instanceStep) adviseAccess(ctx context.Context, run *planewright.Run) {
	switch address, err := s.gatewayAddress(ctx); {
	case err != nil:
		run.Logger().Warn("the gateway's address cannot be read", "err", err)
	case address == "":
		run.Advise("the gateway has no address yet; %s must lead to that of Service %s/%s in cluster %s", s.host, gatewayNamespace, gatewayService, s.workload.Name)
	default:
		s.GatewayAddress().Set(run, address)
		run.Advise("%s", s.record(address))
	}
	run.Advise("open https://%s, or Kubeflow under Tools in the platform; the entry appears after a reload", s.host)
}

// verifyAccess asks whether people can get in: the gateway's address and
// principal, and, where the Env says how, the host's name and page.
func (s instanceStep) verifyAccess(ctx context.Context) ([]planewright.Finding, error) {
	address, err := s.gatewayAddress(ctx)
	if err != nil {
		return nil, err
	}
	var findings []planewright.Finding
	if address == "" {
		object := kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: gatewayNamespace, Name: gatewayService}.In(s.workload.Name)
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeGateway, Object: &object,
			Cause: "the gateway has no address", Fix: "see whether the cluster has load balancers"})
	}
	principal, err := s.verifyPrincipal(ctx)
	if err != nil {
		return nil, err
	}
	findings = append(findings, principal...)
	if address != "" && s.env.resolver != nil {
		findings = append(findings, s.verifyName(ctx, address)...)
	}
	if s.env.transport != nil {
		findings = append(findings, s.verifyLogin(ctx)...)
	}
	return findings, nil
}

// verifyPrincipal compares what the gateway's pods run as with what the
// policies of people let in.
func (b binding) verifyPrincipal(ctx context.Context) ([]planewright.Finding, error) {
	a, err := b.access(ctx)
	if errors.Is(err, planewright.ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ref := kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: gatewayNamespace, Name: gatewayService}
	service, err := b.workload.Objects.Get(ctx, ref)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var labels []string
	for key, value := range mapAt(service.Object, "spec", "selector") {
		labels = append(labels, fmt.Sprintf("%s=%v", key, value))
	}
	slices.Sort(labels)
	if len(labels) == 0 {
		return nil, nil
	}
	pods, err := b.workload.Objects.List(ctx, kube.ListRequest{APIVersion: "v1", Kind: "Pod", Namespace: gatewayNamespace, Labels: strings.Join(labels, ",")})
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		have := fmt.Sprintf("/ns/%s/sa/%s", gatewayNamespace, textAt(pod.Object, "spec", "serviceAccountName"))
		if !strings.HasSuffix(a.gateway, have) {
			object := ref.In(b.workload.Name)
			return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodePrincipal, Object: &object,
				Cause: fmt.Sprintf("the gateway's pods run as …%s, and people's policies let in %s: everybody is denied", have, a.gateway),
				Fix:   "set ISTIO_INGRESS_GATEWAY_PRINCIPAL of Deployment kubeflow/profiles-deployment to the principal of the gateway"}}, nil
		}
	}
	return nil, nil
}

func (b binding) verifyName(ctx context.Context, address string) []planewright.Finding {
	have, err := b.env.resolver.LookupHost(ctx, b.host)
	if err != nil {
		return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeDNS, Cause: fmt.Sprintf("the name %s is not found: %v", b.host, err), Fix: b.record(address)}}
	}
	want := []string{address}
	if _, err := netip.ParseAddr(address); err != nil {
		if want, err = b.env.resolver.LookupHost(ctx, address); err != nil {
			return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeDNS, Cause: fmt.Sprintf("the gateway's own name %s is not found: %v", address, err)}}
		}
	}
	if slices.ContainsFunc(have, func(a string) bool { return slices.Contains(want, a) }) {
		return nil
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeDNS,
		Cause: fmt.Sprintf("%s leads to %s, and the gateway's address is %s", b.host, strings.Join(have, ", "), address), Fix: b.record(address)}}
}

// verifyLogin opens the host's page, which must lead to the login.
func (b binding) verifyLogin(ctx context.Context) []planewright.Finding {
	wrong := func(cause, fix string) []planewright.Finding {
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeLogin, Cause: cause, Fix: fix}}
	}
	url := "https://" + b.host + "/"
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return wrong(err.Error(), "")
	}
	response, err := b.env.transport.RoundTrip(request)
	if err != nil {
		return wrong(url+" cannot be opened: "+err.Error(), "look at the host's DNS record, the gateway and its certificate")
	}
	defer response.Body.Close()
	location := response.Header.Get("Location")
	if response.StatusCode == http.StatusFound && (strings.Contains(location, "/dex") || strings.Contains(location, "/oauth2/")) {
		return nil
	}
	fix := "look at Deployment kubeflow-oauth2-proxy/oauth2-proxy"
	if response.StatusCode == http.StatusForbidden {
		fix = "the mesh denies every request: see whether it has the provider " + providerName
	}
	return wrong(fmt.Sprintf("%s answers %s and leads to %q, and not to the login", url, response.Status, location), fix)
}
