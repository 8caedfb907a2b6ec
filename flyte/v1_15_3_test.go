package flyte

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// publishedOf loads the archive of a published chart as a version pins it.
func publishedOf(t *testing.T, version Version, name string) (*kube.Chart, Chart) {
	t.Helper()
	folder := os.Getenv(chartsVariable)
	if folder == "" {
		t.Skipf("%s is not set, so the published charts are not tried", chartsVariable)
	}
	facts, ok := version.Chart(name)
	require.True(t, ok)
	c, err := live.ChartArchive(filepath.Join(folder, name+"-"+facts.Version+".tgz")).Chart(t.Context(), facts.ref())
	require.NoError(t, err)
	return c, facts
}

// onV1_15_3 are deployments of the older version that say much.
func onV1_15_3() map[string]Deployment {
	single := everything().WithStorage(S3("acme-flyte", "us-east-1"))
	inPlanes := everythingInPlanes().WithStorage(S3("acme-flyte", "us-east-1").WithUserDataBucket("acme-flyte-data"))
	return map[string]Deployment{
		binaryChart: single.WithVersion(V1_15_3).WithHost("flyte.acme.example").WithIngress(ALB(ingressCertificate)),
		coreChart:   inPlanes.WithVersion(V1_15_3),
	}
}

func TestTheChartsOfV1_15_3AreKnown(t *testing.T) {
	for name := range onV1_15_3() {
		t.Run(name, func(t *testing.T) {
			c, facts := publishedOf(t, V1_15_3, name)
			assert.Equal(t, facts.Digest, c.Digest(), "the published one is the one that is pinned")
			all := ""
			for file, text := range templates(c) {
				all += text
				for _, match := range valueInTemplate.FindAllStringSubmatch(text, -1) {
					path := splitPath(match[1])
					known := slices.ContainsFunc(facts.Values, func(v ChartValue) bool {
						return path.within(splitPath(v.Path)) || splitPath(v.Path).within(path)
					})
					assert.True(t, known || match[1] == "nameOverride" || match[1] == "forceNamespace", "templates/%s reads %s", file, match[1])
				}
			}
			for _, v := range facts.Values {
				if v.Path == "global" || v.Path == "flyteagent" {
					// These are for the chart inside the chart.
					continue
				}
				path := splitPath(v.Path)
				last := regexp.QuoteMeta(path[len(path)-1])
				read := strings.Contains(all, ".Values."+v.Path) || regexp.MustCompile(`[.]`+last+`\b|"`+last+`"`).MatchString(all)
				assert.True(t, read, "no template reads %s", v.Path)
			}
		})
	}
}

func TestEveryTypedValueIsReadByTheChartsOfV1_15_3(t *testing.T) {
	in := inputs{database: "1", storage: "1", credentials: "1", catalog: "lb.example:89", endpoints: map[string]string{}}
	for name, d := range onV1_15_3() {
		t.Run(name, func(t *testing.T) {
			c, facts := publishedOf(t, V1_15_3, name)
			require.NoError(t, d.Validate())
			views := []view{{Deployment: d, recipe: binary{d}, id: "release"}}
			if d.inPlanes() {
				views = d.views()
			}
			for _, v := range views {
				l, err := v.layer(v.recipe, c, facts, in)
				require.NoError(t, err)
				typed := v.recipe.typed(l.overlay, l.defaults, in)
				for _, path := range unread(typed, facts) {
					value, _ := typed.Get(path.String())
					assert.Nil(t, value, "%s: no template reads %s", v.id, path)
				}
				objects := renderChart(t, kube.Release{Name: v.release, Namespace: v.namespace, Chart: c, Values: l.merged})
				assert.Empty(t, placeholdersIn("x", objects), v.id)
			}
		})
	}
}

func TestWhatV1_15_3CannotDoIsRefused(t *testing.T) {
	err := everythingInPlanes().WithVersion(V1_15_3).Validate()
	require.ErrorContains(t, err, "storage.keys")
	require.ErrorContains(t, err, "flyte-core v1.15.3 reads its storage's configuration from no Secret")
	assert.NoError(t, everything().WithVersion(V1_15_3).Validate(), "flyte-binary does")
}
