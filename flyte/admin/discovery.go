package admin

import (
	"context"
	"net/http"
)

// Discovery is what a flyteadmin tells everybody of its login.
type Discovery struct {
	// Issuer is who gives tokens. AuthorizationEndpoint is where people log in,
	// TokenEndpoint where tokens are given, DeviceEndpoint where a login on
	// another device begins; the last is empty where there is none.
	Issuer, AuthorizationEndpoint, TokenEndpoint, DeviceEndpoint string
	// GrantTypes and ChallengeMethods are as RFC 8414 has them: "client_credentials", "S256".
	GrantTypes, ChallengeMethods []string
	// ClientID is the OAuth2 client of people's clients, RedirectURI where their
	// browser is sent after the login, Scopes and Audience what they ask for.
	ClientID, RedirectURI string
	Scopes                []string
	Audience              string
	// Header is the header that carries tokens.
	Header string
}

// Discover asks without a login how to log in, as flytectl and pyflyte do. A
// flyteadmin whose auth is off does not tell: errors.Is planewright.ErrUnsupported.
func (c *Client) Discover(ctx context.Context) (Discovery, error) {
	var d Discovery
	metadata := call{op: "GetOAuth2Metadata", method: http.MethodGet, path: "/.well-known/oauth-authorization-server", anonymous: true}
	err := c.do(ctx, metadata, func(m message) {
		d.Issuer, d.AuthorizationEndpoint, d.TokenEndpoint = m.text("issuer"), m.text("authorization_endpoint"), m.text("token_endpoint")
		d.DeviceEndpoint = m.text("device_authorization_endpoint")
		d.GrantTypes, d.ChallengeMethods = m.list("grant_types_supported"), m.list("code_challenge_methods_supported")
	})
	if err != nil {
		return Discovery{}, noLogin(err)
	}
	public := call{op: "GetPublicClientConfig", method: http.MethodGet, path: "/config/v1/flyte_client", anonymous: true}
	err = c.do(ctx, public, func(m message) {
		d.ClientID, d.RedirectURI, d.Audience = m.text("client_id"), m.text("redirect_uri"), m.text("audience")
		d.Scopes, d.Header = m.list("scopes"), m.text("authorization_metadata_key")
	})
	if err != nil {
		return Discovery{}, noLogin(err)
	}
	return d, nil
}
