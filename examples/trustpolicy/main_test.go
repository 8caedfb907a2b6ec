package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func try(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestMergingIntoTheSample(t *testing.T) {
	code, stdout, stderr := try()
	assert.Equal(t, 0, code, stderr)
	for _, line := range []string{
		"trust[oidc.eks.us-east-1.amazonaws.com/id/0000000000000000000000000CONTROL][flyte:datacatalog]: + StringEquals\n",
		"trust[oidc.eks.us-east-1.amazonaws.com/id/00000000000000000000000000000DP1][*-development:default]: + StringLike\n",
		"trust[oidc.eks.us-east-1.amazonaws.com/id/00000000000000000000000000000DP2][flyte:flytepropeller]: + StringLike\n",
	} {
		assert.Contains(t, stdout, line)
	}
	assert.NotContains(t, stdout, "CONTROL][flyte:flyteadmin]", "it is there already")
	assert.Contains(t, stdout, "\n== its budget\n1795 of 2048 characters used; a cluster takes 551, so 0 more fit\n")
}

func TestMergingAgainAddsNothing(t *testing.T) {
	merged, err := merge(sample)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "role.json")
	require.NoError(t, os.WriteFile(file, []byte(merged.Document.String()), 0o600))
	code, stdout, _ := try("-document", file)
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "nothing: it says so already\n")
}

func TestADocumentThatIsTooLong(t *testing.T) {
	code, _, stderr := try("-limit", "1500")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "trustpolicy: the document has 1795 characters, 295 more than the 1500 that the account allows")
	assert.Contains(t, stderr, "EKS Pod Identity")
}

func TestSimulation(t *testing.T) {
	code, stdout, _ := try("-simulate")
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "may      dp-1 team1-production/default      StringLike oidc.eks.us-east-1.amazonaws.com/id/00000000000000000000000000000DP1:sub\n")
	assert.Contains(t, stdout, "may not  dp-2 kube-system/default           StringLike oidc.eks.us-east-1.amazonaws.com/id/00000000000000000000000000000DP2:sub\n")
	assert.Contains(t, stdout, "may not  dp-3 flyte/flytepropeller          \n         no statement trusts arn:aws:iam::123456789012:oidc-provider/")
}

func TestDocumentsThatAreNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "role.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"Statement":[],"Statement":[]}`), 0o600))
	code, _, stderr := try("-document", file)
	assert.Equal(t, 1, code)
	assert.Equal(t, "trustpolicy: policy document: invalid: the key \"Statement\" occurs twice\n", stderr)
	code, _, _ = try("-document", file+".gone")
	assert.Equal(t, 1, code)
	code, _, _ = try("-nonsense")
	assert.Equal(t, 2, code)
}
