package flyte

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// valueInTemplate matches what a template names: ".Values.a.b".
var valueInTemplate = regexp.MustCompile(`\.Values\.([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)`)

// tplInTemplate matches what a published template renders as a template:
// "tpl ( .Values.a.b | toYaml )", "tpl .Values.a.b".
var tplInTemplate = regexp.MustCompile(`tpl \(? ?\.Values\.([A-Za-z0-9_.]+)`)

// templates returns the text of the chart's own templates, by name.
func templates(c *kube.Chart) map[string]string {
	list := map[string]string{}
	for _, f := range c.Files() {
		if name, ok := strings.CutPrefix(f.Name, "templates/"); ok && !strings.HasSuffix(name, ".txt") {
			list[name] = string(f.Data)
		}
	}
	return list
}

// binaryFacts is what this package knows about the chart.
func binaryFacts(t *testing.T) Chart {
	t.Helper()
	facts, ok := V1_16_8.Chart(binaryChart)
	require.True(t, ok)
	return facts
}

func TestWhatATemplateReadsIsKnown(t *testing.T) {
	facts := binaryFacts(t)
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
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

func TestWhatIsKnownIsReadByATemplate(t *testing.T) {
	facts := binaryFacts(t)
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		all := ""
		for _, text := range templates(c) {
			all += text
		}
		for _, v := range facts.Values {
			if v.Path == "global" || v.Path == "flyteconnector" {
				// These are for the chart inside the chart.
				continue
			}
			path := splitPath(v.Path)
			read := strings.Contains(all, ".Values."+v.Path)
			if !read {
				// Some is read inside a "with", or by index: by its last keys.
				last := path[len(path)-1]
				read = regexp.MustCompile(`[.]` + regexp.QuoteMeta(last) + `\b|"` + regexp.QuoteMeta(last) + `"`).MatchString(all)
			}
			assert.True(t, read, "no template reads %s", v.Path)
		}
	})
}

func TestWhatIsRenderedAsATemplateIsKnown(t *testing.T) {
	facts := binaryFacts(t)
	c := published(t)
	found := map[string]bool{
		// Named inside a "with" and by index.
		"configuration.database.host":                      true,
		"configuration.storage.providerConfig.s3.endpoint": true,
		"flyte-core-components":                            true,
	}
	for _, text := range templates(c) {
		for _, match := range tplInTemplate.FindAllStringSubmatch(text, -1) {
			found[match[1]] = true
		}
	}
	known := map[string]bool{}
	for _, v := range facts.Values {
		if v.Tpl {
			known[v.Path] = true
		}
	}
	assert.Equal(t, found, known)
}

// everything is a deployment in which everything is said that can be.
func everything() Deployment {
	return production().
		WithStorage(S3Compatible("acme-flyte", "https://minio.acme.internal").
			WithUserDataBucket("acme-flyte-data").WithRegion("eu-1").
			WithKeys("flyte", planewright.SecretValue("s3cr3t"))).
		WithDatabase(Postgres("db.acme.internal", "flyteadmin").WithUser("flyte").WithPort(6432).WithTLS(TLSVerifyFull).
			WithRootCA(testCertificate).WithPassword(planewright.SecretValue("hunter2"))).
		WithDomains("development", "production").
		WithProjects(NewProject("vision"), NewProject("speech").WithDescription("Speech to text")).
		WithResourceTemplate("010_limits.yaml", "apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: limits\n  namespace: '{{ namespace }}'\n").
		WithTemplateVariable("quotaCPU", "32").
		WithRules(Rule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get"}}).
		WithReplicas(1).
		WithResources(Resources{CPU: "1", Memory: "1Gi", EphemeralStorage: "1Gi"}, Resources{CPU: "2", Memory: "2Gi", EphemeralStorage: "2Gi"}).
		WithPlacement(NewPlacement().WithNodeLabel("pool", "platform").WithTolerations(Toleration{Operator: "Exists"}).
			WithPriorityClass("high").WithAffinity(kube.Values{"podAffinity": map[string]any{}})).
		WithImageRegistry("registry.acme.example").
		WithPullSecrets("registry").
		WithLogLinks(CloudWatchLogs("us-east-1", "main"))
}

func TestEveryTypedValueIsReadByTheChart(t *testing.T) {
	facts := binaryFacts(t)
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, d := range map[string]Deployment{
			"everything": everything(), "login": withLogin(production()), "plugins": production().WithPlugins(Spark().WithConfig(kube.Values{"x": "y"}), Ray(), Dask(), Connector("a")), "AWS": production(), "GCP": variants()["gcp"], "minimal": minimal(),
		} {
			l, err := d.layer(binary{d}, c, facts, inputs{database: "1", storage: "1", auth: "1"})
			require.NoError(t, err)
			assert.Empty(t, unread(d.typedValues(l.overlay, l.defaults, revisions{"1", "1", "1"}), facts), name)
		}
	})
}

// TestTheChartsOwnValuesAreKnown reads the chart's values files as if a user
// had given them: what none of its templates reads is named here.
func TestTheChartsOwnValuesAreKnown(t *testing.T) {
	facts := binaryFacts(t)
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for _, file := range []string{"values.yaml", "eks-starter.yaml", "gke-starter.yaml"} {
			values, err := chartFile(c, file)
			require.NoError(t, err)
			assert.Empty(t, unread(values, facts), file)
		}
	})
}

func TestThePublishedChartIsTheOneThatIsPinned(t *testing.T) {
	facts := binaryFacts(t)
	c := published(t)
	assert.Equal(t, facts.Name, c.Name())
	assert.Equal(t, facts.Version, c.Version())
	assert.Equal(t, facts.Digest, c.Digest())
}

func TestTheTableOfValuesIsWellFormed(t *testing.T) {
	files, err := os.ReadDir("charts")
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile("charts/" + f.Name())
		require.NoError(t, err)
		values, err := parseChartValues(string(data))
		require.NoError(t, err)
		assert.True(t, slices.IsSortedFunc(values, func(a, b ChartValue) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) }), "sorted by path")
	}
	_, err = parseChartValues("a.b\tsometimes\tx.yaml")
	assert.ErrorContains(t, err, "line 1")
}
