package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestServiceAccountsAreMadeAndUsed(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	for _, line := range []string{
		"members[serviceAccount:acme-ml.svc.id.goog[flyte/flyte-backend-flyte-binary]]: + roles/iam.workloadIdentityUser",
		"members[serviceAccount:acme-ml.svc.id.goog[team1-production/default]]: + roles/iam.workloadIdentityUser",
		"bindings[roles/storage.objectAdmin]: + serviceAccount:flyte-user@acme-ml.iam.gserviceaccount.com",
		"install: 9 done, in ",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
}

func TestAnUnknownCloudIsRefused(t *testing.T) {
	code, _, stderr := run(t, "-cloud", "azure")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, "singlegcp: -cloud \"azure\": it is fake or gcp\n", stderr)
}
