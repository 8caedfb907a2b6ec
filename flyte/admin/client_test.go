package admin_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clientOf makes a client of a fake, without a network.
func clientOf(t *testing.T, fake *adminfake.Fake, options ...admin.Option) *admin.Client {
	t.Helper()
	client, err := fake.Client(options...)
	require.NoError(t, err)
	return client
}

func TestNewTellsEveryProblem(t *testing.T) {
	for name, tt := range map[string]struct {
		endpoint string
		options  []admin.Option
		want     []string // paths, each with its rule
	}{
		"no endpoint":       {"", nil, []string{"endpoint: is required"}},
		"a gRPC address":    {"dns:///flyte.acme.example:81", nil, []string{`endpoint: must begin with http:// or https://`}},
		"no scheme":         {"flyte.acme.example", nil, []string{`endpoint: must begin with http:// or https://`}},
		"no host":           {"https://", nil, []string{"endpoint: must name a host"}},
		"only a port":       {"http://:8088", nil, []string{"endpoint: must name a host"}},
		"a password in it":  {"https://u:hunter2@flyte.acme.example", nil, []string{"endpoint: must hold no user and password"}},
		"a query":           {"https://flyte.acme.example?x=y", nil, []string{"endpoint: must have no query and no fragment"}},
		"not a URL":         {"https://flyte\x00", nil, []string{"endpoint: must be a URL"}},
		"a CA in DER":       {"https://x", []admin.Option{admin.WithRootCAs([]byte("DER"))}, []string{"rootCAs: must hold a certificate in PEM form"}},
		"retries":           {"https://x", []admin.Option{admin.WithRetries(-1)}, []string{"retries: must not be negative"}},
		"timeout":           {"https://x", []admin.Option{admin.WithTimeout(-1)}, []string{"timeout: must not be negative"}},
		"a header's name":   {"https://x", []admin.Option{admin.WithAuthorizationHeader("a: b")}, []string{"authorizationHeader: must be the name of an HTTP header"}},
		"two of everything": {"x", []admin.Option{admin.WithToken(planewright.SecretValue("t")), admin.WithClientCredentials(admin.ClientCredentials{TokenURL: "ftp://x"})}, []string{"endpoint: must begin with http:// or https://", "clientCredentials.id: is required", "clientCredentials.secret: is required", "clientCredentials.tokenURL: must be a URL that begins with http:// or https://", "token: must not be set together with client credentials"}},
		"two transports":    {"https://x", []admin.Option{admin.WithHTTPClient(&http.Client{}), admin.WithRootCAs([]byte{})}, []string{"httpClient: must not be combined with root CAs or a dial function"}},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := admin.New(tt.endpoint, tt.options...)
			assert.Nil(t, client)
			require.ErrorIs(t, err, planewright.ErrInvalid)
			assert.NotContains(t, err.Error(), "hunter2")
			var problems *planewright.ValidationError
			require.ErrorAs(t, err, &problems)
			assert.Equal(t, "flyteadmin client", problems.Spec)
			var got []string
			for _, p := range problems.Problems {
				got = append(got, p.Path+": "+p.Rule)
				assert.NotEmpty(t, p.Fix)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestAClientPrintsItsEndpointAndNothingElse(t *testing.T) {
	secret := planewright.SecretValue("hunter2")
	client, err := admin.New("https://flyte.acme.example/", admin.WithToken(secret))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, "flyteadmin at https://flyte.acme.example", fmt.Sprintf(verb, client))
	}
	assert.Equal(t, "https://flyte.acme.example", client.Endpoint())
	credentials := admin.ClientCredentials{ID: "installer", Secret: secret}
	assert.Equal(t, "OAuth2 client installer", fmt.Sprintf("%v", credentials))
	assert.Equal(t, "OAuth2 client installer", fmt.Sprintf("%#v", credentials))
}

func TestTheGatewayMayBeBehindAPath(t *testing.T) {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	server := httptest.NewServer(http.StripPrefix("/ml/flyte", fake))
	defer server.Close()
	for _, endpoint := range []string{server.URL + "/ml/flyte", server.URL + "/ml/flyte/"} {
		client, err := admin.New(endpoint)
		require.NoError(t, err)
		require.NoError(t, client.Health(t.Context()))
		project, err := client.Project(t.Context(), "team1")
		require.NoError(t, err)
		assert.Equal(t, admin.Project{ID: "team1", Name: "team1", State: admin.ProjectActive}, project)
		client.CloseIdleConnections()
	}
}

func TestNamesAreEscapedInPaths(t *testing.T) {
	fake := adminfake.New(adminfake.WithProjects("team1"))
	client := clientOf(t, fake)
	scope := admin.WorkflowScope("team1", "production", "train main?x=%2F#1")
	require.NoError(t, client.PutAttributes(t.Context(), scope, admin.ExecutionClusterLabel("gpu")))
	row, err := client.GetAttributes(t.Context(), scope, admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	assert.Equal(t, scope, row.Scope)
	assert.Equal(t, "/api/v1/workflow_attributes/team1/production/train%20main%3Fx=%252F%231", fake.Calls()[0].Path)
}

func TestAPrivateCA(t *testing.T) {
	server := httptest.NewUnstartedServer(adminfake.New())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is told of the client that does not trust it
	server.StartTLS()
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})

	trusting, err := admin.New(server.URL, admin.WithRootCAs(ca))
	require.NoError(t, err)
	require.NoError(t, trusting.Health(t.Context()))

	strict, err := admin.New(server.URL)
	require.NoError(t, err)
	err = strict.Health(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	assert.Contains(t, err.Error(), "; if the certificate is signed by a CA of your own, give it by WithRootCAs")
	var failure *admin.Error
	require.ErrorAs(t, err, &failure)
	assert.False(t, failure.Retryable(), "the certificate will be no better a second later")
}

func TestConnectionsAreOpenedByTheCallersFunction(t *testing.T) {
	server := httptest.NewServer(adminfake.New())
	defer server.Close()
	var asked []string
	client, err := admin.New("http://flyteadmin.flyte:80", admin.WithDialContext(func(ctx context.Context, network, address string) (net.Conn, error) {
		asked = append(asked, network+" "+address)
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}))
	require.NoError(t, err)
	require.NoError(t, client.Health(t.Context()))
	assert.Equal(t, []string{"tcp flyteadmin.flyte:80"}, asked)
	client.CloseIdleConnections()
}

func TestVersionIsReadInBothSpellings(t *testing.T) {
	want := admin.Version{Version: "v1.16.8", Build: "1a2b3c", BuildTime: "2026-07-01"}
	for _, body := range []string{
		`{"control_plane_version":{"Build":"1a2b3c","Version":"v1.16.8","BuildTime":"2026-07-01"}}`,
		`{"controlPlaneVersion":{"Build":"1a2b3c","Version":"v1.16.8","BuildTime":"2026-07-01","more":[1]}}`,
	} {
		got, err := answering(t, http.StatusOK, body).Version(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for body, why := range map[string]string{
		`{}`: "it holds no version", `[]`: "it is no JSON object", `null`: "it is no JSON object", ``: "it is no JSON object",
		`{"control_plane_version":1}`: "field control_plane_version is of another type than expected",
	} {
		_, err := answering(t, http.StatusOK, body).Version(t.Context())
		var failure *admin.Error
		require.ErrorAs(t, err, &failure, body)
		assert.EqualError(t, failure.Err, why)
	}
}

func TestDomains(t *testing.T) {
	domains, err := clientOf(t, adminfake.New(adminfake.WithDomains("test", "live"))).Domains(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []admin.Domain{{ID: "test", Name: "test"}, {ID: "live", Name: "live"}}, domains)
}

func TestZeroOptionsAreTheDefaults(t *testing.T) {
	server := httptest.NewServer(adminfake.New())
	defer server.Close()
	client, err := admin.New(server.URL, admin.WithTimeout(0), admin.WithDialContext(nil), admin.WithHTTPClient(nil), admin.WithRootCAs(nil),
		admin.WithToken(planewright.Secret{}), admin.WithAuthorizationHeader(""))
	require.NoError(t, err)
	_, err = client.Domains(t.Context())
	require.NoError(t, err)
	client.CloseIdleConnections()
}
