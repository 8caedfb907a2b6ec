package flyte

import (
	"strings"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNamesAreTheCharts compares the names that this package works out with
// those that the chart gives.
func TestNamesAreTheCharts(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		for name, d := range map[string]Deployment{
			"the default":              minimal(),
			"a release of the chart's": minimal().WithRelease("flyte-binary"),
			"a name with it inside":    minimal().WithRelease("my-flyte-binary-one"),
			"a long release":           minimal().WithRelease(strings.Repeat("r", 42)),
			"another name":             minimal().WithValuesYAML("nameOverride: flyte"),
			"another full name":        minimal().WithValuesYAML("fullnameOverride: flyte"),
			"another account":          minimal().WithValuesYAML("serviceAccount: {name: flyte}"),
			"somebody's account":       minimal().WithValuesYAML("serviceAccount: {create: false, name: theirs}"),
			"no account":               minimal().WithValuesYAML("serviceAccount: {create: false}"),
		} {
			r := render(t, c, d)
			deployment := r.object("Deployment", "")
			assert.Equal(t, at(t, deployment, "metadata", "name"), d.fullname(), name)
			assert.Equal(t, at(t, deployment, "spec", "template", "spec", "serviceAccountName"), d.ServiceAccount(), name)
			service := r.object("Service", "-webhook")
			assert.Equal(t, at(t, service, "metadata", "name"), d.fullname()+"-webhook", name)
		}
	})
}

func TestWhatFlyteIsConfiguredWith(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		r := render(t, c, production())
		assert.Equal(t, map[string]any{"host": "db.acme.internal", "port": int64(5432), "dbname": "flyteadmin", "username": "flyte",
			"options": "sslmode=require", "passwordPath": "/etc/flyte/database/password"}, at(t, r.config("002-database.yaml"), "database", "postgres"))
		assert.Equal(t, "s3://acme-flyte-data/data", at(t, r.config("003-storage.yaml"), "propeller", "rawoutput-prefix"))
		assert.Equal(t, "acme-flyte", at(t, r.config("003-storage.yaml"), "storage", "container"))
		assert.Equal(t, true, at(t, r.config("100-inline-config.yaml"), "storage", "enable-multicontainer"), "two buckets")
		assert.NotContains(t, at(t, render(t, c, minimal()).config("100-inline-config.yaml"), "storage"), "enable-multicontainer", "one bucket")
		assert.Equal(t, "arn:aws:iam::123456789012:role/flyte-backend", at(t, r.object("ServiceAccount", ""), "metadata", "annotations", awsRoleAnnotation))
		assert.Nil(t, at(t, render(t, c, minimal()).object("ServiceAccount", ""), "metadata", "annotations"))
		assert.Len(t, at(t, r.config("100-inline-config.yaml"), "cluster_resources", "customData"), 3)

		r = render(t, c, everything())
		assert.Equal(t, "sslmode=verify-full sslrootcert=/etc/flyte/database/ca.crt", at(t, r.config("002-database.yaml"), "database", "postgres", "options"))
		inline := r.config("100-inline-config.yaml")
		assert.Equal(t, "accesskey", at(t, inline, "storage", "stow", "config", "auth_type"))
		assert.Equal(t, "development", at(t, inline, "domains", 0, "id"))
		assert.Equal(t, []any{"vision", "speech"}, at(t, r.config("000-core.yaml"), "flyte", "admin", "seedProjects"))
		storage := at(t, r.config("003-storage.yaml"), "storage", "stow", "config")
		assert.Equal(t, "https://minio.acme.internal", at(t, storage, "endpoint"))
		assert.Equal(t, false, at(t, storage, "disable_ssl"))
		pod := at(t, r.object("Deployment", ""), "spec", "template", "spec")
		assert.Equal(t, map[string]any{"pool": "platform"}, at(t, pod, "nodeSelector"))
		assert.Equal(t, "high", at(t, pod, "priorityClassName"))
		for _, kind := range []string{"containers", "initContainers"} {
			for _, container := range at(t, pod, kind).([]any) {
				assert.Contains(t, at(t, container, "image"), "registry.acme.example/")
			}
		}
		assert.Contains(t, at(t, r.config("001-plugins.yaml"), "plugins", "k8s", "co-pilot", "image"), "registry.acme.example/")
		var rules []string
		for _, rule := range at(t, r.object("ClusterRole", ""), "rules").([]any) {
			for _, resource := range at(t, rule, "resources").([]any) {
				rules = append(rules, resource.(string))
			}
		}
		assert.Contains(t, rules, "limitranges")
		assert.Contains(t, rules, "jobs")
	})
}

// TestTheOverlaysRulesStay: lists replace, so those of the overlay are part of ours.
func TestTheOverlaysRulesStay(t *testing.T) {
	forEachChart(t, func(t *testing.T, c *kube.Chart) {
		t.Helper()
		d := variants()["gcp"].WithRules(Rule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get"}})
		rules, _ := render(t, c, d).layers.merged.Get("rbac.extraRules")
		require.Len(t, rules, 2)
		assert.Equal(t, []any{"serviceaccounts"}, at(t, rules, 0, "resources"))
		assert.Equal(t, []any{"jobs"}, at(t, rules, 1, "resources"))
	})
}

func TestImagesWithoutTheirRegistry(t *testing.T) {
	for given, want := range map[string]string{
		"postgres":                        "library/postgres",
		"bitnami/postgres":                "bitnami/postgres",
		"cr.flyte.org/flyteorg/flyte":     "flyteorg/flyte",
		"localhost:5000/flyte":            "flyte",
		"localhost/flyte":                 "flyte",
		"registry.example.com:5000/a/b/c": "a/b/c",
	} {
		assert.Equal(t, want, withoutRegistry(given), given)
	}
}

func TestPasswordsAreQuotedForConnectionStrings(t *testing.T) {
	for password, want := range map[string]string{
		"hunter2":       "hunter2",
		"p@ss=word&?%":  "p@ss=word&?%",
		"correct horse": "'correct horse'",
		"it's":          `'it\'s'`,
		`back\slash`:    `'back\\slash'`,
		" leading":      "' leading'",
		"tab\tinside":   "'tab\tinside'",
		"line\nbreak":   "'line\nbreak'",
		"trailing\n":    "trailing",
		"trailing \r\n": "'trailing '",
		"grüße":         "grüße",
	} {
		assert.Equal(t, want, connectionString(password), "%q", password)
	}
}

func TestPlainYAML(t *testing.T) {
	for text, want := range map[string]bool{
		"flyte": true, "db.acme.internal": true, "10.0.0.1": true, "::1": true, "user@server": true,
		"": false, "123": false, "1e3": false, "0x10": false, "yes": false, "null": false, "~": false,
		"a: b": false, "a #b": false, "- a": false, "{a": false, " a": false, "a\nb: c": false, "2026-12-01": true,
	} {
		assert.Equal(t, want, plainYAML(text), "%q", text)
	}
}

func TestPartitionsOfRegions(t *testing.T) {
	for region, want := range map[string]string{"us-east-1": "aws", "eu-central-2": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov",
		"us-iso-east-1": "aws-iso", "us-isob-east-1": "aws-iso-b", "eusc-de-east-1": "aws-eusc"} {
		assert.Equal(t, want, awsPartition(region), region)
		assert.Regexp(t, awsRegion, region)
	}
}
