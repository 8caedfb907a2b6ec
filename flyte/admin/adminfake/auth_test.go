package adminfake_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
)

// ask asks for a token, as a client with the given id and secret.
func ask(t *testing.T, fake *adminfake.Fake, id, secret string, form url.Values) (code int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/oauth2/token", strings.NewReader(form.Encode()))
	if id != "" {
		r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
	}
	w := httptest.NewRecorder()
	fake.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// call makes a call with a header, and returns the status.
func call(t *testing.T, fake *adminfake.Fake, header, value string) (code int, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/domains", http.NoBody)
	r.Header.Set(header, value)
	w := httptest.NewRecorder()
	fake.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestTokensAreGivenToTheClient(t *testing.T) {
	grant := url.Values{"grant_type": {"client_credentials"}, "scope": {"all"}, "audience": {"https://flyte"}}
	with := func(key, value string) url.Values {
		form := url.Values{}
		for k, v := range grant {
			form[k] = v
		}
		form.Set(key, value)
		return form
	}
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	fake := adminfake.New(
		adminfake.WithClock(func() time.Time { return now }),
		adminfake.WithAuth(adminfake.Auth{ClientID: "a b", ClientSecret: "p&q", Audience: "https://flyte", Lifetime: time.Minute, Tokens: []string{"static"}}))
	for _, tt := range []struct {
		id, secret string
		form       url.Values
		code       int
		reason     string
	}{
		{"", "", grant, 401, "invalid_client"},
		{"a b", "wrong", grant, 401, "invalid_client"},
		{"a b", "p&q", with("grant_type", "password"), 400, "unsupported_grant_type"},
		{"a b", "p&q", with("scope", "all more"), 400, "invalid_scope"},
		{"a b", "p&q", with("audience", "https://other"), 400, "invalid_request"},
	} {
		code, body := ask(t, fake, tt.id, tt.secret, tt.form)
		assert.Equal(t, tt.code, code)
		assert.Contains(t, body, `"error":"`+tt.reason+`"`)
	}
	code, body := ask(t, fake, "a b", "p&q", grant)
	assert.Equal(t, 200, code)
	assert.JSONEq(t, `{"access_token":"token-1-of-a b","token_type":"bearer","expires_in":60,"scope":"all"}`, body)
	for _, c := range fake.Calls() {
		assert.Empty(t, c.Body, "the log keeps no secrets")
	}

	for _, tt := range []struct {
		header, value string
		code          int
	}{
		{"flyte-authorization", "Bearer token-1-of-a b", 200}, {"Authorization", "bearer static", 200},
		{"flyte-authorization", "Bearer other", 401}, {"flyte-authorization", "Basic x", 401}, {"x-other", "Bearer static", 401},
	} {
		code, body := call(t, fake, tt.header, tt.value)
		assert.Equal(t, tt.code, code, "%s: %s", tt.header, tt.value)
		if code == 401 {
			assert.Contains(t, body, `"code":16`)
		}
	}
	now = now.Add(time.Minute)
	code, _ = call(t, fake, "Authorization", "Bearer token-1-of-a b")
	assert.Equal(t, 401, code, "it has expired")
}

func TestTheLoginIsTold(t *testing.T) {
	replay(t, adminfake.New(adminfake.WithAuth(adminfake.Auth{Scopes: []string{"a", "b"}, Audience: "x", Header: "x-flyte"})), []exchange{
		{"GET /healthcheck", "", 200, ""},
		{"GET /config/v1/flyte_client", "", 200, `{"clientId":"flytectl","redirectUri":"http://localhost:53593/callback","scopes":["a","b"],"authorizationMetadataKey":"x-flyte","serviceHttpEndpoint":"","audience":"x"}`},
		{"JSON GET /.well-known/oauth-authorization-server", "", 200, `{"issuer":"http://example.com","authorization_endpoint":"http://example.com/oauth2/authorize",
			"token_endpoint":"http://example.com/oauth2/token","jwks_uri":"http://example.com/oauth2/jwks","device_authorization_endpoint":"",
			"response_types_supported":["code","token","code token"],"scopes_supported":["all"],"token_endpoint_auth_methods_supported":["client_secret_basic"],
			"code_challenge_methods_supported":["S256"],"grant_types_supported":["client_credentials","refresh_token","authorization_code"]}`},
		{"GET /api/v1/domains", "", 401, `{"code":16,"message":"token parse error: Request unauthenticated with bearer","details":[]}`},
	})
}
