package eks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const deployer = "arn:aws:iam::123456789012:role/ci/deployer"

// access is a stack that lets principals into dp-1.
func (w world) access(t *testing.T, principals ...string) planewright.Stack {
	t.Helper()
	steps, err := eks.ProvisionAccess("flyte/ml/clusters", w.account.Cluster("dp-1"), principals...)
	require.NoError(t, err)
	return planewright.NewStack("flyte/ml").WithSteps(steps...)
}

// putDeployer makes the deployer's role, again with another id if it is there.
func (w world) putDeployer(t *testing.T) {
	t.Helper()
	_, _ = w.aws.IAM().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("deployer")})
	w.aws.PutRole(eksfake.Role{Name: "deployer", Path: "/ci/"})
}

func TestAPrincipalIsLetIntoACluster(t *testing.T) {
	for name, principal := range map[string]string{
		"by its role's ARN": deployer,
		// A session's ARN has no path; EKS takes the role's own ARN and nothing else.
		"by that of a session": "arn:aws:sts::123456789012:assumed-role/deployer/build-7",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.putDeployer(t)
			plan, err := planewright.Plan(t.Context(), w.access(t, principal))
			require.NoError(t, err)
			step, _ := plan.Step("flyte/ml/clusters/dp-1/access/deployer")
			assert.Equal(t, planewright.ActionCreate, step.Change.Action)
			assert.Equal(t, []planewright.FieldDiff{{Path: "principalArn", After: deployer}, {Path: "accessPolicies[AmazonEKSClusterAdminPolicy]", After: "the whole cluster"}}, step.Change.Diff)
			_, err = planewright.Install(t.Context(), w.access(t, principal))
			require.NoError(t, err)
			assert.True(t, w.aws.Administers("dp-1", deployer))
			w.aws.ForgetCalls()
			_, err = planewright.Install(t.Context(), w.access(t, principal))
			require.NoError(t, err)
			assert.Empty(t, w.aws.Writes())
			report, err := planewright.Uninstall(t.Context(), w.access(t, principal))
			require.NoError(t, err)
			assert.True(t, w.aws.Administers("dp-1", deployer), "whoever uninstalls may come in by it")
			assert.Contains(t, report.String(), "aws eks delete-access-entry --region us-east-1 --cluster-name dp-1 --principal-arn "+deployer)
		})
	}
	t.Run("without a name it is the credentials in use", func(t *testing.T) {
		w := newWorld()
		_, err := planewright.Install(t.Context(), w.access(t))
		require.NoError(t, err)
		assert.True(t, w.aws.Administers("dp-1", "arn:aws:iam::123456789012:user/deployer"))
	})
}

// EKS binds an entry to the role's id, and shows its ARN: of a role that was
// deleted and made again the entry looks well, and answers 401.
func TestAnEntryOfARoleThatWasMadeAgainIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.putDeployer(t)
		_, err := planewright.Install(t.Context(), w.access(t, deployer))
		require.NoError(t, err)
		w.putDeployer(t)
		require.False(t, w.aws.Administers("dp-1", deployer))

		plan, err := planewright.Plan(t.Context(), w.access(t, deployer))
		require.NoError(t, err)
		step, _ := plan.Step("flyte/ml/clusters/dp-1/access/deployer")
		assert.Equal(t, planewright.ActionUpdate, step.Change.Action)
		require.Len(t, step.Change.Diff, 1)
		assert.Equal(t, "roleId", step.Change.Diff[0].Path)
		_, err = planewright.Install(t.Context(), w.access(t, deployer))
		require.NoError(t, err)
		assert.True(t, w.aws.Administers("dp-1", deployer))
	})
	t.Run("but not one of somebody else's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			w.putDeployer(t)
			w.aws.PutAccessEntry("dp-1", eksfake.AccessEntry{Principal: deployer})
			time.Sleep(time.Hour)
			w.putDeployer(t)
			w.aws.ForgetCalls()
			_, err := planewright.Install(t.Context(), w.access(t, deployer))
			require.ErrorIs(t, err, planewright.ErrBlocked)
			require.ErrorContains(t, err, "was made for an earlier role of that name, which is gone, so it lets nobody in, and this stack did not make it; delete it: aws eks delete-access-entry --region us-east-1 --cluster-name dp-1 --principal-arn "+deployer)
			assert.Empty(t, w.aws.Writes())
		})
	})
}

func TestAnEntryOfSomebodyElseIsCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.putDeployer(t)
		time.Sleep(time.Hour)
		w.aws.PutAccessEntry("dp-1", eksfake.AccessEntry{Principal: deployer, Namespaces: []string{"flyte", "team1"}})
		plan, err := planewright.Plan(t.Context(), w.access(t, deployer))
		require.NoError(t, err)
		step, _ := plan.Step("flyte/ml/clusters/dp-1/access/deployer")
		assert.Equal(t, []planewright.FieldDiff{{Path: "accessPolicies[AmazonEKSClusterAdminPolicy]", Before: "flyte, team1", After: "the whole cluster"}}, step.Change.Diff)
		_, err = planewright.Install(t.Context(), w.access(t, deployer))
		require.NoError(t, err)
		assert.True(t, w.aws.Administers("dp-1", deployer))
	})
}

func TestAccessThatCannotBeGiven(t *testing.T) {
	for want, arrange := range map[string]func(world){
		"cluster dp-1 knows no access entries, its authentication mode is CONFIG_MAP; change it, which cannot be taken back: aws eks update-cluster-config --region us-east-1 --name dp-1 --access-config authenticationMode=API_AND_CONFIG_MAP": func(w world) {
			w.aws.SetAuthenticationMode("dp-1", types.AuthenticationModeConfigMap)
		},
		"there is no role deployer in account 123456789012": func(w world) {
			_, _ = w.aws.IAM().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("deployer")})
		},
		"the role deployer is called arn:aws:iam::123456789012:role/deployer; EKS takes a role by exactly its own ARN": func(w world) { w.aws.PutRole(eksfake.Role{Name: "deployer"}) },
		"the access entry of arn:aws:iam::123456789012:role/ci/deployer is of the type EC2_LINUX, for nodes, and takes no policies": func(w world) {
			w.aws.PutAccessEntry("dp-1", eksfake.AccessEntry{Principal: deployer, Kind: "EC2_LINUX"})
		},
	} {
		w := newWorld()
		w.putDeployer(t)
		arrange(w)
		w.aws.ForgetCalls()
		_, err := planewright.Install(t.Context(), w.access(t, deployer))
		require.ErrorIs(t, err, planewright.ErrBlocked)
		require.ErrorContains(t, err, want)
		assert.Empty(t, w.aws.Writes())
	}
	w := newWorld()
	for want, principals := range map[string][]string{
		`principals[0] "deployer": who gets access is the ARN of an IAM role or user`:                                   {"deployer"},
		`principals[0] "arn:aws:iam::123456789012:role/*": who gets access`:                                             {"arn:aws:iam::123456789012:role/*"},
		`principals[0] "arn:aws:iam::123456789012:root": who gets access`:                                               {"arn:aws:iam::123456789012:root"},
		`principals[0] "arn:aws:sts::123456789012:federated-user/x": who gets access`:                                   {"arn:aws:sts::123456789012:federated-user/x"},
		`principals[1] "arn:aws-cn:iam::123456789012:role/x": the principal is in partition aws-cn, the cluster in aws`: {deployer, "arn:aws-cn:iam::123456789012:role/x"},
		`EKS takes a role and none of its sessions, and this one's role is in another account`:                          {"arn:aws:sts::999999999999:assumed-role/x/y"},
		"a principal is named once": {deployer, "arn:aws:sts::123456789012:assumed-role/deployer/build-7"},
	} {
		_, err := eks.ProvisionAccess("flyte/ml/clusters", w.account.Cluster("dp-1"), principals...)
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
	_, err := eks.ProvisionAccess("flyte/ml/clusters", cloud.Account{Provider: cloud.GCP}.Cluster("main"), deployer)
	require.ErrorContains(t, err, "access entries are made by an account of this package")
}

func TestAClusterThatIsMadeLetsAdministratorsIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(eks.WithClusterAdministrators(deployer, "arn:aws:iam::123456789012:user/deployer"))
		w.aws.SetPace(9 * time.Minute)
		w.putDeployer(t)
		_, err := planewright.Install(t.Context(), w.making(dp3()))
		require.ErrorIs(t, err, planewright.ErrInvalid, "two of one name")

		w.account = w.aws.Account(eks.WithClusterAdministrators(deployer))
		plan, err := planewright.Plan(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		step, _ := plan.Step("flyte/ml/clusters/dp-3/access/deployer")
		assert.Equal(t, planewright.ActionUnknown, step.Change.Action)
		_, err = planewright.Install(t.Context(), w.making(dp3()))
		require.NoError(t, err)
		assert.True(t, w.aws.Administers("dp-3", deployer))
		assert.True(t, w.aws.Administers("dp-3", "arn:aws:iam::123456789012:user/deployer"), "whoever makes a cluster administers it")

		w.account = w.aws.Account(eks.WithClusterAdministrators("arn:aws:iam::123456789012:user/deployer"))
		w.aws.ForgetCalls()
		_, err = planewright.Install(t.Context(), w.making(dp3()))
		require.NoError(t, err, "its entry is there already")
		assert.Empty(t, w.aws.Writes())
	})
}

func TestAccessSurvivesEveryFault(t *testing.T) {
	counting := newWorld()
	counting.putDeployer(t)
	counting.aws.ForgetCalls()
	_, err := planewright.Install(t.Context(), counting.access(t, deployer))
	require.NoError(t, err)
	for _, fault := range eksfake.Faults() {
		for nth := range len(counting.aws.Calls()) {
			for _, effect := range [][]eksfake.FaultOption{nil, {eksfake.AfterEffect()}} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					w.putDeployer(t)
					w.aws.Fail(eksfake.Call("*"), fault, append(effect, eksfake.After(nth), eksfake.Times(1))...)
					_, _ = planewright.Install(t.Context(), w.access(t, deployer))
					w.aws.Heal()
					w.aws.Revive()
					_, err := planewright.Install(t.Context(), w.access(t, deployer))
					require.NoError(t, err, "%s at call %d", fault, nth)
					assert.True(t, w.aws.Administers("dp-1", deployer))
				})
			}
		}
	}
}
