package flyte

import (
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheNearestValues(t *testing.T) {
	facts := binaryFacts(t)
	for path, want := range map[string][]string{
		"configuration.databse.host":   {"configuration.database.host"},
		"deployment.image.tags":        {"deployment.image.tag"},
		"deployment.podLabel.team":     {"deployment.podLabels"},
		"deployment.resource.limits":   {"deployment.resources"},
		"database.host":                {"configuration.database.host"},
		"host":                         {"configuration.database.host", "ingress.host"},
		"service.port.http":            {"service.ports.http"},
		"serviceaccount.annotations.x": {"serviceAccount.annotations"},
		"replicas":                     nil,
		"something.else.entirely":      nil,
	} {
		assert.Equal(t, want, nearest(splitPath(path), facts), path)
	}
}

func TestUnreadValues(t *testing.T) {
	facts := binaryFacts(t)
	for text, want := range map[string][]string{
		"configuration: {database: {host: x}}":                  nil,
		"configuration: {inline: {anything: {goes: here}}}":     nil,
		"configuration: null":                                   nil,
		"ingress: {}":                                           nil,
		"flyteconnector: {enabled: true, image: {tag: x}}":      nil,
		"global: {x: 1}":                                        nil,
		"configuration: {database: {hots: x, port: 1}}":         {"configuration.database.hots"},
		"deployment: {replicas: 2, image: {tag: a, digest: b}}": {"deployment.image.digest", "deployment.replicas"},
		"extra: [{a: 1}]":                                       {"extra[0].a"},
	} {
		values, err := kube.ParseValues([]byte(text))
		require.NoError(t, err)
		var got []string
		for _, path := range unread(values, facts) {
			got = append(got, path.String())
		}
		assert.Equal(t, want, got, text)
	}
	values, err := kube.ParseValues([]byte("anything: 1"))
	require.NoError(t, err)
	assert.Empty(t, unread(values, Chart{}), "of a chart of which nothing is known nothing is said")
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"abc", "abc", 0}} {
		assert.Equal(t, c.want, distance(c.a, c.b))
		assert.Equal(t, c.want, distance(c.b, c.a))
	}
}

func TestATrapSaysMoreThanThatAValueIsUnread(t *testing.T) {
	d := minimal().WithValuesYAML("deployment: {replicas: 2}\nconfigmap: {admin: {endpoint: x}}\nconfiguration: {database: {password: hunter2}}")
	for _, c := range []struct {
		deployment Deployment
		unread     planewright.Severity
	}{{d, planewright.SeverityWarning}, {d.WithStrictValues(), planewright.SeverityError}} {
		severities := map[string]planewright.Severity{}
		for _, f := range c.deployment.rawFindings(binaryFacts(t)) {
			assert.Equal(t, CodeTrap, f.Code)
			assert.NotContains(t, f.String(), "hunter2")
			path, _, _ := strings.Cut(strings.TrimPrefix(f.Cause, "the raw value "), ":")
			severities[path] = f.Severity
		}
		assert.Equal(t, map[string]planewright.Severity{
			"deployment.replicas":             c.unread,
			"configmap":                       c.unread,
			"configuration.database.password": planewright.SeverityWarning, // It is read.
		}, severities)
	}
}
