package eks_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClustersAreDescribed(t *testing.T) {
	w := newWorld()
	w.aws.SetCluster("dp-2", eksfake.ClusterState{Private: true})
	c, err := w.account.Clusters.Describe(t.Context(), "dp-1")
	require.NoError(t, err)
	assert.Equal(t, "arn:aws:eks:us-east-1:123456789012:cluster/dp-1", c.ID)
	assert.Equal(t, []string{"123456789012", "us-east-1", "1.33", w.aws.Issuer("dp-1"), "https://DP-1.gr7.us-east-1.eks.amazonaws.com", "vpc-0a"},
		[]string{c.AccountID, c.Location, c.Version, c.Issuer, c.Endpoint, c.Network})
	assert.Equal(t, cloud.ClusterReady, c.Status)
	assert.True(t, c.PublicEndpoint)
	assert.Contains(t, string(c.CA), "BEGIN CERTIFICATE")

	c, err = w.account.Clusters.Describe(t.Context(), "dp-2")
	require.NoError(t, err)
	assert.False(t, c.PublicEndpoint)
	assert.Equal(t, []string{w.aws.Issuer("dp-2"), "https://DP-2.gr7.us-east-1.eks.amazonaws.com"}, []string{c.Issuer, c.Endpoint}, "each cluster has its own")

	_, err = w.account.Clusters.Describe(t.Context(), "nowhere")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	assert.EqualError(t, err, "eks:DescribeCluster Cluster nowhere: ResourceNotFoundException: No cluster found for name: nowhere. (request 00000000-0000-0000-0000-000000000000)")
}

func TestAClusterThatIsBeingCreatedKnowsLittle(t *testing.T) {
	w := newWorld()
	w.aws.SetCluster("dp-1", eksfake.ClusterState{Status: types.ClusterStatusCreating})
	c, err := w.account.Clusters.Describe(t.Context(), "dp-1")
	require.NoError(t, err)
	assert.Equal(t, cloud.ClusterCreating, c.Status)
	assert.Empty(t, c.Endpoint+c.Issuer+c.Version)
	_, err = w.account.Clusters.Access(t.Context(), "dp-1")
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	_, err = planewright.Install(t.Context(), w.stack(w.user("dp-1")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.ErrorContains(t, err, "cluster dp-1 has no OIDC issuer yet (it is creating); wait until it is active")
}

func TestTokensForAClustersAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		access, err := w.account.Clusters.Access(t.Context(), "dp-1")
		require.NoError(t, err)
		assert.Equal(t, 14*time.Minute, time.Until(access.Expires), "shorter than the cluster takes it")
		assert.NotContains(t, fmt.Sprintf("%v %+v", access, access), "k8s-aws", "it is never printed")
		token, err := access.Token.Resolve(t.Context())
		require.NoError(t, err)
		encoded, ok := strings.CutPrefix(string(token), "k8s-aws-v1.")
		require.True(t, ok)
		url, err := base64.RawURLEncoding.DecodeString(encoded)
		require.NoError(t, err)
		assert.Contains(t, string(url), "Action=GetCallerIdentity")
		assert.Contains(t, string(url), "cluster=dp-1")
	})
}

// making is a stack that makes a cluster, and an identity for its pods.
func (w world) making(spec cloud.ClusterSpec) planewright.Stack {
	p := w.account.Clusters.Provision("flyte/ml/clusters", spec)
	stack := planewright.NewStack("flyte/ml")
	if p.Err != nil {
		return stack.WithError(p.Err)
	}
	ref := w.account.Cluster(spec.Name())
	ref.Needs = []string{"flyte/ml/clusters/" + spec.Name() + "/cluster"}
	i := w.account.Identities.Provision("flyte/ml/identity", cloud.IdentitySpec{Name: "flyte-user", Owner: "flyte.ml",
		Subjects: []cloud.Subject{{Cluster: ref, Namespace: "flyte", ServiceAccount: "flytepropeller"}}})
	return stack.WithSteps(p.Steps...).WithSteps(i.Steps...)
}

func dp3() cloud.ClusterSpec {
	return cloud.NewCluster("dp-3").WithSubnets("subnet-0c", "subnet-0d").WithVersion("1.34").WithPrivateEndpoint().WithLabels(map[string]string{"team": "ml"})
}

func TestAClusterIsMadeWithAllItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.aws.SetPace(9 * time.Minute)
		plan, err := planewright.Plan(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		role, _ := plan.Step("flyte/ml/identity/flyte-user/role")
		assert.Equal(t, planewright.ActionUnknown, role.Change.Action, "its issuer is not known before it exists")

		began := time.Now()
		w.aws.Fail(eksfake.Call("CreateCluster"), eksfake.RoleUnknown, eksfake.Times(3))
		report, err := planewright.Install(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		assert.Less(t, time.Since(began), 20*time.Minute)
		assert.ElementsMatch(t, []string{
			"flyte/ml/clusters/dp-3/cluster-role/role", "flyte/ml/clusters/dp-3/node-role/role", "flyte/ml/clusters/dp-3/cluster", "flyte/ml/clusters/dp-3/node-groups/default",
			"flyte/ml/identity/oidc-provider/dp-3", "flyte/ml/identity/flyte-user/role",
		}, report.Changed())
		assert.Equal(t, "API_AND_CONFIG_MAP", w.aws.AuthenticationMode("dp-3"), "the SDK's default knows no access entries")
		groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-3")
		require.NoError(t, err)
		require.Len(t, groups, 1)
		assert.Equal(t, []any{"default", "t3.xlarge", 2, 2, 4, cloud.ClusterReady}, []any{groups[0].Name, groups[0].MachineType, groups[0].Min, groups[0].Desired, groups[0].Max, groups[0].Status})
		nodes, _ := w.aws.Role("dp-3-nodes")
		assert.ElementsMatch(t, []string{"arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy", "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy", "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly"}, nodes.Attached)
		assert.Contains(t, nodes.Trust, "ec2.amazonaws.com")
		assert.True(t, w.may(t, "flyte-user", "dp-3", "flyte", "flytepropeller"))

		w.aws.ForgetCalls()
		plan, err = planewright.Plan(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		planewright.AssertNoChanges(t, plan)

		report, err = planewright.Uninstall(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		assert.Contains(t, report.String(), "clusters are not deleted here; when nobody needs it: aws eks delete-cluster --region us-east-1 --name dp-3")
	})
}

func TestWhatEKSGivesUpOnIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.aws.SetPace(time.Hour)
		time.AfterFunc(5*time.Minute, func() {
			w.aws.SetCluster("dp-3", eksfake.ClusterState{Status: types.ClusterStatusFailed, Issues: []types.ClusterIssue{{
				Code: types.ClusterIssueCodeEc2SubnetNotFound, Message: aws.String("the subnet is gone"), ResourceIds: []string{"subnet-0c"}}}})
		})
		_, err := planewright.Install(t.Context(), w.making(dp3()), planewright.WithAttempts(1))
		require.ErrorContains(t, err, "cluster dp-3 is FAILED; Ec2SubnetNotFound: the subnet is gone (subnet-0c)")
		_, err = planewright.Install(t.Context(), w.making(dp3()))
		require.ErrorIs(t, err, planewright.ErrBlocked)
	})
	t.Run("a node group that is degraded is not waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.aws.SetPace(time.Minute)
			time.AfterFunc(90*time.Second, func() {
				w.aws.SetNodeGroup("dp-3", "default", types.NodegroupStatusDegraded, types.Issue{Code: types.NodegroupIssueCodeInsufficientFreeAddresses, Message: aws.String("no addresses"), ResourceIds: []string{"subnet-0d"}})
			})
			began := time.Now()
			_, err := planewright.Install(t.Context(), w.making(dp3()), planewright.WithAttempts(1))
			require.ErrorContains(t, err, "node group default is DEGRADED; InsufficientFreeAddresses: no addresses (subnet-0d)")
			assert.Less(t, time.Since(began), 5*time.Minute)
		})
	})
}

func TestAStrangersClusterIsNotTaken(t *testing.T) {
	w := newWorld()
	_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-1").WithSubnets("subnet-0a", "subnet-0b")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "the cluster dp-1 exists, and its tags do not say that this stack made it")
	assert.Empty(t, w.aws.Writes())
}

func TestClustersThatAreRefused(t *testing.T) {
	for want, spec := range map[string]cloud.ClusterSpec{
		"begins with a letter or digit":            cloud.NewCluster("-dp").WithSubnets("subnet-0a", "subnet-0b"),
		"EKS needs at least two subnets":           cloud.NewCluster("dp").WithSubnets("subnet-0a"),
		"a subnet is named by its id":              cloud.NewCluster("dp").WithSubnets("private-a", "private-b"),
		"a version is like 1.33":                   dp3().WithVersion("v1.33"),
		"on EKS the subnets determine the network": dp3().WithNetwork("vpc-0a"),
		"is in the cluster's account":              dp3().WithRoles("arn:aws:iam::999999999999:role/eks", ""),
		"minimum, desired and maximum grow":        dp3().WithNodeGroups(cloud.NodeGroup{Name: "a", Min: 3, Desired: 2, Max: 1}),
		"a node group has a name of its own":       dp3().WithNodeGroups(cloud.NodeGroup{Name: "a"}, cloud.NodeGroup{Name: "a"}),
	} {
		err := newWorld().account.Clusters.Provision("flyte/ml/clusters", spec).Err
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
	p := newWorld().account.Clusters.Provision("flyte/ml/clusters", dp3().WithRoles("arn:aws:iam::123456789012:role/eks", "").WithoutNodeGroups())
	require.NoError(t, p.Err)
	assert.Len(t, p.Steps, 1, "the nodes come from elsewhere, and the role is given")
}

func TestBuckets(t *testing.T) {
	w := newWorld()
	const key = "arn:aws:kms:us-east-1:123456789012:key/1"
	w.aws.PutKey(key, true)
	w.aws.PutBucket(eksfake.Bucket{Name: "acme-flyte", KMSKey: key})
	w.aws.PutBucket(eksfake.Bucket{Name: "acme-open", Region: "eu-west-1", Public: true, Open: true})
	w.aws.PutBucket(eksfake.Bucket{Name: "theirs", Owner: "999999999999"})

	b, err := w.account.Buckets.Describe(t.Context(), "acme-flyte")
	require.NoError(t, err)
	assert.Equal(t, cloud.Bucket{Name: "acme-flyte", Location: "us-east-1", OwnedBy: accountID, Ours: true, PublicAccessBlocked: true, KMSKey: key, KMSKeyUsable: true}, b)
	b, err = w.account.Buckets.Describe(t.Context(), "acme-open")
	require.NoError(t, err)
	assert.Equal(t, cloud.Bucket{Name: "acme-open", Location: "eu-west-1", OwnedBy: accountID, Ours: true, Public: true}, b)
	_, err = w.account.Buckets.Describe(t.Context(), "nowhere")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = w.account.Buckets.Describe(t.Context(), "theirs")
	require.ErrorIs(t, err, planewright.ErrDenied)

	w.aws.Fail(eksfake.Call("GetPublicAccessBlock"), eksfake.Denied)
	w.aws.Fail(eksfake.Call("DescribeKey"), eksfake.Denied)
	b, err = w.account.Buckets.Describe(t.Context(), "acme-flyte")
	require.NoError(t, err)
	assert.Contains(t, b.Unknown["PublicAccessBlocked"], "may not be asked: s3:GetPublicAccessBlock")
	assert.Contains(t, b.Unknown["KMSKeyUsable"], "may not be looked at: kms:DescribeKey")
}

func TestClientsThatAreMissing(t *testing.T) {
	account := eks.New(eks.Config{AccountID: accountID, Region: "us-east-1"})
	_, err := account.Clusters.Describe(t.Context(), "dp-1")
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	_, err = account.Clusters.NodeGroups(t.Context(), "dp-1")
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	_, err = account.Buckets.Describe(t.Context(), "acme-flyte")
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	require.ErrorContains(t, account.Identities.Provision("flyte/ml/identity", newWorld().admin()).Err, "the account has no client for IAM")
	require.ErrorContains(t, account.Clusters.Provision("flyte/ml/clusters", dp3()).Err, "the account lacks a client for EKS or IAM")
}
