package admin_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const clientSecret = "s3cret/with+odd=characters"

var credentials = admin.ClientCredentials{ID: "installer", Secret: planewright.SecretValue(clientSecret + "\n")}

func locked(options ...adminfake.Option) *adminfake.Fake {
	return adminfake.New(append([]adminfake.Option{
		adminfake.WithProjects("team1"), adminfake.WithAuth(adminfake.Auth{ClientID: "installer", ClientSecret: clientSecret}),
	}, options...)...)
}

// operations lists the operations that were called.
func operations(fake *adminfake.Fake) []string {
	var list []string
	for _, c := range fake.Calls() {
		list = append(list, c.Operation)
	}
	return list
}

func TestClientCredentialsAreDiscoveredOnce(t *testing.T) {
	fake := locked()
	client := clientOf(t, fake, admin.WithClientCredentials(credentials))
	require.NoError(t, client.Health(t.Context()))
	assert.Equal(t, []string{"Health"}, operations(fake), "the health check needs no login")
	for range 2 {
		_, err := client.Domains(t.Context())
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"Health", "GetOAuth2Metadata", "GetPublicClientConfig", "Token", "GetDomains", "GetDomains"}, operations(fake))
}

func TestManyCallsShareOneLogin(t *testing.T) {
	fake := locked()
	client := clientOf(t, fake, admin.WithClientCredentials(credentials))
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := client.Project(t.Context(), "team1")
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Len(t, fake.Calls(adminfake.Operation("Token")), 1)
}

func TestWhatIsGivenIsNotDiscovered(t *testing.T) {
	fake := locked(adminfake.WithAuth(adminfake.Auth{ClientID: "installer", ClientSecret: clientSecret, Scopes: []string{"deploy"}, Audience: "https://flyte", Header: "x-flyte"}))
	given := credentials
	given.TokenURL, given.Scopes, given.Audience = adminfake.Endpoint+"/oauth2/token", []string{"deploy"}, "https://flyte"
	client := clientOf(t, fake, admin.WithClientCredentials(given), admin.WithAuthorizationHeader("x-flyte"))
	_, err := client.Domains(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"Token", "GetDomains"}, operations(fake))
}

func TestTheHeaderAndTheScopesAreTold(t *testing.T) {
	fake := locked(adminfake.WithAuth(adminfake.Auth{ClientID: "installer", ClientSecret: clientSecret, Scopes: []string{"a", "b"}, Header: "x-flyte"}))
	var headers http.Header
	client := clientOf(t, fake, admin.WithClientCredentials(credentials), admin.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		headers = r.Header
		return fake.RoundTrip(r)
	})}))
	_, err := client.Domains(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Bearer token-1-of-installer", headers.Get("X-Flyte"))
	assert.Empty(t, headers.Get("Authorization"))
}

func TestATokenIsRenewedWhenItExpiresOrIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := locked()
		client := clientOf(t, fake, admin.WithClientCredentials(credentials))
		use := func() {
			_, err := client.Domains(t.Context())
			require.NoError(t, err)
		}
		use()
		time.Sleep(31 * time.Minute) // it lives for 30
		use()
		assert.Len(t, fake.Calls(adminfake.Operation("Token")), 2)
		assert.Len(t, fake.Calls(adminfake.Operation("GetDomains")), 2, "none was refused")

		fake.RevokeTokens()
		use()
		assert.Len(t, fake.Calls(adminfake.Operation("Token")), 3)
		assert.Len(t, fake.Calls(adminfake.Operation("GetDomains")), 4, "one was refused")

		fake.Fail(adminfake.Operation("GetDomains"), adminfake.Unauthenticated)
		_, err := client.Domains(t.Context())
		require.ErrorIs(t, err, planewright.ErrDenied)
		assert.Len(t, fake.Calls(adminfake.Operation("Token")), 4, "a new token is tried once")
	})
}

func TestALoginIsRetriedWithTheCallThatNeedsIt(t *testing.T) {
	bubble(t, func(t *testing.T, fake *adminfake.Fake, _ *admin.Client) {
		client := clientOf(t, fake, admin.WithClientCredentials(credentials))
		for _, operation := range []string{"GetOAuth2Metadata", "GetPublicClientConfig", "Token"} {
			fake.Fail(adminfake.Operation(operation), adminfake.Unavailable, adminfake.Times(1))
		}
		require.NoError(t, client.RegisterProject(t.Context(), team2), "nothing was sent before the login")
		assert.Empty(t, fake.Calls(adminfake.Operation("GetProject")))
	}, adminfake.WithAuth(adminfake.Auth{ClientID: "installer", ClientSecret: clientSecret}))
}

func TestARefusedLoginTellsNoSecret(t *testing.T) {
	fake := locked()
	wrong := admin.ClientCredentials{ID: "installer", Secret: planewright.SecretValue("hunter2")}
	_, err := clientOf(t, fake, admin.WithClientCredentials(wrong)).Domains(t.Context())
	require.ErrorIs(t, err, planewright.ErrDenied)
	require.EqualError(t, err, "flyteadmin: Token https://flyte.example/oauth2/token: 401: invalid_client: Client authentication failed.; check the OAuth2 client's id, its secret and its scopes")

	// A provider that repeats what it was sent, in whatever form.
	for _, body := range []string{`{"error":"x","error_description":"you sent hunter2%21"}`, "you sent hunter2!", "<p>hunter2!"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(body))
		}))
		defer server.Close()
		talking := admin.ClientCredentials{ID: "installer", Secret: planewright.SecretValue("hunter2!"), TokenURL: server.URL + "/token?key=hunter2", Scopes: []string{"all"}}
		client, err := admin.New(server.URL, admin.WithRetries(0), admin.WithAuthorizationHeader("x"), admin.WithClientCredentials(talking))
		require.NoError(t, err)
		_, err = client.Domains(t.Context())
		require.ErrorIs(t, err, planewright.ErrDenied)
		for ; err != nil; err = errors.Unwrap(err) {
			assert.NotContains(t, err.Error(), "hunter2")
		}
	}
}

func TestAnUnreachableProviderTellsNoSecret(t *testing.T) {
	fake := locked()
	fake.Fail(adminfake.Operation("Token"), adminfake.Unreachable)
	_, err := clientOf(t, fake, admin.WithRetries(0), admin.WithClientCredentials(credentials)).Domains(t.Context())
	require.EqualError(t, err, "flyteadmin: Token https://flyte.example/oauth2/token: unavailable: dial tcp: connection refused")
	require.ErrorIs(t, err, planewright.ErrUnavailable)
}

func TestTheSecretIsNotSentWithoutTLSWhereFlyteadminHasIt(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://idp.example/token":  "its token endpoint http://idp.example/token is not on TLS, though flyteadmin is",
		"https://":                  `it names no usable token endpoint: "https:"`,
		"":                          `it names no usable token endpoint: ""`,
		"file:///etc/passwd?x=y#z":  `it names no usable token endpoint: "file:///etc/passwd"`,
		"https://u:p@idp.example/t": "",
	} {
		client := answering(t, http.StatusOK, `{"token_endpoint":"`+endpoint+`"}`, admin.WithClientCredentials(credentials))
		_, err := client.Domains(t.Context())
		require.Error(t, err)
		var failure *admin.Error
		require.ErrorAs(t, err, &failure)
		if want != "" {
			assert.Equal(t, want, failure.Message)
		}
		assert.NotContains(t, err.Error(), "u:p@")
	}
}

func TestAFlyteadminWithoutLoginsSaysSo(t *testing.T) {
	_, err := clientOf(t, adminfake.New(), admin.WithClientCredentials(credentials)).Domains(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	assert.Contains(t, err.Error(), "leave the client credentials out if its auth is off")
}

func TestAStaticTokenMayBeRotated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	fake := locked(adminfake.WithAuth(adminfake.Auth{Tokens: []string{"one", "two"}}))
	client := clientOf(t, fake, admin.WithToken(planewright.SecretFromFile(file)))
	for _, token := range []string{"one", "two\n", " one "} {
		require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
		_, err := client.Domains(t.Context())
		require.NoError(t, err, token)
	}
	require.NoError(t, os.WriteFile(file, []byte("three"), 0o600))
	_, err := client.Domains(t.Context())
	require.ErrorIs(t, err, planewright.ErrDenied)
	assert.Len(t, fake.Calls(), 4, "a token that is refused is not tried again")

	require.NoError(t, os.Remove(file))
	_, err = client.Domains(t.Context())
	require.ErrorIs(t, err, planewright.ErrDenied)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	assert.Len(t, fake.Calls(), 4)
}

func TestATokenThatIsNoneIsNotSent(t *testing.T) {
	for _, token := range []string{"with space", "with\nnewline", "wïth", " "} {
		fake := locked()
		_, err := clientOf(t, fake, admin.WithToken(planewright.SecretValue(token))).Domains(t.Context())
		require.ErrorIs(t, err, planewright.ErrDenied)
		assert.NotContains(t, err.Error(), strings.TrimSpace(token)+"x")
		require.EqualError(t, errors.Unwrap(err), "the token is empty or holds characters that no token holds: denied")
		assert.Empty(t, fake.Calls())
	}
}

func TestCredentialsDoNotFollowARedirect(t *testing.T) {
	stolen := 0
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen++ }))
	defer thief.Close()
	server := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client, err := admin.New(server.URL, admin.WithToken(planewright.SecretValue("hunter2")))
	require.NoError(t, err)
	_, err = client.Domains(t.Context())
	require.ErrorIs(t, err, planewright.ErrDenied)
	assert.Zero(t, stolen)
}

// A provider that takes the secret in the body only, or does not say.
func TestTheSecretIsPresentedAsTheProviderWantsIt(t *testing.T) {
	for told, want := range map[string]string{
		`["client_secret_post"]`: "body", `["client_secret_basic","client_secret_post"]`: "header", `[]`: "header", `["private_key_jwt"]`: "header",
	} {
		got := ""
		client := answering(t, http.StatusOK, "", admin.WithClientCredentials(credentials), admin.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			switch r.URL.Path {
			case "/.well-known/oauth-authorization-server":
				return answer(`{"tokenEndpoint":"https://idp.example/token","tokenEndpointAuthMethodsSupported":` + told + `}`), nil
			case "/config/v1/flyte_client":
				return answer(`{"scopes":["all"],"authorization_metadata_key":""}`), nil
			case "/token":
				if _, _, ok := r.BasicAuth(); ok {
					got = "header"
				} else {
					got = "body"
				}
				return answer(`{"access_token":"t","token_type":"bearer"}`), nil
			}
			if r.Header.Get("Authorization") != "Bearer t" {
				return nil, errors.New("the default header is not used")
			}
			return answer(`{"domains":[]}`), nil
		})}))
		_, err := client.Domains(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got, told)
	}
}
