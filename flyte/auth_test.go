package flyte_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const machineText = "Xk2v-machines-9tRq"

func login(issuer string) flyte.Auth {
	return flyte.OIDC(issuer, "0oa1flyte", planewright.SecretValue("Pq7z-people-4mLw"), planewright.SecretValue(machineText+"\n"))
}

// provider is an identity provider that says it has an issuer, and gives the
// client machines a token.
func provider(tb testing.TB, issuer func(address string) string) *httptest.Server {
	tb.Helper()
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/openid-configuration", "/oauth2/flyte/.well-known/oauth-authorization-server":
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": issuer(server.URL),
				"authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token"})
		case "/token":
			id, secret, _ := r.BasicAuth()
			if id != "0oa2machines" || secret != machineText || r.FormValue("grant_type") != "client_credentials" || r.FormValue("audience") != "https://flyte.acme.example" {
				w.WriteHeader(http.StatusUnauthorized)
				_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client"})
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "a-token-of-the-provider", "token_type": "Bearer", "expires_in": 600})
		default:
			http.NotFound(w, r)
		}
	}))
	tb.Cleanup(server.Close)
	return server
}

func itself(address string) string { return address }

// staticClients reads the OAuth2 clients as flyteadmin does: bytes from base64.
func staticClients(tb testing.TB, file string) map[string]struct {
	ID     string `json:"id"`
	Public bool   `json:"public"`
	Secret []byte `json:"client_secret"`
} {
	tb.Helper()
	var config struct {
		Auth struct {
			AppAuth struct {
				SelfAuthServer struct {
					StaticClients map[string]struct {
						ID     string `json:"id"`
						Public bool   `json:"public"`
						Secret []byte `json:"client_secret"`
					} `json:"staticClients"`
				} `json:"selfAuthServer"`
			} `json:"appAuth"`
		} `json:"auth"`
	}
	require.NoError(tb, yaml.Unmarshal([]byte(file), &config))
	return config.Auth.AppAuth.SelfAuthServer.StaticClients
}

// Each plane has the machine secret, flyteadmin its hash; a second install
// hashes nothing anew, and another secret replaces the pods.
func TestALoginInPlanes(t *testing.T) {
	p := provider(t, itself)
	w := newPlanesWorld(t, "one", "two").withFlyteadmin(adminfake.New(adminfake.WithProjects("team1"),
		adminfake.WithAuth(adminfake.Auth{ClientSecret: machineText})))
	w.env = w.env.WithHTTPClient(p.Client())
	d := two().WithAuth(login(p.URL))
	w.install(t, d)

	control := w.secret(t, "control", "flyte-secret-auth")
	assert.Equal(t, "Pq7z-people-4mLw", control["oidc_client_secret"])
	assert.Equal(t, machineText, control["client_secret"], "without the line's end")
	clients := staticClients(t, control["015-planewright-auth.yaml"])
	require.NoError(t, bcrypt.CompareHashAndPassword(clients["flytepropeller"].Secret, []byte(machineText)))
	assert.True(t, clients["flytectl"].Public)
	assert.Len(t, clients, 3)
	for _, cluster := range []string{"one", "two"} {
		assert.Equal(t, map[string]string{"client_secret": machineText}, w.secret(t, cluster, "flyte-secret-auth"), "a data plane gets no more than it needs")
	}

	before := w.writes()
	plan := w.plan(t, d)
	planewright.AssertNoChanges(t, plan)
	w.install(t, d)
	assert.Equal(t, before, w.writes(), "nothing is hashed anew")
	assert.NotContains(t, plan.String(), machineText)

	other := d.WithAuth(flyte.OIDC(p.URL, "0oa1flyte", planewright.SecretValue("Pq7z-people-4mLw"), planewright.SecretValue("another-machine-secret")))
	w.env = w.env.WithoutAdmin() // The fake knows one secret for ever.
	w.install(t, other)
	clients = staticClients(t, w.secret(t, "control", "flyte-secret-auth")["015-planewright-auth.yaml"])
	require.NoError(t, bcrypt.CompareHashAndPassword(clients["flytepropeller"].Secret, []byte("another-machine-secret")))
	assert.Equal(t, "another-machine-secret", w.secret(t, "two", "flyte-secret-auth")["client_secret"])

	_, err := planewright.Uninstall(t.Context(), other.On(w.env))
	require.NoError(t, err)
	for _, cluster := range w.fleet.Names() {
		_, err := w.fleet.Cluster(cluster).Objects.Get(t.Context(), secretRef("flyte-secret-auth"))
		require.ErrorIs(t, err, planewright.ErrNotFound)
	}
}

// The projects and labels of an install are written by a client that is logged
// in as machines are, with a token that flyteadmin checks.
func TestAnInstallLogsInAtFlyteadmin(t *testing.T) {
	fake := adminfake.New(adminfake.WithAuth(adminfake.Auth{ClientSecret: machineText}))
	w := newPlanesWorld(t, "one", "two")
	w.fleet = kubefake.NewFleet().Add("control", kubefake.WithHealth(fake), kubefake.WithLoadBalancers(0), kubefake.WithObjects(ingressClass("alb", "ingress.k8s.aws/alb")))
	t.Cleanup(w.fleet.Close)
	for _, name := range []string{"one", "two"} {
		w.fleet.Add(name, kubefake.WithObjects(podWebhook()))
	}
	for _, name := range w.fleet.Names() {
		w.env = w.env.WithClusters(w.fleet.Cluster(name))
	}
	d := two().WithAuth(login("https://idp.acme.example")).WithLabelMap(labels().WithProject("team1", "development", "gpu"))
	_, err := d.Install(t.Context(), w.env)
	require.NoError(t, err)
	client, err := fake.Client(admin.WithClientCredentials(admin.ClientCredentials{ID: "flytepropeller", Secret: planewright.SecretValue(machineText)}))
	require.NoError(t, err)
	rows, err := client.Attributes(t.Context(), admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	assert.Len(t, rows, 1)

	// Without the secret that flyteadmin has, it does not say what is there. The
	// releases are to change, so that is not known before they have.
	wrong := d.WithAuth(flyte.OIDC("https://idp.acme.example", "0oa1flyte", planewright.SecretValue("x"), planewright.SecretValue("not-what-flyteadmin-has")))
	plan, err := wrong.Plan(t.Context(), w.env)
	require.NoError(t, errorOf(plan, err))
	assert.Equal(t, planewright.ActionUnknown, actions(plan)["flyte/ml/projects"])
	_, err = wrong.Install(t.Context(), w.env, planewright.WithAttempts(1))
	require.ErrorIs(t, err, planewright.ErrDenied)
	assert.NotContains(t, err.Error(), "not-what-flyteadmin-has")
}

// A token that the provider gives for client credentials is taken by a server
// that knows the provider's tokens.
func TestATokenOfAnotherServer(t *testing.T) {
	p := provider(t, itself)
	fake := adminfake.New(adminfake.WithProjects("team1"), adminfake.WithAuth(adminfake.Auth{ClientSecret: "unused", Tokens: []string{"a-token-of-the-provider"}}))
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	for secret, want := range map[string]error{machineText: nil, "wrong": planewright.ErrDenied} {
		client, err := admin.New(server.URL, admin.WithHTTPClient(p.Client()), admin.WithClientCredentials(admin.ClientCredentials{
			ID: "0oa2machines", Secret: planewright.SecretValue(secret), Audience: "https://flyte.acme.example", TokenURL: p.URL + "/token"}))
		require.NoError(t, err)
		_, err = client.Projects(t.Context())
		require.ErrorIs(t, err, want)
		if err != nil {
			assert.NotContains(t, err.Error(), machineText)
		}
	}
}

func TestAProviderIsAskedBeforeAnInstall(t *testing.T) {
	for name, c := range map[string]struct {
		issuer func(string) string
		auth   func(flyte.Auth, string) flyte.Auth
		cause  string
	}{
		"a slash too many": {func(address string) string { return address + "/" }, nil, "byte by byte"},
		"no answer at the authorization server": {itself, func(a flyte.Auth, address string) flyte.Auth {
			return a.WithAuthServer(flyte.ExternalAuthServer(address+"/oauth2/other", "0oa2machines", "0oa3flytectl"))
		}, "the authorization server does not answer as one: GET"},
		"all is well": {itself, func(a flyte.Auth, address string) flyte.Auth {
			return a.WithAuthServer(flyte.ExternalAuthServer(address+"/oauth2/flyte", "0oa2machines", "0oa3flytectl"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := provider(t, c.issuer)
			w := newPlanesWorld(t, "one", "two")
			w.env = w.env.WithHTTPClient(p.Client())
			auth := login(p.URL)
			if c.auth != nil {
				auth = c.auth(auth, p.URL)
			}
			before := w.writes()
			plan, err := two().WithAuth(auth).Plan(t.Context(), w.env)
			require.NoError(t, err)
			codes := map[string]string{}
			for _, f := range plan.Findings() {
				codes[f.Code] = f.Cause
			}
			if c.cause == "" {
				require.NoError(t, plan.Err())
				assert.NotContains(t, codes, flyte.CodeIssuer)
				assert.Contains(t, codes[flyte.CodeAuthorization], "any project")
				assert.Contains(t, codes[flyte.CodeRedirectURI], "https://flyte.acme.example/callback")
				return
			}
			assert.Contains(t, codes[flyte.CodeIssuer], c.cause)
			_, err = two().WithAuth(auth).Install(t.Context(), w.env)
			require.Error(t, err)
			assert.Equal(t, before, w.writes(), "nothing is touched")
		})
	}
	w := newPlanesWorld(t, "one", "two")
	plan := w.plan(t, two().WithAuth(login("https://idp.acme.example")))
	assert.Contains(t, plan.String(), "was not asked")
}

func TestASecretThatEverybodyKnowsIsRefused(t *testing.T) {
	for text, problem := range map[string]string{
		"foobar":                "is the one that Flyte's charts publish",
		" \n":                   "is empty",
		strings.Repeat("x", 73): "is longer than 72 bytes",
	} {
		w := newPlanesWorld(t, "one", "two")
		d := two().WithAuth(flyte.OIDC("https://idp.acme.example", "0oa1flyte", planewright.SecretValue("Pq7z"), planewright.SecretValue(text)))
		plan, err := d.Plan(t.Context(), w.env)
		err = errorOf(plan, err)
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, problem)
	}
}

func secretRef(name string) kube.Ref {
	return kube.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "flyte", Name: name}
}

// secretText reads the content of a Secret of the one cluster.
func secretText(tb testing.TB, w world, name string) map[string]string {
	tb.Helper()
	obj, err := w.cluster.Objects.Get(tb.Context(), secretRef(name))
	require.NoError(tb, err)
	data, _, _ := unstructured.NestedStringMap(obj.Object, "data")
	content := map[string]string{}
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value)
		require.NoError(tb, err)
		content[key] = string(text)
	}
	return content
}

func errorOf(plan *planewright.ExecutionPlan, err error) error {
	if err != nil {
		return err
	}
	return plan.Err()
}

func TestWhatIsWrongWithALoginIsToldAtOnce(t *testing.T) {
	d := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").
		WithStorage(flyte.S3("acme-flyte", "us-east-1").WithKeysFromSecret("keys")).
		WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithTLS(flyte.TLSDisable)).
		WithAuth(flyte.OIDC("http://user:hunter2@idp.acme.example/.well-known/openid-configuration", "an id", planewright.Secret{}, planewright.SecretInCluster("x", "y")).
			WithScopes("email", "two words"))
	err := d.Validate()
	list, ok := errors.AsType[*planewright.ValidationError](err)
	require.True(t, ok)
	var paths []string
	for _, p := range list.Problems {
		paths = append(paths, p.Path)
		assert.NotEmpty(t, p.Fix, p.Path)
	}
	assert.Equal(t, []string{"auth.issuer", "auth.clientID", "auth.clientSecret", "auth.machineSecret", "auth", "auth.scopes[1]", "auth.scopes", "auth"}, paths)
	assert.NotContains(t, err.Error(), "hunter2")
}

// The keys of the storage and the hash share the one Secret with configuration
// that the chart flyte-binary takes.
func TestALoginOnOneCluster(t *testing.T) {
	for name, storage := range map[string]flyte.Storage{
		"flyte-auth":    flyte.S3("acme-flyte", "us-east-1"),
		"flyte-storage": flyte.S3("acme-flyte", "us-east-1").WithKeys("AKIA", planewright.SecretValue("s3cr3t")),
	} {
		t.Run(name, func(t *testing.T) {
			forEachSource(t, func(t *testing.T, w world) {
				t.Helper()
				d := flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").WithRelease("flyte").WithStorage(storage).
					WithDatabase(flyte.Postgres("db.acme.internal", "flyteadmin").WithPassword(planewright.SecretValue("hunter2"))).
					WithHost("flyte.acme.example").WithIngress(flyte.NGINX("flyte-tls")).
					WithAuth(login("https://idp.acme.example"))
				_, err := d.Install(t.Context(), w.env)
				require.NoError(t, err)
				clients := staticClients(t, secretText(t, w, name)["015-planewright-auth.yaml"])
				require.NoError(t, bcrypt.CompareHashAndPassword(clients["flytepropeller"].Secret, []byte(machineText)))
				assert.Equal(t, machineText, secretText(t, w, "flyte-auth")["client_secret"])
				assert.Equal(t, "Pq7z-people-4mLw", secretText(t, w, "flyte-auth")["oidc_client_secret"])
				plan, err := d.Plan(t.Context(), w.env)
				require.NoError(t, err)
				planewright.AssertNoChanges(t, plan)
			})
		})
	}
}

// Clients of a deployment with a login open a browser.
func TestTheClientsOfADeploymentWithALogin(t *testing.T) {
	text, err := two().WithAuth(login("https://idp.acme.example")).ClientConfig().YAML()
	require.NoError(t, err)
	assert.Contains(t, string(text), "authType: Pkce")
	assert.Contains(t, string(text), "endpoint: dns:///flyte.acme.example")
	assert.Equal(t, "https://flyte.acme.example/callback", two().RedirectURI())
	assert.Equal(t, "no login", flyte.Auth{}.String())
}
