package flyte

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// endpointFindings tell of an API server that the control plane's pods may not reach.
func (s accessStep) endpointFindings(endpoint kube.Endpoint) []planewright.Finding {
	u, err := url.Parse(endpoint.URL)
	if err != nil {
		return nil
	}
	finding := planewright.Finding{Severity: planewright.SeverityWarning, Code: CodeEndpoint}
	address, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "localhost" || err == nil && address.IsLoopback():
		finding.Cause = fmt.Sprintf("the endpoint %s of data plane %s is that of the machine it is reached from, and flyteadmin's pods are on another", endpoint.URL, s.plane.name)
		finding.Fix = "use Dataplane.WithEndpoint with an address that the control plane reaches"
	case err == nil && address.IsPrivate():
		finding.Severity = planewright.SeverityInfo
		finding.Cause = fmt.Sprintf("the endpoint %s of data plane %s is a private address, which flyteadmin's pods have to reach", endpoint.URL, s.plane.name)
		finding.Fix = "connect the networks, or use Dataplane.WithEndpoint"
	default:
		return nil
	}
	return []planewright.Finding{finding}
}

// verify asks the data plane itself whether the token is still good.
func (s accessStep) verify(ctx context.Context, run *planewright.Run) ([]planewright.Finding, error) {
	credentials, missing := s.credentials.Get(run)
	object := s.object().ref().In(s.cluster.Name)
	if missing != nil {
		//nolint:nilerr // what is missing is what was found
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeToken, Object: &object,
			Cause: "there is no token for flyteadmin in data plane " + s.plane.name, Fix: "install"}}, nil
	}
	answer, err := s.cluster.Objects.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
		"metadata": map[string]any{"name": "flyteadmin-token"},
		"spec":     map[string]any{"token": string(credentials.token)},
	}})
	switch {
	case errors.Is(err, planewright.ErrDenied), errors.Is(err, planewright.ErrNotFound), errors.Is(err, planewright.ErrUnsupported):
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeToken, Object: &object,
			Cause: "whether the token is good may not be asked: " + withoutToken(err, credentials.token)}}, nil
	case err != nil:
		return nil, errors.New(withoutToken(err, credentials.token))
	}
	good, _, _ := unstructured.NestedBool(answer.Object, "status", "authenticated")
	user, _, _ := unstructured.NestedString(answer.Object, "status", "user", "username")
	want := "system:serviceaccount:" + s.namespace + ":" + adminAccount
	if !good || user != want {
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeToken, Object: &object,
			Cause: fmt.Sprintf("data plane %s no longer takes the token for one of %s", s.plane.name, want),
			Fix:   "raise its token generation by Dataplane.WithTokenGeneration, and install"}}, nil
	}
	endpoint, err := s.endpoint.Get(run)
	if err != nil {
		return nil, err
	}
	return s.verifyEndpoint(ctx, endpoint, credentials.ca), nil
}

// withoutToken is an error's text that cannot hold the token.
func withoutToken(err error, token []byte) string {
	return strings.ReplaceAll(err.Error(), string(token), redacted)
}
