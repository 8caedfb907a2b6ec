package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

// run runs the program as a person would.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = new(demo).example().Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestTeamsAreLetIn(t *testing.T) {
	code, stdout, stderr := run(t)
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.True(t, strings.HasPrefix(stdout, `vision   ana@acme.example   owner
         bo@acme.example    edit  user-bo-acme-example-clusterrole-edit
         cy@acme.example    edit  user-cy-acme-example-clusterrole-edit
         dee@acme.example   view  user-dee-acme-example-clusterrole-view
speech   eve@acme.example   owner
         ana@acme.example   admin user-ana-acme-example-clusterrole-admin
`), stdout)
	for _, line := range []string{
		"done     kubeflow/ml/profiles/vision/profile",
		"done     kubeflow/ml/profiles/vision/security",
		"done     kubeflow/ml/profiles/kubeflow-gus-acme-example/profile",
		"done     kubeflow/ml/profiles/speech/bindings/user-ana-acme-example-clusterrole-admin",
		"done     kubeflow/ml/namespaces/legacy/editor",
		"done     kubeflow/ml/namespaces/legacy/bindings/user-fay-acme-example-clusterrole-edit",
		"the dashboard's list of contributors does not show it",
		"verify: working, ",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.NotContains(t, stdout, "done     kubeflow/ml/base", "Kubeflow was there")
	assert.True(t, strings.HasSuffix(stdout, "second install: no changes\n"), stdout)
}

func TestAnotherRoleIsAnotherPairOfObjectsAndTheOldOneGoes(t *testing.T) {
	code, stdout, stderr := run(t, "-role", "bo@acme.example=view", "-dry-run")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "user-bo-acme-example-clusterrole-view")
	assert.Contains(t, stdout, "plan: 1 to create, 1 to delete, ")

	code, stdout, stderr = run(t, "-role", "bo@acme.example=none")
	assert.Equal(t, program.ExitOK, code, stderr)
	assert.Contains(t, stdout, "done     kubeflow/ml/profiles/vision/bindings/user-bo-acme-example-clusterrole-edit/pruned")
}

func TestAFaultOfOneTeamDoesNotStopTheOthers(t *testing.T) {
	code, stdout, stderr := run(t, "-fail", "apply AuthorizationPolicy vision/user-bo-* denied")
	assert.Equal(t, program.ExitFailed, code)
	assert.Contains(t, stderr, "step kubeflow/ml/profiles/vision/bindings/user-bo-acme-example-clusterrole-edit on cluster workload: apply: ")
	assert.Contains(t, stdout, "done     kubeflow/ml/profiles/vision/bindings/user-cy-acme-example-clusterrole-edit")
}

func TestWhatIsWrongWithTheRoleIsSaid(t *testing.T) {
	code, _, stderr := run(t, "-role", "bo@acme.example=owner")
	assert.Equal(t, program.ExitFailed, code)
	assert.Equal(t, "tenants: -role \"bo@acme.example=owner\": it is user=role, and a role is admin, edit, view or none\n", stderr)
	_, _, stderr = run(t, "-role", "zoe@acme.example=view")
	assert.Equal(t, "tenants: -role \"zoe@acme.example=view\": no team has zoe@acme.example\n", stderr)
}
