package flyte

import (
	"strings"
	"testing"
	"text/template"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// nasty are texts that templates or YAML would do something to.
func nasty() []string {
	return []string{
		"{{ .Values.x }}", "{{", "}}", "a {{b}} c", "{{{{", "`{{`", "{{- fail \"x\" -}}", "{{/* gone */}}", "{{ `x` }}",
		"two\nlines {{ x }}\n", "tab\t{{ x }}", "quote ' and \" {{ x }}", "backslash \\ {{ x }}", "unicode \u2028 {{ x }}",
		"long " + strings.Repeat("word {{ x }} ", 40), "trailing space {{ x }} ", ": {{ x }} #", "{{ x }}: y", "- {{ x }}", "null", "{{ x",
	}
}

// surviving is what a text is after it was turned into YAML, rendered as a
// template and read again, as the chart does with it.
func surviving(tb testing.TB, text string) string {
	tb.Helper()
	data, err := yaml.Marshal(map[string]any{"text": text})
	require.NoError(tb, err)
	parsed, err := template.New("").Parse(string(data))
	require.NoError(tb, err, "%q", data)
	var b strings.Builder
	require.NoError(tb, parsed.Execute(&b, nil))
	var read map[string]string
	require.NoError(tb, yaml.Unmarshal([]byte(b.String()), &read), b.String())
	return read["text"]
}

func TestEscapedTextSurvives(t *testing.T) {
	for _, text := range nasty() {
		assert.Equal(t, text, surviving(t, escapeTemplate(text)))
	}
}

func FuzzEscapedTextSurvives(f *testing.F) {
	for _, text := range nasty() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// What YAML itself cannot hold is not the escape's concern.
		data, err := yaml.Marshal(map[string]any{"text": text})
		if err != nil {
			t.Skip()
		}
		var read map[string]string
		if yaml.Unmarshal(data, &read) != nil || read["text"] != text {
			t.Skip()
		}
		assert.Equal(t, text, surviving(t, escapeTemplate(text)))
	})
}

// TestTypedTextReachesFlyteAsItIs puts a text with template signs into every
// typed value that takes free text, and looks for it in what is rendered.
func TestTypedTextReachesFlyteAsItIs(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for _, text := range nasty() {
			d := minimal().
				WithProjects(NewProject("vision").WithDescription(text)).
				WithIdentity(Annotations(map[string]string{"example.com/note": text})).
				WithValues(nil)
			if d.Validate() != nil {
				continue
			}
			r := render(t, c, d)
			assert.Equal(t, text, at(t, r.config("000-core.yaml"), "flyte", "admin", "seedProjectsWithDetails", 0, "description"))
			assert.Equal(t, text, at(t, r.object("ServiceAccount", "-flyte-binary"), "metadata", "annotations", "example.com/note"))
		}
	})
}

func TestRawTextIsRendered(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		d := minimal().WithValuesYAML("deployment: {podLabels: {from: '{{ .Release.Name }}'}}")
		assert.Equal(t, "flyte-backend", at(t, render(t, c, d).object("Deployment", "-flyte-binary"), "spec", "template", "metadata", "labels", "from"))
	})
}

func TestLogLinksKeepTheirVariables(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		r := render(t, c, minimal().WithLogLinks(CloudWatchLogs("us-east-1", "acme-main")))
		logs := at(t, r.config("001-plugins.yaml"), "plugins", "logs")
		assert.Equal(t, true, at(t, logs, "cloudwatch-enabled"))
		assert.Equal(t, "https://console.aws.amazon.com/cloudwatch/home?region=us-east-1#logEventViewer:group=/aws/eks/acme-main/cluster;"+
			"stream=var.log.containers.{{.podName}}_{{.namespace}}_{{.containerName}}-{{.containerId}}.log", at(t, logs, "cloudwatch-template-uri"))

		r = render(t, c, variants()["gcp"])
		logs = at(t, r.config("001-plugins.yaml"), "plugins", "logs")
		assert.Contains(t, at(t, logs, "stackdriver-template-uri"), "%22{{.podName}}%22")
		assert.Contains(t, at(t, logs, "stackdriver-template-uri"), "?project=acme-ml")
	})
}

func TestLogLinksFollowThePartition(t *testing.T) {
	for region, host := range map[string]string{
		"us-east-1": "console.aws.amazon.com", "cn-north-1": "console.amazonaws.cn", "us-gov-west-1": "console.amazonaws-us-gov.com",
	} {
		assert.Contains(t, CloudWatchLogs(region, "main").uri(), "https://"+host+"/", region)
	}
}
