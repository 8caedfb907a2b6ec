package flyte

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/internal/testcharts"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forEachChart2 runs a test on the stand-in of Flyte 2's chart, and on the
// published one where it is to be had.
func forEachChart2(t *testing.T, test func(t *testing.T, c *kube.Chart)) {
	t.Helper()
	ref := kube.ChartRef{Name: binaryChart, Version: "v2.0.42"}
	t.Run("stand-in", func(t *testing.T) {
		c, err := live.ChartFS(testcharts.Flyte2(), ".").Chart(t.Context(), ref)
		require.NoError(t, err)
		test(t, c)
	})
	t.Run("published", func(t *testing.T) {
		folder := os.Getenv(chartsVariable)
		if folder == "" {
			t.Skipf("%s is not set, so the published chart is not tried", chartsVariable)
		}
		c, err := live.ChartArchive(filepath.Join(folder, "flyte-binary-v2.0.42.tgz")).Chart(t.Context(), ref)
		require.NoError(t, err)
		test(t, c)
	})
}

func flyte2Facts(t *testing.T) Chart {
	t.Helper()
	facts, ok := V2_0_42.Chart(binaryChart)
	require.True(t, ok)
	return facts
}

// everything2 is a deployment in which everything is said that Flyte 2 has a place for.
func everything2() Deployment {
	return NewSingleCluster("ml", V2_0_42, "main").
		WithStorage(S3Compatible("acme-flyte", "https://minio.acme.internal").
			WithUserDataBucket("acme-flyte-data").WithRegion("eu-1").
			WithKeys("flyte", planewright.SecretValue("s3cr3t"))).
		WithDatabase(Postgres("db.acme.internal", "flyte").WithUser("flyte").WithPort(6432).WithTLS(TLSVerifyFull).
			WithRootCA(testCertificate).WithPassword(planewright.SecretValue("hunter2"))).
		WithIdentity(AWSRole("arn:aws:iam::123456789012:role/flyte")).
		WithRules(Rule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get"}}).
		WithResources(Resources{CPU: "1", Memory: "1Gi"}, Resources{Memory: "2Gi"}).
		WithPlacement(NewPlacement().WithNodeLabel("pool", "platform")).
		WithImageRegistry("registry.acme.example").
		WithPullSecrets("registry").
		WithLogLinks(CloudWatchLogs("us-east-1", "main"))
}

func TestEveryTypedValueIsReadByTheChartOfFlyte2(t *testing.T) {
	facts := flyte2Facts(t)
	require.NoError(t, everything2().Validate())
	forEachChart2(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, d := range map[string]Deployment{"everything": everything2(), "GCP": everything2().WithStorage(GCS("acme-flyte", "acme-project"))} {
			l, err := d.layer(d.single(), c, facts, inputs{database: "1", storage: "1"})
			require.NoError(t, err)
			typed := d.single().typed(l.overlay, l.defaults, inputs{database: "1", storage: "1"})
			assert.Empty(t, unread(typed, facts), name)
		}
		own, err := chartFile(c, "values.yaml")
		require.NoError(t, err)
		var left []string
		for _, path := range unread(own, facts) {
			// Flyte 2 kept these from Flyte 1; nothing reads them.
			if !path.within(splitPath("deployment.genAdminAuthSecret")) && !path.within(splitPath("configuration.connectorService")) {
				left = append(left, path.String())
			}
		}
		assert.Empty(t, left, "the chart's own values are known")
	})
}

func TestWhatTheTemplatesOfFlyte2ReadIsKnown(t *testing.T) {
	facts := flyte2Facts(t)
	forEachChart2(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, text := range templates(c) {
			for _, match := range valueInTemplate.FindAllStringSubmatch(text, -1) {
				path := splitPath(match[1])
				known := slices.ContainsFunc(facts.Values, func(v ChartValue) bool {
					return path.within(splitPath(v.Path)) || splitPath(v.Path).within(path)
				})
				assert.True(t, known, "templates/%s reads %s", name, match[1])
			}
		}
	})
}

func TestWhatIsKnownOfFlyte2IsReadByATemplate(t *testing.T) {
	facts := flyte2Facts(t)
	forEachChart2(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		if c.Digest() == "" {
			t.Skip("the stand-in reads what this package sets, not all that can be set")
		}
		assert.Equal(t, facts.Digest, c.Digest())
		all := strings.Join(slices.Collect(func(yield func(string) bool) {
			for _, text := range templates(c) {
				if !yield(text) {
					return
				}
			}
		}), "\n")
		for _, v := range facts.Values {
			if v.Path == "global" || v.Path == "flyteconnector" {
				continue // These are for the chart inside the chart.
			}
			last := v.Path[strings.LastIndex(v.Path, ".")+1:]
			read := strings.Contains(all, ".Values."+v.Path) ||
				regexp.MustCompile(`[.]`+regexp.QuoteMeta(last)+`\b|"`+regexp.QuoteMeta(last)+`"`).MatchString(all)
			assert.True(t, read, "no template reads %s", v.Path)
		}
	})
}
