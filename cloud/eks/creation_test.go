package eks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	awseks "github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// creations notes the requests for clusters.
type creations struct {
	eks.EKS
	asked []*awseks.CreateClusterInput
}

func (c *creations) CreateCluster(ctx context.Context, in *awseks.CreateClusterInput, options ...func(*awseks.Options)) (*awseks.CreateClusterOutput, error) {
	c.asked = append(c.asked, in)
	return c.EKS.CreateCluster(ctx, in, options...)
}

func (w *world) noting() *creations {
	config := w.aws.Config()
	noted := &creations{EKS: config.EKS}
	config.EKS = noted
	w.account = eks.New(config)
	return noted
}

func TestTheVersionIsEKSsChoice(t *testing.T) {
	w := newWorld()
	noted := w.noting()
	_, err := planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-3").WithSubnets("subnet-0c", "subnet-0d")))
	require.NoError(t, err)
	require.Len(t, noted.asked, 1)
	assert.Nil(t, noted.asked[0].Version, "a version that is written down here would be too old some day")
}

// The SDK gives each call a token of its own, so a program that runs again
// would ask for a second cluster. Ours is made of what is asked for.
func TestARequestThatIsMadeAgainIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		noted := w.noting()
		w.aws.SetPace(time.Minute)
		// The answer is lost, and the cluster is not seen at first.
		w.aws.Fail(eksfake.Call("CreateCluster"), eksfake.Reset, eksfake.Times(1), eksfake.AfterEffect(), eksfake.Do(func() {
			w.aws.Fail(eksfake.Call("DescribeCluster").On("dp-3"), eksfake.NotSeen, eksfake.Times(4))
		}))
		_, err := planewright.Install(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		require.Len(t, noted.asked, 2)
		assert.NotEmpty(t, *noted.asked[0].ClientRequestToken)
		assert.Equal(t, *noted.asked[0].ClientRequestToken, *noted.asked[1].ClientRequestToken)
		_, err = planewright.Install(t.Context(), w.making(cloud.NewCluster("dp-4").WithSubnets("subnet-0c", "subnet-0d")))
		require.NoError(t, err)
		assert.NotEqual(t, *noted.asked[0].ClientRequestToken, *noted.asked[2].ClientRequestToken)
	})
}

// The SDK's waiter takes a cluster that is not seen yet for one that does not exist.
func TestAClusterThatIsNotSeenYetIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.aws.SetPace(time.Minute)
		seen := w.aws
		seen.Fail(eksfake.Call("CreateCluster"), eksfake.None, eksfake.Times(1), eksfake.Do(func() {
			seen.Fail(eksfake.Call("DescribeCluster").On("dp-3"), eksfake.NotSeen, eksfake.Times(3))
			seen.Fail(eksfake.Call("DescribeCluster").On("dp-3"), eksfake.Throttled, eksfake.Times(3))
		}))
		_, err := planewright.Install(t.Context(), w.making(dp3()), planewright.WithAttempts(1))
		require.NoError(t, err)
	})
	t.Run("but not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.aws.SetPace(time.Hour)
			time.AfterFunc(5*time.Minute, func() { w.aws.DeleteCluster("dp-3") })
			began := time.Now()
			_, err := planewright.Install(t.Context(), w.making(dp3()), planewright.WithAttempts(1))
			require.ErrorIs(t, err, planewright.ErrNotFound)
			assert.Less(t, time.Since(began), 10*time.Minute, "somebody has deleted it")
		})
	})
}

func TestAClusterIsMadeWhateverCallFails(t *testing.T) {
	counting := newWorld()
	_, err := planewright.Install(t.Context(), counting.making(dp3()))
	require.NoError(t, err)
	total := len(counting.aws.Calls())
	for _, fault := range eksfake.Faults() {
		for nth := range total {
			if testing.Short() && nth%5 != 0 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.aws.SetPace(9 * time.Minute)
				w.aws.Fail(eksfake.Call("*"), fault, eksfake.After(nth), eksfake.Times(1), eksfake.AfterEffect())
				_, disturbed := planewright.Install(t.Context(), w.making(dp3()))
				w.aws.Heal()
				w.aws.Revive()
				_, err := planewright.Install(t.Context(), w.making(dp3()))
				require.NoError(t, err, "%s at call %d (the disturbed install said: %v)", fault, nth, disturbed)
				groups, err := w.account.Clusters.NodeGroups(t.Context(), "dp-3")
				require.NoError(t, err)
				assert.Len(t, groups, 1)
				assert.True(t, w.may(t, "flyte-user", "dp-3", "flyte", "flytepropeller"))
			})
		}
	}
}

// One account in each partition: nothing is named after another one.
func TestEachPartitionHasItsOwnARNs(t *testing.T) {
	for region, want := range map[string][2]string{
		"us-gov-west-1":  {"arn:aws-us-gov:", "ec2.amazonaws.com"},
		"cn-northwest-1": {"arn:aws-cn:", "ec2.amazonaws.com.cn"},
	} {
		aws := eksfake.New(accountID, region, "control", "dp-1")
		w := world{aws, aws.Account(eks.WithClusterAdministrators(want[0] + "iam::" + accountID + ":user/deployer"))}
		w.install(t, w.admin(), w.user("dp-1"))
		_, err := planewright.Install(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		role, _ := aws.Role("flyte-admin")
		assert.Equal(t, []string{want[0] + "iam::123456789012:policy/flyte-admin"}, role.Attached)
		assert.Contains(t, role.Trust, `:aud":"sts.amazonaws.com"`)
		document, _ := aws.Policy("flyte-admin")
		assert.Contains(t, document, want[0]+"s3:::acme-flyte/*")
		nodes, _ := aws.Role("dp-3-nodes")
		assert.Contains(t, nodes.Attached, want[0]+"iam::aws:policy/AmazonEKSWorkerNodePolicy")
		assert.Contains(t, nodes.Trust, `"`+want[1]+`"`)
		assert.True(t, aws.Administers("dp-3", want[0]+"iam::123456789012:user/deployer"))
	}
}
