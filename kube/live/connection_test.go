package live_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: ml-dev
clusters:
- {name: a, cluster: {server: "https://a.example.com"}}
contexts:
- {name: ml-prod, context: {cluster: a, user: u}}
- {name: ml-dev, context: {cluster: a, user: u}}
users:
- {name: u, user: {token: hunter2}}
`

func writeFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

func TestFromKubeconfig(t *testing.T) {
	file := writeFile(t, kubeconfig)
	cluster, err := live.FromKubeconfig(file, "ml-prod")
	require.NoError(t, err)
	assert.Equal(t, "ml-prod", cluster.Name)
	endpoint, err := cluster.Facts.Endpoint(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "https://a.example.com", endpoint.URL)

	cluster, err = live.FromKubeconfig(file, "")
	require.NoError(t, err)
	assert.Equal(t, "ml-dev", cluster.Name, "the current context")

	contexts, err := live.Contexts(file)
	require.NoError(t, err)
	assert.Equal(t, []string{"ml-dev", "ml-prod"}, contexts)

	t.Setenv("KUBECONFIG", file)
	cluster, err = live.FromKubeconfig("", "ml-prod")
	require.NoError(t, err)
	assert.Equal(t, "ml-prod", cluster.Name)
}

func TestKubeconfigThatCannotBeUsed(t *testing.T) {
	t.Run("a context that does not exist", func(t *testing.T) {
		_, err := live.FromKubeconfig(writeFile(t, kubeconfig), "ml-staging")
		require.ErrorIs(t, err, planewright.ErrNotFound)
		assert.ErrorContains(t, err, "there are the contexts ml-dev, ml-prod")
	})
	t.Run("a file that does not exist", func(t *testing.T) {
		_, err := live.FromKubeconfig(filepath.Join(t.TempDir(), "nowhere"), "a")
		require.ErrorIs(t, err, planewright.ErrNotFound)
	})
	t.Run("a file that is none", func(t *testing.T) {
		_, err := live.Contexts(writeFile(t, "a: [b"))
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
	t.Run("a file without contexts", func(t *testing.T) {
		_, err := live.FromKubeconfig(writeFile(t, "apiVersion: v1\nkind: Config\n"), "")
		require.ErrorIs(t, err, planewright.ErrNotFound)
		assert.ErrorContains(t, err, "no contexts")
	})
	t.Run("a context without its cluster", func(t *testing.T) {
		_, err := live.FromKubeconfig(writeFile(t, "apiVersion: v1\nkind: Config\ncontexts:\n- {name: c, context: {cluster: gone}}\n"), "c")
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
	t.Run("outside of a pod", func(t *testing.T) {
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		_, err := live.InCluster("here")
		require.ErrorIs(t, err, planewright.ErrNotFound)
	})
	t.Run("no configuration at all", func(t *testing.T) {
		_, err := live.FromConfig("", nil)
		require.ErrorIs(t, err, planewright.ErrInvalid)
		_, err = live.FromConfig("a", &rest.Config{})
		require.ErrorIs(t, err, planewright.ErrInvalid)
		_, err = live.FromConfig("a", &rest.Config{Host: "https://a.example.com", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("no certificate")}})
		require.ErrorIs(t, err, planewright.ErrInvalid)
	})
}

// certificate makes a certificate for 127.0.0.1, signed by itself.
func certificate(t *testing.T, from, to time.Time) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody"}, NotBefore: from, NotAfter: to,
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	template.IPAddresses = append(template.IPAddresses, []byte{127, 0, 0, 1})
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// serve starts an API server that answers as the handler does.
func serve(t *testing.T, cert tls.Certificate, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// answer writes a Status as an API server does.
func answer(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Status = metav1.StatusFailure
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

func unauthorized(w http.ResponseWriter, _ *http.Request) {
	answer(w, metav1.Status{Code: 401, Reason: metav1.StatusReasonUnauthorized, Message: "Unauthorized"})
}

func token(expires time.Time) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"exp":%d}`, expires.Unix())) + "." + part("signature")
}

func TestClusterThatCannotBeReached(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good, ca := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	_, otherCA := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	old, oldCA := certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour))
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	plain := httptest.NewServer(http.HandlerFunc(unauthorized))
	t.Cleanup(plain.Close)

	for name, c := range map[string]struct {
		config *rest.Config
		is     error
		retry  bool
		text   string
	}{
		"nobody listens": {&rest.Config{Host: closed.URL}, planewright.ErrUnavailable, true, "nothing listens at 127.0.0.1:"},
		"another certificate authority": {
			&rest.Config{Host: serve(t, good, unauthorized), TLSClientConfig: rest.TLSClientConfig{CAData: otherCA}},
			planewright.ErrUnavailable, false, "is not signed by the configured certificate authority",
		},
		"an expired certificate": {
			&rest.Config{Host: serve(t, old, unauthorized), TLSClientConfig: rest.TLSClientConfig{CAData: oldCA}},
			planewright.ErrUnavailable, false, "renew it",
		},
		"a certificate for other names": {
			&rest.Config{Host: serve(t, good, unauthorized), TLSClientConfig: rest.TLSClientConfig{CAData: ca, ServerName: "api.example.com"}},
			planewright.ErrUnavailable, false, "was made for other names",
		},
		"no TLS": {&rest.Config{Host: "https://" + plain.Listener.Addr().String()}, planewright.ErrUnavailable, false, "does not speak TLS"},
		"no credentials": {
			&rest.Config{Host: serve(t, good, unauthorized), TLSClientConfig: rest.TLSClientConfig{CAData: ca}},
			planewright.ErrDenied, false, "no credentials are configured",
		},
		"an expired token": {
			&rest.Config{Host: serve(t, good, unauthorized), TLSClientConfig: rest.TLSClientConfig{CAData: ca}, BearerToken: token(now.Add(-time.Hour))},
			planewright.ErrDenied, false, "the bearer token expired at ",
		},
		"a token of another cluster": {
			&rest.Config{Host: serve(t, good, unauthorized), TLSClientConfig: rest.TLSClientConfig{CAData: ca}, BearerToken: "hunter2"},
			planewright.ErrDenied, false, "the bearer token is not accepted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := live.FromConfig("ml-prod", c.config)
			require.NoError(t, err, "nothing is sent yet")
			for op, do := range map[string]func() error{
				"version": func() error { _, err := cluster.Facts.Version(inTime(t)); return err },
				"get": func() error {
					_, err := cluster.Objects.Get(inTime(t), kube.Ref{APIVersion: "v1", Kind: "Namespace", Name: "flyte"})
					return err
				},
				"plan": func() error { _, err := cluster.Releases.Plan(inTime(t), demo(nil)); return err },
			} {
				err := do()
				require.ErrorIs(t, err, c.is, op)
				assert.Equal(t, c.retry, retryable(err), op)
				require.ErrorContains(t, err, c.text, op)
				require.ErrorContains(t, err, "ml-prod", op)
				assert.NotContains(t, err.Error(), "hunter2", op)
			}
		})
	}
}

func TestExpiredClientCertificate(t *testing.T) {
	now := time.Now()
	good, ca := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	old, oldPEM := certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour))
	key, err := x509.MarshalPKCS8PrivateKey(old.PrivateKey)
	require.NoError(t, err)
	cluster, err := live.FromConfig("ml-prod", &rest.Config{Host: serve(t, good, unauthorized), TLSClientConfig: rest.TLSClientConfig{
		CAData: ca, CertData: oldPEM, KeyData: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}})
	require.NoError(t, err)
	_, err = cluster.Facts.Version(inTime(t))
	require.ErrorIs(t, err, planewright.ErrDenied)
	assert.ErrorContains(t, err, `the client certificate of "somebody" expired at `)
}

func TestCredentialProgramThatIsNotThere(t *testing.T) {
	good, ca := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	file := writeFile(t, fmt.Sprintf(`
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}]
contexts: [{name: a, context: {cluster: a, user: u}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-program, interactiveMode: Never}}}]
`, serve(t, good, unauthorized), base64.StdEncoding.EncodeToString(ca)))
	cluster, err := live.FromKubeconfig(file, "a")
	require.NoError(t, err)
	_, err = cluster.Facts.Version(inTime(t))
	require.ErrorIs(t, err, planewright.ErrDenied)
	assert.ErrorContains(t, err, `the program "no-such-program"`)
}

// TestWebhooks tells a webhook that is down from one that says no.
func TestWebhooks(t *testing.T) {
	good, ca := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		status metav1.Status
		is     error
		retry  bool
	}{
		"not up yet": {metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError,
			Message: `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://w.svc:443/x": no endpoints available for service "w"`}, planewright.ErrUnavailable, true},
		"starting": {metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError,
			Message: `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://w.svc:443/x": dial tcp 10.0.0.1:443: connect: connection refused`}, planewright.ErrUnavailable, true},
		"broken": {metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError,
			Message: `Internal error occurred: failed calling webhook "w.example.com": expected response.uid="a", got "b"`}, planewright.ErrUnavailable, false},
		"says no": {metav1.Status{Code: 400, Message: `admission webhook "w.example.com" denied the request: not on Fridays`}, planewright.ErrDenied, false},
		"says no with a five": {metav1.Status{Code: 500, Message: `admission webhook "w.example.com" denied the request: connection refused by policy`},
			planewright.ErrDenied, false},
		"forbids": {metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `admission webhook "w.example.com" denied the request: no`}, planewright.ErrDenied, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, err := live.FromConfig("ml-prod", &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: ca}, Host: serve(t, good, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/api":
					_, _ = fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
				case "/apis":
					_, _ = fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
				case "/api/v1":
					_, _ = fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["get"]}]}`)
				default:
					answer(w, c.status)
				}
			})})
			require.NoError(t, err)
			_, err = cluster.Objects.Apply(inTime(t), parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: flyte}}"), kube.ApplyOptions{})
			require.ErrorIs(t, err, c.is)
			assert.Equal(t, c.retry, retryable(err), "%v", err)
		})
	}
}

func TestWarningsGoToTheLogger(t *testing.T) {
	good, ca := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	var logged bytes.Buffer
	config := &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: ca}, Host: serve(t, good, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Warning", `299 - "that is deprecated"`)
		_, _ = fmt.Fprint(w, `{"gitVersion":"v1.29.3-eks-1","major":"1","minor":"29+"}`)
	})}
	cluster, err := live.FromConfig("ml-prod", config, live.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
	require.NoError(t, err)
	version, err := cluster.Facts.Version(inTime(t))
	require.NoError(t, err)
	assert.Equal(t, kube.Version{Git: "v1.29.3-eks-1", Major: 1, Minor: 29}, version)
	assert.Contains(t, logged.String(), "that is deprecated")
	assert.Nil(t, config.WarningHandlerWithContext, "the caller's config stays as it is")
}
