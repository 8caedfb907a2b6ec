package kubeflow_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kubeflow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hosts are names and their addresses.
type hosts map[string][]string

func (h hosts) LookupHost(_ context.Context, host string) ([]string, error) {
	if addresses, ok := h[host]; ok {
		return addresses, nil
	}
	return nil, errors.New("no such host")
}

// page answers every request.
type page func(*http.Request) *http.Response

func (p page) RoundTrip(r *http.Request) (*http.Response, error) { return p(r), nil }

func answer(code int, location string) page {
	return func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Location": {location}}, Body: http.NoBody, Request: r}
	}
}

func TestAVerificationAsksWhetherPeopleCanGetIn(t *testing.T) {
	const gateway = "kubeflow-istio-ingressgateway.istio-system.workload.example"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		for name, tt := range map[string]struct {
			hosts hosts
			page  page
			code  string
			cause string
		}{
			"fine":         {hosts{"kubeflow.acme.example": {"10.0.0.1"}, gateway: {"10.0.0.1"}}, answer(302, "https://acp.acme.example/dex/auth"), "", ""},
			"no name":      {hosts{gateway: {"10.0.0.1"}}, answer(302, "/oauth2/start"), kubeflow.CodeDNS, "the name kubeflow.acme.example is not found: no such host"},
			"another name": {hosts{"kubeflow.acme.example": {"10.0.0.9"}, gateway: {"10.0.0.1"}}, answer(302, "/dex"), kubeflow.CodeDNS, "kubeflow.acme.example leads to 10.0.0.9, and the gateway's address is " + gateway},
			"denied":       {hosts{"kubeflow.acme.example": {"10.0.0.1"}, gateway: {"10.0.0.1"}}, answer(403, ""), kubeflow.CodeLogin, `https://kubeflow.acme.example/ answers Forbidden and leads to "", and not to the login`},
		} {
			found, err := bare().Verify(t.Context(), w.Env().WithResolver(tt.hosts).WithTransport(tt.page))
			require.NoError(t, err)
			if tt.code == "" {
				assert.Empty(t, found.Findings, name)
				continue
			}
			require.Len(t, found.Findings, 1, name)
			assert.Equal(t, tt.code, found.Findings[0].Code, name)
			assert.Equal(t, tt.cause, found.Findings[0].Cause, name)
		}
	})
}

// distrust is a client that does not know who signed the host's certificate.
type distrust struct{}

func (distrust) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
}

func TestAHostWhoseCertificateIsNotTrustedIsAFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		found, err := bare().Verify(t.Context(), w.Env().WithTransport(distrust{}))
		require.NoError(t, err)
		assert.False(t, found.OK())
		require.Len(t, found.Findings, 1)
		assert.Equal(t, kubeflow.CodeLogin, found.Findings[0].Code)
		assert.Equal(t, "https://kubeflow.acme.example/ cannot be opened: tls: failed to verify certificate: x509: certificate signed by unknown authority", found.Findings[0].Cause)
		assert.Equal(t, "look at the host's DNS record, the gateway and its certificate", found.Findings[0].Fix)
	})
}

func TestAGatewayThatBindingsDoNotLetInIsAFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		install(t, w, bare())
		set(t, w, kube.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "istio-system", Name: "kubeflow-istio-ingressgateway"},
			"default", "spec", "template", "spec", "serviceAccountName")
		found, err := bare().Verify(t.Context(), w.Env())
		require.NoError(t, err)
		require.NotEmpty(t, found.Findings)
		assert.Equal(t, kubeflow.CodePrincipal, found.Findings[0].Code)
		assert.Equal(t, "the gateway's pods run as …/ns/istio-system/sa/default, and people's policies let in "+
			"cluster.local/ns/istio-system/sa/kubeflow-istio-ingressgateway-service-account: everybody is denied", found.Findings[0].Cause)
	})
}
