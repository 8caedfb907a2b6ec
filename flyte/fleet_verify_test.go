package flyte_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// verify returns the findings of a code.
func (w planesWorld) verify(tb testing.TB, d flyte.Deployment, code string) []planewright.Finding {
	tb.Helper()
	verified, err := d.Verify(tb.Context(), w.env)
	require.NoError(tb, err)
	var found []planewright.Finding
	for _, f := range verified.Findings {
		if f.Code == code {
			found = append(found, f)
		}
	}
	return found
}

// withFlyteadmin replaces the flyteadmin that answers.
func (w planesWorld) withFlyteadmin(fake *adminfake.Fake) planesWorld {
	w.admin = fake
	w.fleet.Configure("control", kubefake.WithHealth(fake))
	return w
}

func TestACanaryShowsWhereExecutionsRun(t *testing.T) {
	t.Parallel()
	plan := adminfake.LaunchPlan{ID: admin.LaunchPlanID{Project: "team1", Domain: "development", Name: "canary.main", Version: "v1"}}
	d := two().WithCanary(flyte.NewCanary("team1", "development", "canary.main"))
	place := func(label string, execution string) string { return d.ExplainLabel(label).ClusterOf(execution) }
	for name, c := range map[string]struct {
		options []adminfake.Option
		want    map[planewright.Severity]int
		cause   string
	}{
		"each label leads where it should": {[]adminfake.Option{
			adminfake.WithPlacement(func(e adminfake.Execution) string { return place(e.Label, e.ID.Name) }),
			adminfake.WithPhases(admin.PhaseRunning, admin.PhaseSucceeded),
		}, map[planewright.Severity]int{planewright.SeverityInfo: 2}, "ran on dp-"},
		"a label leads elsewhere": {[]adminfake.Option{
			adminfake.WithPlacement(func(adminfake.Execution) string { return "dp-2" }),
			adminfake.WithPhases(admin.PhaseSucceeded),
		}, nil, `with label cpu ran on "dp-2", and the label stands for cpu (execution): dp-1 100%`},
		"it fails": {[]adminfake.Option{
			adminfake.WithPlacement(func(e adminfake.Execution) string { return place(e.Label, e.ID.Name) }),
			adminfake.WithPhases(admin.PhaseAborted),
		}, map[planewright.Severity]int{planewright.SeverityError: 2}, "is ABORTED on dp-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPlanesWorld(t, "one", "two").withFlyteadmin(adminfake.New(append(c.options,
				adminfake.WithProjects("team1"), adminfake.WithLaunchPlans(plan))...))
			w.install(t, d)
			found := w.verify(t, d, flyte.CodePlacement)
			severities := map[planewright.Severity]int{}
			text := ""
			for _, f := range found {
				severities[f.Severity]++
				text += f.Cause + "\n"
			}
			if c.want != nil {
				assert.Equal(t, c.want, severities, text)
			}
			assert.Contains(t, text, c.cause)
		})
	}

	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	found := w.verify(t, two(), flyte.CodePlacement)
	require.Len(t, found, 1)
	assert.Equal(t, "which cluster runs what is predicted, not seen", found[0].Cause)
	missing := w.verify(t, d, flyte.CodePlacement)
	require.Len(t, missing, 1)
	assert.Equal(t, "the canary team1/development/canary.main is not registered", missing[0].Cause)
}

func TestVerifyFindsAClusterThatSyncresourcesPassedOver(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	assert.Equal(t, planewright.SeverityUnprobed, w.verify(t, two(), flyte.CodeNamespaces)[0].Severity, "Flyte does not really run here")
	furnish := func(cluster string) {
		for _, name := range []string{"team1-development", "team1-staging", "team1-production"} {
			_, err := w.fleet.Cluster(cluster).Objects.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}})
			require.NoError(t, err)
		}
	}
	furnish("one")
	found := w.verify(t, two(), flyte.CodeNamespaces)
	require.Len(t, found, 1)
	assert.Equal(t, planewright.SeverityError, found[0].Severity)
	assert.Contains(t, found[0].Cause, "cluster two lacks namespaces that others have")
	assert.Contains(t, found[0].Fix, "rollout restart deployment/syncresources")
	furnish("two")
	assert.Empty(t, w.verify(t, two(), flyte.CodeNamespaces))
}

func TestVerifyFindsATokenThatIsNoLongerGood(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	assert.Empty(t, w.verify(t, two(), flyte.CodeToken))
	// Another cluster signed it; what it says of itself is right.
	foreign := w.secret(t, "one", "flyteadmin-token-1")["token"]
	secret := w.object(t, "two", "v1", "Secret", "flyte", "flyteadmin-token-1")
	require.NoError(t, unstructured.SetNestedField(secret.Object, base64.StdEncoding.EncodeToString([]byte(foreign)), "data", "token"))
	_, err := w.fleet.Cluster("two").Objects.Update(t.Context(), secret)
	require.NoError(t, err)
	found := w.verify(t, two(), flyte.CodeToken)
	require.Len(t, found, 1)
	assert.Equal(t, "data plane dp-2 no longer takes the token for one of system:serviceaccount:flyte:flyteadmin", found[0].Cause)
	assert.NotContains(t, found[0].String(), foreign)
}

func TestVerifyReadsTheWebhooksCertificate(t *testing.T) {
	w := newPlanesWorld(t, "one", "two")
	w.install(t, two())
	ends := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	secret := w.object(t, "one", "v1", "Secret", "flyte", "flyte-pod-webhook")
	require.NoError(t, unstructured.SetNestedField(secret.Object, base64.StdEncoding.EncodeToString(selfSigned(t, ends)), "data", "tls.crt"))
	_, err := w.fleet.Cluster("one").Objects.Update(t.Context(), secret)
	require.NoError(t, err)
	for now, want := range map[time.Time]planewright.Severity{
		ends.AddDate(0, 0, -60): "",
		ends.AddDate(0, 0, -10): planewright.SeverityWarning,
		ends.AddDate(0, 0, 1):   planewright.SeverityError,
	} {
		w.env = w.env.WithClock(func() time.Time { return now })
		found := w.verify(t, two(), flyte.CodeCertificate)
		if want == "" {
			assert.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		assert.Equal(t, want, found[0].Severity)
		assert.Contains(t, found[0].Cause, "2027-03-01")
	}
}

// selfSigned is a certificate that ends at a time, as PEM.
func selfSigned(t *testing.T, ends time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhook"}, NotBefore: ends.AddDate(-1, 0, 0), NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestVerifyComparesAnEndpointsCertificateWithItsAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	own := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	w := newPlanesWorld(t, "one")
	w.env = w.env.WithDialer(&net.Dialer{})
	d := func(endpoint flyte.ClusterEndpoint) flyte.Deployment {
		return planes().WithDatabase(flyte.Postgres("127.0.0.1", "flyteadmin").WithPassword(planewright.SecretValue("x"))).
			WithDataplanes(flyte.NewDataplane("dp-1", "one").WithEndpoint(endpoint))
	}
	good := d(flyte.EndpointAt(server.URL).WithCA(own))
	// Nothing but the database is asked before an install.
	w.env = w.env.WithDialer(nil)
	w.install(t, good)
	w.env = w.env.WithDialer(&net.Dialer{})
	for _, f := range w.verify(t, good, flyte.CodeEndpoint) {
		assert.NotEqual(t, planewright.SeverityError, f.Severity, f.Cause)
	}
	bad := d(flyte.EndpointAt(server.URL))
	w.env = w.env.WithDialer(nil)
	w.install(t, bad)
	w.env = w.env.WithDialer(&net.Dialer{})
	var causes []string
	for _, f := range w.verify(t, bad, flyte.CodeEndpoint) {
		if f.Severity == planewright.SeverityError {
			causes = append(causes, f.Cause)
		}
	}
	require.Len(t, causes, 1)
	assert.Contains(t, causes[0], "has a certificate that the authority which flyteadmin is given did not sign")
}
