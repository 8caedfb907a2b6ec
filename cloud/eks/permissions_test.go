package eks_test

import (
	"os"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever grants what the package's documentation lists has granted enough.
func TestThePermissionsOfEveryCallAreListed(t *testing.T) {
	// Calls whose permission has another name; no name means that it takes none.
	named := map[string]string{
		"s3:HeadBucket": "s3:ListBucket", "s3:GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock", "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
		"sts:PresignGetCallerIdentity": "",
	}
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, word := range strings.Fields(string(text)) {
		listed[strings.Trim(word, ",.;")] = true
	}
	called := map[string]bool{}
	for _, mode := range []eks.IdentityMode{eks.IRSA, eks.Hybrid, eks.PodIdentity} {
		w := newWorld(eks.WithIdentityMode(mode), eks.WithPermissionsBoundary("arn:aws:iam::aws:policy/PowerUserAccess"), eks.WithClusterAdministrators(deployer))
		w.putDeployer(t)
		w.aws.PutBucket(eksfake.Bucket{Name: "acme-flyte", KMSKey: "arn:aws:kms:us-east-1:123456789012:key/1"})
		w.aws.PutProvider(eksfake.Provider{Issuer: w.aws.Issuer("control"), ClientIDs: []string{"other"}})
		adopted := w.theirRole(t)
		w.aws.PutPolicy(adopted.Name, nil, `{"Statement":{"Effect":"Allow","Action":"s3:*","Resource":"1"}}`)
		spec := w.admin()
		spec.Adopt = true
		stacks := []planewright.Stack{w.stack(spec), w.making(cloud.NewCluster("dp-3").WithSubnets("subnet-0c", "subnet-0d"))}
		for _, stack := range stacks {
			_, err := planewright.Install(t.Context(), stack)
			require.NoError(t, err)
		}
		w.putDeployer(t) // its access entry is dead now
		_, err := planewright.Install(t.Context(), stacks[1])
		require.NoError(t, err)
		_, err = w.account.Clusters.NodeGroups(t.Context(), "dp-3")
		require.NoError(t, err)
		_, err = w.account.Clusters.Access(t.Context(), "dp-3")
		require.NoError(t, err)
		_, err = w.account.Buckets.Describe(t.Context(), "acme-flyte")
		require.NoError(t, err)
		for _, stack := range stacks {
			_, err := planewright.Uninstall(t.Context(), stack)
			require.NoError(t, err)
		}
		for _, call := range w.aws.Calls() {
			called[call.Operation] = true
		}
	}
	for operation := range called {
		permission := operation
		if name, ok := named[operation]; ok {
			permission = name
		}
		assert.True(t, permission == "" || listed[permission], "%s is not listed", permission)
	}
	assert.Greater(t, len(called), 35)
}
