// Package kumo tries the adapter for AWS on an emulator that somebody else
// wrote. It is a module of its own, so that users of the library do not inherit
// the emulator.
//
// The emulator has roles, OIDC providers and clusters, but no versions of
// managed policies, no tags that are taken away, and no quotas; and it checks
// less than AWS: neither the length of a trust policy nor its principals.
package kumo

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/sivchari/kumo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdentitiesOnAnEmulator(t *testing.T) {
	server := kumo.NewServer()
	t.Cleanup(server.Close)
	login := credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "made-up", "")
	roles := awsiam.New(awsiam.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: login})
	clusters := awseks.New(awseks.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Credentials: login})
	for _, name := range []string{"dp-1", "dp-2"} {
		_, err := clusters.CreateCluster(t.Context(), &awseks.CreateClusterInput{Name: aws.String(name), RoleArn: aws.String("arn:aws:iam::123456789012:role/eks"),
			ResourcesVpcConfig: &types.VpcConfigRequest{SubnetIds: []string{"subnet-0a", "subnet-0b"}}})
		require.NoError(t, err)
	}
	account := eks.New(eks.Config{AccountID: "123456789012", Region: "us-east-1", IAM: roles, EKS: clusters})
	cluster, err := account.Clusters.Describe(t.Context(), "dp-1")
	require.NoError(t, err)
	require.NotEmpty(t, cluster.Issuer)

	stack := func(clusters ...string) planewright.Stack {
		spec := cloud.IdentitySpec{Name: "flyte-user", Owner: "flyte.ml"}
		for _, c := range clusters {
			spec.Subjects = append(spec.Subjects, cloud.Subject{Cluster: account.Cluster(c), Namespace: "flyte", ServiceAccount: "flytepropeller"})
		}
		p := account.Identities.Provision("flyte/ml/identity", spec)
		require.NoError(t, p.Err)
		return planewright.NewStack("flyte/ml").WithSteps(p.Steps...).WithProbes(p.Probes...)
	}
	install := func(clusters ...string) *planewright.Report {
		report, err := planewright.Install(t.Context(), stack(clusters...))
		require.NoError(t, err)
		return report
	}
	trust := func() iam.Document {
		role, err := roles.GetRole(t.Context(), &awsiam.GetRoleInput{RoleName: aws.String("flyte-user")})
		require.NoError(t, err)
		document, err := iam.ParseDocument(aws.ToString(role.Role.AssumeRolePolicyDocument))
		require.NoError(t, err)
		return document
	}

	install("dp-1")
	assert.Empty(t, install("dp-1").Changed(), "a second install changes nothing")

	const theirs = `{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`
	_, err = roles.UpdateAssumeRolePolicy(t.Context(), &awsiam.UpdateAssumeRolePolicyInput{RoleName: aws.String("flyte-user"),
		PolicyDocument: aws.String(strings.Replace(trust().String(), `"Statement":[`, `"Statement":[`+theirs+`,`, 1))})
	require.NoError(t, err)
	install("dp-1", "dp-2")
	require.Len(t, trust().Statements(), 3)
	assert.Equal(t, theirs, trust().Statements()[0].String())
	install("dp-2")
	assert.Len(t, trust().Statements(), 2)

	_, err = planewright.Uninstall(t.Context(), stack("dp-2"))
	require.NoError(t, err)
	_, err = roles.GetRole(t.Context(), &awsiam.GetRoleInput{RoleName: aws.String("flyte-user")})
	assert.ErrorContains(t, err, "NoSuchEntity")
}
