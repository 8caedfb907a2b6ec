package e2e_test

import (
	"context"
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/flyte/admin/adminfake"
)

// flyteadmin serves a flyteadmin in memory over HTTP: no container runs in the
// clusters, and what it would answer has to come from somewhere.
func flyteadmin(t *testing.T) (fake *adminfake.Fake, url string) {
	t.Helper()
	fake = adminfake.New()
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return fake, server.URL
}

// planes runs the example multicluster on the three clusters.
func planes(t *testing.T, source chartSource, adminURL string, args ...string) string {
	t.Helper()
	return runExample(t, "multicluster", strings.Join(planesClusters(), ","), append(append(source.args, "-admin", adminURL), args...)...)
}

// killPlanes runs the example multicluster and kills it after a while.
func killPlanes(t *testing.T, source chartSource, adminURL string, after time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	err := example(ctx, "multicluster", strings.Join(planesClusters(), ","), append(source.args, "-admin", adminURL)...).Run()
	killed := ctx.Err() != nil
	t.Logf("killed after %s: %v (%v)", after.Round(time.Millisecond), killed, err)
	return killed
}

// clientOf is a client of a cluster, with a token of the caller's if there is one.
func clientOf(t *testing.T, cluster, token string) *kubernetes.Clientset {
	t.Helper()
	config, err := world.stack.RESTConfig(cluster)
	require.NoError(t, err)
	if token != "" {
		config = rest.AnonymousClientConfig(config)
		config.BearerToken = token
	}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

func TestAControlPlaneAndTwoDataplanesAreInstalledVerifiedAndFoundUnchanged(t *testing.T) {
	for _, source := range chartSources(t) {
		t.Run(source.name, func(t *testing.T) {
			fake, url := flyteadmin(t)
			start := time.Now()
			out := planes(t, source, url)
			t.Logf("plan, install, verify and a second install took %s", time.Since(start).Round(time.Millisecond))
			assert.Contains(t, out, "verify: working")
			assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)

			lines := map[string]int{}
			for _, cluster := range planesClusters() {
				_, lines[cluster] = calls(t, cluster, 0)
			}
			before := fake.Writes()
			planes(t, source, url)
			for _, cluster := range planesClusters() {
				made, _ := calls(t, cluster, lines[cluster])
				var writes []string
				for _, c := range made {
					if c.persists() {
						writes = append(writes, c.String())
					}
				}
				assert.Empty(t, writes, "a second run persists nothing in %s", cluster)
				t.Logf("a second run (plan, install, verify, install) makes %d calls to %s", len(made), cluster)
			}
			assert.Equal(t, before, fake.Writes(), "and nothing in flyteadmin")

			checkCredentials(t)
			checkLabels(t, fake)
			planes(t, source, url, "-uninstall")
		})
	}
}

// checkCredentials uses the tokens as flyteadmin would.
func checkCredentials(t *testing.T) {
	t.Helper()
	control := clientOf(t, "control", "")
	secret, err := control.CoreV1().Secrets("flyte").Get(t.Context(), "cluster-credentials", metav1.GetOptions{})
	require.NoError(t, err)
	configMap, err := control.CoreV1().ConfigMaps("flyte").Get(t.Context(), "flyte-admin-clusters-config", metav1.GetOptions{})
	require.NoError(t, err)
	var config struct {
		Clusters struct {
			ClusterConfigs []struct {
				Name, Endpoint string
				Enabled        bool
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(configMap.Data["clusters.yaml"]), &config))
	require.Len(t, config.Clusters.ClusterConfigs, 2)
	for i, name := range []string{"dp-1", "dp-2"} {
		own, err := world.stack.RESTConfig(name)
		require.NoError(t, err)
		assert.Equal(t, name, config.Clusters.ClusterConfigs[i].Name)
		assert.Equal(t, own.Host, config.Clusters.ClusterConfigs[i].Endpoint)
		assert.True(t, config.Clusters.ClusterConfigs[i].Enabled)

		// As flyteadmin's own client is made: an endpoint, a token, an authority.
		client, err := kubernetes.NewForConfig(&rest.Config{
			Host: config.Clusters.ClusterConfigs[i].Endpoint, BearerToken: string(secret.Data[name+"_token"]),
			TLSClientConfig: rest.TLSClientConfig{CAData: secret.Data[name+"_cacert"]},
		})
		require.NoError(t, err)
		_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err, "the token of %s lists the namespaces of its own cluster", name)
		for _, other := range planesClusters() {
			if other != name {
				_, err = clientOf(t, other, string(secret.Data[name+"_token"])).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
				assert.True(t, apierrors.IsUnauthorized(err), "%s refuses the token of %s: %v", other, name, err)
			}
		}
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(string(secret.Data[name+"_token"]), ".")[1])
		require.NoError(t, err)
		assert.Contains(t, string(payload), `"sub":"system:serviceaccount:flyte:flyteadmin"`)
	}
}

// checkLabels looks at what was written to flyteadmin.
func checkLabels(t *testing.T, fake *adminfake.Fake) {
	t.Helper()
	client, err := fake.Client()
	require.NoError(t, err)
	rows, err := client.Attributes(t.Context(), admin.KindExecutionClusterLabel)
	require.NoError(t, err)
	assert.Equal(t, []admin.MatchableAttributes{
		{Scope: admin.ProjectDomainScope("team1", "development"), Attributes: admin.ExecutionClusterLabel("cpu")},
		{Scope: admin.WorkflowScope("team1", "production", "train.main"), Attributes: admin.ExecutionClusterLabel("gpu")},
	}, rows)
}

// A process that installs three clusters and is killed leaves whatever it has
// done so far on each. Running it again must end in the state of a run that
// nobody disturbed.
func TestARunOnThreeClustersThatWasKilledIsFinishedByTheNextOne(t *testing.T) {
	source := chartSources(t)[0]
	_, url := flyteadmin(t)
	start := time.Now()
	planes(t, source, url)
	undisturbed := time.Since(start)
	want := map[string]snapshot{}
	for _, cluster := range planesClusters() {
		want[cluster] = takeSnapshot(t, cluster)
	}
	planes(t, source, url, "-uninstall")
	for i := range moments {
		after := undisturbed * time.Duration(i+1) / (moments + 1)
		killPlanes(t, source, url, after)
		out := planes(t, source, url)
		assert.True(t, strings.HasSuffix(out, "second install: no changes\n"), out)
		for _, cluster := range planesClusters() {
			sameLasting(t, want[cluster], takeSnapshot(t, cluster), cluster+" after a kill at "+after.String())
		}
		planes(t, source, url, "-uninstall")
	}
}

// sameLasting compares everything but Helm's records, of which there are as
// many as there were attempts.
func sameLasting(t *testing.T, want, got snapshot, message string) {
	t.Helper()
	const record = "Secret flyte/sh.helm.release.v1."
	for _, key := range got.keys() {
		if strings.HasPrefix(key, record) {
			delete(got, key)
		}
	}
	for _, key := range want.keys() {
		if !strings.HasPrefix(key, record) {
			assert.Equal(t, want[key], got[key], "%s: %s", message, key)
			delete(got, key)
		}
	}
	assert.Empty(t, got.keys(), "%s: nothing is left over", message)
}
