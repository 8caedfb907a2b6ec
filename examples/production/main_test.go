package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestFlyteIsInstalledBehindAnIngressAndReached(t *testing.T) {
	for name, args := range map[string][]string{
		"nginx":                 nil,
		"nginx and flyte-core":  {"-core"},
		"an ALB":                {"-ingress", "alb"},
		"an ALB and flyte-core": {"-ingress", "alb", "-core"},
		"Traefik":               {"-ingress", "traefik", "-core"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, args...)
			assert.Equal(t, program.ExitOK, code, stderr)
			assert.Empty(t, stderr)
			for _, line := range []string{
				"next: let flyte.acme.example lead to Flyte by the DNS record: flyte.acme.example. CNAME ingress.flyte.main.example.",
				"flyteadmin answers gRPC through the ingress at flyte.acme.example:443",
				"verify: working, ", " 0 errors, 0 warnings",
			} {
				assert.Contains(t, stdout, line)
			}
			assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
			assert.NotContains(t, stdout, "made-up-FLYTE_DB")
		})
	}
}

func TestAnIngressIsRenderedForReview(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "-render", folder, "-ingress", "alb", "-internet-facing")
	require.Equal(t, program.ExitOK, code, stderr)
	data, err := os.ReadFile(filepath.Join(folder, "release/manifests/ingress-flyte-backend-flyte-binary-grpc.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(data), "alb.ingress.kubernetes.io/backend-protocol-version: GRPC")
	assert.Contains(t, string(data), "alb.ingress.kubernetes.io/scheme: internet-facing")
}

func TestWhatIsWrongIsSaidAtOnceAndNothingIsTouched(t *testing.T) {
	code, stdout, stderr := run(t, "-ingress", "alb", "-certificate", "abc", "-host", "https://flyte.acme.example")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, `host "https://flyte.acme.example": a host is a DNS name`)
	assert.Contains(t, stderr, `ingress.certificate "abc"`)
	assert.NotContains(t, stdout, "create   flyte/ml")

	code, _, stderr = run(t, "-ingress", "haproxy")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, "production: -ingress \"haproxy\": it is nginx, alb, traefik or gke\n", stderr)

	code, _, stderr = run(t, "-ingress", "gke")
	assert.Equal(t, program.ExitFailed, code, "a cluster that is none of GKE's")
	assert.Contains(t, stderr, "does not serve BackendConfig")
}
