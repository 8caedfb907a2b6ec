package adminfake

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/planewright/planewright/flyte/admin"
)

// Auth is a flyteadmin's login. What is not set has its default.
type Auth struct {
	// ClientID and ClientSecret are those of the one OAuth2 client that gets
	// tokens, by default "flytepropeller" and "foobar", as flyteadmin's
	// published configuration has them.
	ClientID, ClientSecret string
	// Scopes are what the client may ask for, by default "all" and
	// "offline".
	Scopes []string
	// Audience must be asked for if it is set.
	Audience string
	// Header is the header for tokens that flyteadmin tells of, by default
	// admin.DefaultAuthorizationHeader. The header Authorization is taken too.
	Header string
	// Lifetime is how long a token is valid, by default 30 minutes.
	Lifetime time.Duration
	// Tokens are valid without a login, and for ever.
	Tokens []string
}

// authState is a login with the tokens that it gave.
type authState struct {
	Auth
	given map[string]time.Time
	count int
}

func newAuthState(a Auth) *authState {
	if a.ClientID == "" {
		a.ClientID = "flytepropeller"
	}
	if a.ClientSecret == "" {
		a.ClientSecret = "foobar"
	}
	if a.Scopes == nil {
		a.Scopes = []string{"all", "offline"}
	}
	if a.Header == "" {
		a.Header = admin.DefaultAuthorizationHeader
	}
	if a.Lifetime == 0 {
		a.Lifetime = 30 * time.Minute
	}
	a.Scopes, a.Tokens = slices.Clone(a.Scopes), slices.Clone(a.Tokens)
	return &authState{Auth: a, given: map[string]time.Time{}}
}

// RevokeTokens makes all tokens that were given by logins invalid: flyteadmin
// with a new signing key.
func (f *Fake) RevokeTokens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.auth != nil {
		f.auth.given = map[string]time.Time{}
	}
}

// authenticate checks a call's token, if the operation needs one.
func (f *Fake) authenticate(o operation, r *request) error {
	if f.auth == nil || o.anonymous {
		return nil
	}
	for _, header := range []string{"Authorization", f.auth.Header} {
		scheme, token, _ := strings.Cut(r.header.Get(header), " ")
		if !strings.EqualFold(scheme, "bearer") {
			continue
		}
		if expiry, ok := f.auth.given[token]; ok && f.now().Before(expiry) || slices.Contains(f.auth.Tokens, token) {
			return nil
		}
		return statusf(admin.CodeUnauthenticated, "token parse error [JWT_VERIFICATION_FAILED] Could not retrieve id token from metadata")
	}
	return statusf(admin.CodeUnauthenticated, "token parse error: Request unauthenticated with bearer")
}

// noAuth is what the gateway says where nobody is asked for credentials: the
// service behind it is not registered then.
func noAuth() error {
	return statusf(admin.CodeUnimplemented, "unknown service flyteidl.service.AuthMetadataService")
}

func (f *Fake) oauth2Metadata(r *request) (result, error) {
	if f.auth == nil {
		return result{}, noAuth()
	}
	list := func(values ...string) []any {
		var l []any
		for _, v := range values {
			l = append(l, v)
		}
		return l
	}
	s := schema{{name: "issuer"}, {name: "authorization_endpoint"}, {name: "token_endpoint"}, {name: "jwks_uri"}, {name: "device_authorization_endpoint"}}
	for _, name := range []string{
		"response_types_supported", "scopes_supported", "token_endpoint_auth_methods_supported", "code_challenge_methods_supported", "grant_types_supported",
	} {
		s = append(s, field{name: name, repeated: true})
	}
	return result{schema: s, message: fields{
		"issuer": r.baseURL, "authorization_endpoint": r.baseURL + "/oauth2/authorize", "token_endpoint": r.baseURL + "/oauth2/token",
		"jwks_uri": r.baseURL + "/oauth2/jwks", "response_types_supported": list("code", "token", "code token"), "scopes_supported": list("all"),
		"token_endpoint_auth_methods_supported": list("client_secret_basic"), "code_challenge_methods_supported": list("S256"),
		"grant_types_supported": list("client_credentials", "refresh_token", "authorization_code"),
	}}, nil
}

func (f *Fake) clientConfig(*request) (result, error) {
	if f.auth == nil {
		return result{}, noAuth()
	}
	scopes := make([]any, len(f.auth.Scopes))
	for i, s := range f.auth.Scopes {
		scopes[i] = s
	}
	s := schema{{name: "client_id"}, {name: "redirect_uri"}, {name: "scopes", repeated: true}, {name: "authorization_metadata_key"}, {name: "service_http_endpoint"}, {name: "audience"}}
	return result{schema: s, message: fields{
		"client_id": "flytectl", "redirect_uri": "http://localhost:53593/callback", "scopes": scopes,
		"authorization_metadata_key": f.auth.Header, "audience": f.auth.Audience,
	}}, nil
}

// giveToken is the token endpoint: RFC 6749, sections 4.4 and 5.
func (f *Fake) giveToken(r *request) (result, error) {
	if f.auth == nil {
		return result{}, statusf(admin.CodeNotFound, "Not Found")
	}
	refuse := func(code int, reason, description string) (result, error) {
		return result{raw: jsonReply(code, fields{"error": reason, "error_description": description})}, nil
	}
	form, err := url.ParseQuery(string(r.body))
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid_request", "The request is missing a required parameter.")
	}
	user, password, ok := (&http.Request{Header: r.header}).BasicAuth()
	id, err1 := url.QueryUnescape(user)
	secret, err2 := url.QueryUnescape(password)
	if !ok || err1 != nil || err2 != nil || id != f.auth.ClientID || secret != f.auth.ClientSecret {
		return refuse(http.StatusUnauthorized, "invalid_client", "Client authentication failed.")
	}
	if form.Get("grant_type") != "client_credentials" {
		return refuse(http.StatusBadRequest, "unsupported_grant_type", "The authorization grant type is not supported by the authorization server.")
	}
	for _, scope := range strings.Fields(form.Get("scope")) {
		if !slices.Contains(f.auth.Scopes, scope) {
			return refuse(http.StatusBadRequest, "invalid_scope", "The requested scope is invalid, unknown, or malformed.")
		}
	}
	if f.auth.Audience != "" && form.Get("audience") != f.auth.Audience {
		return refuse(http.StatusBadRequest, "invalid_request", "Requested audience has not been whitelisted by the OAuth 2.0 Client.")
	}
	f.auth.count++
	token := fmt.Sprintf("token-%d-of-%s", f.auth.count, f.auth.ClientID)
	f.auth.given[token] = f.now().Add(f.auth.Lifetime)
	return result{raw: jsonReply(http.StatusOK, fields{
		"access_token": token, "token_type": "bearer", "expires_in": int(f.auth.Lifetime.Seconds()), "scope": form.Get("scope"),
	})}, nil
}
