package flyte

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares text with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, string(want), got)
}

// variants are deployments that differ in what a reader of the golden files
// wants to see side by side.
func variants() map[string]Deployment {
	return map[string]Deployment{
		"aws": production(),
		"gcp": NewSingleCluster("ml", V1_16_8, "main").
			WithStorage(GCS("acme-flyte", "acme-ml")).
			WithDatabase(Postgres("10.20.0.3", "flyteadmin").WithPassword(planewright.SecretInCluster("cloudsql", "password"))).
			WithIdentity(GCPServiceAccount("flyte@acme-ml.iam.gserviceaccount.com")).
			WithUserIdentity(GCPServiceAccount("flyte-user@acme-ml.iam.gserviceaccount.com")).
			WithLogLinks(StackdriverLogs("acme-ml")),
		"minio": NewSingleCluster("lab", V1_16_8, "main").
			WithNamespace("ml-lab").
			WithRelease("lab").
			WithStorage(S3Compatible("flyte", "http://minio.minio:9000").WithKeys("flyte", planewright.SecretValue("s3cr3t"))).
			WithDatabase(Postgres("postgres.lab", "flyte").WithTLS(TLSDisable)).
			WithDomains("development").
			WithProjects(NewProject("vision").WithDescription("Images and video")).
			WithResourceTemplate("010_quota.yaml", quotaTemplate).
			WithTemplateVariable("quotaCPU", "32"),
		"placed": minimal().
			WithResources(Resources{CPU: "2", Memory: "4Gi"}, Resources{Memory: "4Gi"}).
			WithPlacement(NewPlacement().
				WithNodeLabel("pool", "platform").
				WithTolerations(Toleration{Key: "dedicated", Value: "platform", Effect: "NoSchedule"}).
				WithPriorityClass("platform-critical").
				WithAffinity(kube.Values{"nodeAffinity": map[string]any{}})).
			WithImageRegistry("registry.acme.example/mirror").
			WithPullSecrets("registry").
			WithLogLinks(CloudWatchLogs("us-east-1", "acme-main")),
	}
}

const quotaTemplate = `apiVersion: v1
kind: ResourceQuota
metadata:
  name: quota
  namespace: {{ namespace }}
spec:
  hard:
    limits.cpu: '{{ quotaCPU }}'
`

func TestGoldenValuesAndManifests(t *testing.T) {
	for name, deployment := range variants() {
		t.Run(name, func(t *testing.T) {
			r := render(t, standIn(t), deployment)
			values, err := yaml.Marshal(r.layers.merged)
			require.NoError(t, err)
			golden(t, name+"/values.yaml", string(values))
			files, err := renderObjects("manifests", r.objects)
			require.NoError(t, err)
			for _, f := range files {
				golden(t, name+"/"+f.Name, string(f.Data))
				assert.NotContains(t, string(f.Data), "hunter2")
				assert.NotContains(t, string(f.Data), "s3cr3t")
			}
		})
	}
}
