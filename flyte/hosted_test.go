package flyte_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostedAt serves a Flyte on TLS at an address of this machine, and returns
// how it is reached.
func hostedAt(t *testing.T, handler http.Handler) (flyte.HostedFlyte, flyte.HostedEnv) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return flyte.Hosted(server.URL).WithName("acme"), flyte.NewHostedEnv().WithRootCAs(roots)
}

// withLogin is a Flyte that wants a login, of which one client is known.
func withLogin(options ...adminfake.Option) *adminfake.Fake {
	return adminfake.New(append([]adminfake.Option{adminfake.WithAuth(adminfake.Auth{ClientID: "ci", ClientSecret: "correct-horse"})}, options...)...)
}

func ci(secret string) admin.ClientCredentials {
	return admin.ClientCredentials{ID: "ci", Secret: planewright.SecretValue(secret)}
}

func TestAHostedFlyteIsAskedForItsLoginAndItsVersion(t *testing.T) {
	hosted, env := hostedAt(t, withLogin())
	found, err := hosted.WithVersion(flyte.V1_16_8).WithClientCredentials(ci("correct-horse")).Verify(t.Context(), env)
	require.NoError(t, err)
	require.Len(t, found.Findings, 1)
	assert.Equal(t, planewright.SeverityInfo, found.Findings[0].Severity)
	assert.Equal(t, flyte.CodeHealth, found.Findings[0].Code)
	assert.Equal(t, "Flyte v1.16.8 answers", found.Findings[0].Cause)

	found, err = hosted.Verify(t.Context(), env)
	require.NoError(t, err)
	assert.True(t, found.OK())
	assert.Equal(t, []string{flyte.CodeHostedVersion}, codes(found.Findings))
	assert.Equal(t, planewright.SeverityUnprobed, found.Findings[0].Severity, "its version is told only to who is logged in")
}

func TestAHostedFlyteInstallsNothingButTheConfigurationOfItsClients(t *testing.T) {
	hosted, env := hostedAt(t, withLogin())
	path := filepath.Join(t.TempDir(), ".flyte", "config.yaml")
	stack := hosted.On(env).WithSteps(flyte.NewClientConfigFile(path, hosted.ClientConfig()).Step("flyte/acme/client-config"))
	report, err := planewright.Install(t.Context(), stack)
	require.NoError(t, err)
	assert.Equal(t, []string{"flyte/acme/client-config"}, report.Changed())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, `admin:
  authType: Pkce
  endpoint: dns:///`+strings.TrimPrefix(hosted.Endpoint(), "https://")+`
  insecure: false
console:
  endpoint: `+hosted.Endpoint()+`
`, string(text))
	plan, err := planewright.Plan(t.Context(), stack)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestAHostedFlyteThatIsGoneIsAClearErrorBeforeAnythingIsWritten(t *testing.T) {
	gone, env := hostedAt(t, withLogin())
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Close() // nobody listens there any more
	gone = flyte.Hosted(server.URL).WithName(gone.Name())
	path := filepath.Join(t.TempDir(), "config.yaml")
	_, err := planewright.Install(t.Context(), gone.On(env).WithSteps(flyte.NewClientConfigFile(path, gone.ClientConfig()).Step("flyte/acme/client-config")))
	require.Error(t, err)
	require.ErrorContains(t, err, "error [unreachable] HostedFlyte "+server.URL+": nothing answers there, so it may be gone: ")
	require.ErrorContains(t, err, "look whether the address is still right")
	assert.NoFileExists(t, path)
}

func TestWhatDoesNotTellHowToLogInIsNoHostedFlyte(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>welcome</html>") })
	for name, tt := range map[string]struct {
		handler http.Handler
		cause   string
	}{
		"a flyteadmin whose auth is off": {adminfake.New(), "what answers does not tell how to log in, which a hosted Flyte does"},
		"a server of other things":       {http.NotFoundHandler(), "what answers does not tell how to log in, which a hosted Flyte does"},
		"a web page":                     {page, "the answer is not flyteadmin's"},
	} {
		t.Run(name, func(t *testing.T) {
			hosted, env := hostedAt(t, tt.handler)
			found, err := hosted.Verify(t.Context(), env)
			require.NoError(t, err)
			require.Equal(t, []string{flyte.CodeNoDiscovery}, codes(found.Findings))
			assert.Equal(t, planewright.SeverityError, found.Findings[0].Severity)
			assert.Contains(t, found.Findings[0].Cause, tt.cause)
			assert.NotEmpty(t, found.Findings[0].Fix)
		})
	}
}

func TestALoginThatCannotWorkIsTold(t *testing.T) {
	metadata := map[string]any{"token_endpoint": "http://elsewhere.example/token", "code_challenge_methods_supported": []string{"plain"}, "grant_types_supported": []string{"authorization_code"}}
	hosted, env := hostedAt(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/.well-known/oauth-authorization-server" {
			_ = json.NewEncoder(w).Encode(metadata)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	found, err := hosted.WithClientCredentials(ci("correct-horse")).Verify(t.Context(), env)
	require.NoError(t, err)
	require.Equal(t, []string{flyte.CodeLogin}, codes(found.Findings))
	assert.Equal(t, "what it tells of its login lacks a token endpoint on TLS, the id of a public client, an authorization endpoint on TLS, "+
		"where browsers are sent after the login, the challenge S256, which the login Pkce needs and the grant client_credentials", found.Findings[0].Cause)

	devices, env := hostedAt(t, withLogin())
	found, err = devices.WithLogin(flyte.AuthDeviceFlow).Verify(t.Context(), env)
	require.NoError(t, err)
	assert.Contains(t, found.Findings[0].Cause, "an endpoint for devices")
}

func TestCredentialsThatAreRefusedAreTold(t *testing.T) {
	hosted, env := hostedAt(t, withLogin())
	found, err := hosted.WithClientCredentials(ci("battery-staple")).Verify(t.Context(), env)
	require.NoError(t, err)
	require.Equal(t, []string{flyte.CodeLogin}, codes(found.Findings))
	assert.Contains(t, found.Findings[0].Cause, "the client credentials are refused")
	assert.NotContains(t, found.Findings[0].String(), "battery-staple")
}

func TestTheVersionOfAHostedFlyteIsCompared(t *testing.T) {
	for running, want := range map[string]planewright.Severity{
		"v1.16.8": planewright.SeverityInfo,
		"v1.16.2": planewright.SeverityInfo,
		"unknown": planewright.SeverityInfo,
		"v1.14.0": planewright.SeverityWarning,
		"v2.0.42": planewright.SeverityError,
	} {
		hosted, env := hostedAt(t, withLogin(adminfake.WithVersion(running)))
		found, err := hosted.WithVersion(flyte.V1_16_8).WithClientCredentials(ci("correct-horse")).Verify(t.Context(), env)
		require.NoError(t, err)
		require.Len(t, found.Findings, 1, running)
		assert.Equal(t, want, found.Findings[0].Severity, running)
	}
}

func TestBadHostedFlytesSayEverythingThatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		hosted     flyte.HostedFlyte
		path, rule string
	}{
		{flyte.Hosted(""), "endpoint", "an endpoint is a URL of scheme and host"},
		{flyte.Hosted("flyte.acme.example"), "endpoint", "an endpoint is a URL of scheme and host"},
		{flyte.Hosted("https://me:s3cr3t@flyte.acme.example"), "endpoint", "an endpoint has no user, no path and no query"},
		{flyte.Hosted("https://flyte.acme.example/console"), "endpoint", "an endpoint has no user, no path and no query"},
		{flyte.Hosted("http://flyte.acme.example"), "endpoint", "over http tokens can be read on the way"},
		{flyte.Hosted("https://flyte.acme.example").WithName("A B"), "name", "a name is at most 253 lower-case letters, digits, hyphens and dots"},
		{flyte.Hosted("https://flyte.acme.example").WithLogin(flyte.AuthClientSecret), "login", "people log in by Pkce or DeviceFlow"},
	} {
		err := tt.hosted.Validate()
		var invalid *planewright.ValidationError
		require.ErrorAs(t, err, &invalid)
		require.Len(t, invalid.Problems, 1, err)
		assert.Equal(t, tt.path, invalid.Problems[0].Path)
		assert.Equal(t, tt.rule, invalid.Problems[0].Rule)
		assert.NotContains(t, err.Error(), "s3cr3t")
		_, err = planewright.Plan(t.Context(), tt.hosted.On(flyte.NewHostedEnv()))
		require.ErrorIs(t, err, planewright.ErrInvalid)
	}
	require.NoError(t, flyte.Hosted("http://localhost:8088").Validate(), "what does not leave the machine needs no TLS")
	assert.Equal(t, "sandbox.union.ai", flyte.Hosted("https://sandbox.union.ai/").Name())
}

func ExampleHosted() {
	hosted := flyte.Hosted("https://sandbox.union.ai")
	fmt.Println(hosted)
	fmt.Println(hosted.ClientConfig())
	fmt.Println(hosted.Console())
	// Output:
	// hosted flyte sandbox.union.ai: https://sandbox.union.ai
	// dns:///sandbox.union.ai:443 (TLS, login by Pkce)
	// https://sandbox.union.ai/console
}
