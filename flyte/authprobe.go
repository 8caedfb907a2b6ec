package flyte

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/planewright/planewright"
)

// WithHTTPClient sets the client that identity providers are asked with, before
// an install, whether they are what a deployment's [Auth] says. There is no
// default: without one a finding says that they were not asked.
func (e Env) WithHTTPClient(client *http.Client) Env {
	e.http = client
	return e
}

// probeAuth asks the identity provider what flyteadmin will ask it when it
// starts: without a good answer flyteadmin does not start at all.
func (b binding) probeAuth(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	a := b.auth
	findings := []planewright.Finding{
		{Severity: planewright.SeverityInfo, Code: CodeAuthorization,
			Cause: "Flyte authenticates and does not authorise: whoever is logged in may run anything in any project",
			Fix:   "say at the provider who may use the application " + a.clientID},
		{Severity: planewright.SeverityInfo, Code: CodeRedirectURI,
			Cause: fmt.Sprintf("people are sent back from %s to %s", a.issuer, b.RedirectURI()),
			Fix:   "register that as a redirect URI of the application " + a.clientID},
	}
	if b.http == nil {
		return append(findings, planewright.Finding{Severity: planewright.SeverityUnprobed, Code: CodeIssuer,
			Cause: "whether " + a.issuer + " is the provider's issuer was not asked", Fix: "use Env.WithHTTPClient"}), nil
	}
	at := strings.TrimSuffix(a.issuer, "/") + "/.well-known/openid-configuration"
	found, err := b.metadata(ctx, at)
	switch {
	case err != nil:
		findings = append(findings, issuerFinding("the provider does not answer as one: "+err.Error(), "look at the address, and whether the cluster can reach it; flyteadmin does not start without it"))
	case found.Issuer != a.issuer:
		findings = append(findings, issuerFinding(
			fmt.Sprintf("the provider's issuer is %q, and auth.issuer is %q; flyteadmin compares them byte by byte, and does not start", found.Issuer, a.issuer),
			fmt.Sprintf("use OIDC(%q, …)", found.Issuer)))
	case found.AuthorizationEndpoint == "" || found.TokenEndpoint == "":
		findings = append(findings, issuerFinding(at+" names no endpoint for logins or none for tokens", "use the issuer of an OpenID Connect provider"))
	}
	if s := a.external; s.set {
		switch found, err := b.metadata(ctx, s.metadataURL()); {
		case err != nil:
			findings = append(findings, issuerFinding("the authorization server does not answer as one: "+err.Error(), "look at its URL; WithMetadata sets where its metadata are"))
		case found.TokenEndpoint == "":
			findings = append(findings, issuerFinding(s.metadataURL()+" names no endpoint for tokens", "use an OAuth2 authorization server"))
		}
	}
	return findings, nil
}

func issuerFinding(cause, fix string) planewright.Finding {
	return planewright.Finding{Severity: planewright.SeverityError, Code: CodeIssuer, Cause: cause, Fix: fix}
}

// providerMetadata is what a provider tells of itself, by OpenID Connect Discovery
// 1.0 and RFC 8414.
type providerMetadata struct {
	Issuer                string `json:"issuer"`
	AuthorizationEndpoint string `json:"authorization_endpoint"`
	TokenEndpoint         string `json:"token_endpoint"`
}

func (b binding) metadata(ctx context.Context, at string) (providerMetadata, error) {
	var found providerMetadata
	ctx, cancel := context.WithTimeoutCause(ctx, healthPatience, planewright.ErrTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return found, err
	}
	response, err := b.http.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return found, err
	}
	if response.StatusCode != http.StatusOK {
		return found, fmt.Errorf("GET %s answered %s", at, response.Status)
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return found, fmt.Errorf("GET %s answered no JSON", at)
	}
	return found, nil
}
