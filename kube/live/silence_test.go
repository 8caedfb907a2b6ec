package live_test

import (
	"io"
	"log"
	"os"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNothingIsPrinted goes through what is known to make Helm or client-go
// print: values that are a table on one side only, a failing hook, a broken
// watch, a server that is not there.
func TestNothingIsPrinted(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	release := demo(kube.Values{"greeting": map[string]any{"a": "b"}, "table": "text"})
	release.Chart = chartOf("1.0.0", with(demoFiles(), map[string]string{
		"values.yaml":           "replicas: 1\ngreeting: hello\ntable: {a: {b: c}}\n",
		"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: {{ .Values.greeting.a }}, b: {{ .Values.table }}}\n",
		"templates/deployment.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: hook-failed, helm.sh/hook-output-log-policy: hook-failed}}\n" +
			"spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: \"hook:1\"}]}}}\n",
	}))

	printed := capture(t, func() {
		cluster := fleet.Cluster("dp-1")
		fleet.Fail(kubefake.Call("delete").Kind("Job"), kubefake.ServerError)
		fleet.Fail(kubefake.Call("watch"), kubefake.ServerError, kubefake.Times(2))
		_, _ = cluster.Releases.Apply(ctx, release)
		fleet.Fail(kubefake.Call(""), kubefake.Unreachable)
		_, _ = cluster.Releases.Plan(ctx, release)
		_, _ = fleet.Cluster("dp-1").Facts.Version(ctx)
	})
	assert.Empty(t, printed)
}

// capture returns what is written to stdout and stderr while do runs.
func capture(t *testing.T, do func()) string {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = write, write
	log.SetOutput(write)
	defer func() {
		os.Stdout, os.Stderr = stdout, stderr
		log.SetOutput(stderr)
	}()
	printed := make(chan string)
	go func() {
		data, _ := io.ReadAll(read)
		printed <- string(data)
	}()
	do()
	require.NoError(t, write.Close())
	return <-printed
}
