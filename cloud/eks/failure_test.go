package eks_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	"github.com/planewright/planewright/cloud/eks"
	"github.com/planewright/planewright/cloud/eks/eksfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faultyIAM fails to look at roles so often.
type faultyIAM struct {
	eks.IAM
	err   error
	times int
}

func (f *faultyIAM) GetRole(ctx context.Context, in *iam.GetRoleInput, options ...func(*iam.Options)) (*iam.GetRoleOutput, error) {
	if f.times > 0 {
		f.times--
		return nil, f.err
	}
	return f.IAM.GetRole(ctx, in, options...)
}

// slow is an error of the network that says it took too long.
type slow struct{}

func (slow) Error() string   { return "i/o timeout" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

// Is makes it match context.DeadlineExceeded, as those of package net do.
func (slow) Is(target error) bool { return target == context.DeadlineExceeded }

func TestACallThatTimesOutIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct{ err, want error }{
		"a connection that is not made": {&net.OpError{Op: "dial", Net: "tcp", Err: slow{}}, planewright.ErrUnavailable},
		"an answer that does not come":  {slow{}, planewright.ErrTimeout},
		"the SDK's own deadline":        {context.DeadlineExceeded, planewright.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				config := w.aws.Config()
				faulty := &faultyIAM{config.IAM, c.err, 1}
				config.IAM = faulty
				w.account = eks.New(config)
				w.install(t, w.admin())

				faulty.times = 100
				_, err := planewright.Plan(t.Context(), w.stack(w.admin()), planewright.WithAttempts(1))
				require.ErrorIs(t, err, c.want)
				call, ok := errors.AsType[*cloud.CallError](err)
				require.True(t, ok)
				assert.Equal(t, "iam:GetRole", call.Operation)
				assert.True(t, call.Retryable())
			})
		})
	}
}

func TestThrottlingThatDoesNotEndNamesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.aws.Fail(eksfake.Call("CreateRole"), eksfake.Throttled)
		_, err := planewright.Install(t.Context(), w.stack(w.admin()))
		require.ErrorIs(t, err, planewright.ErrThrottled)
		require.ErrorContains(t, err, "iam:CreateRole Role arn:aws:iam::123456789012:role/flyte-admin: Throttling: Rate exceeded")
	})
	t.Run("and what is denied is asked once", func(t *testing.T) {
		w := newWorld()
		w.aws.Fail(eksfake.Call("CreateRole"), eksfake.Denied)
		_, err := planewright.Install(t.Context(), w.stack(w.admin()))
		require.ErrorIs(t, err, planewright.ErrDenied)
		asked := 0
		for _, call := range w.aws.Calls() {
			if call.Operation == "iam:CreateRole" {
				asked++
			}
		}
		assert.Equal(t, 1, asked)
	})
}

// A quota that could not be asked for the moment is not the usual one: the
// trust policy would be refused that the account allows.
func TestAQuotaThatIsNotAnsweredIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := []string{"dp-1", "dp-2", "dp-3", "dp-4", "dp-5"}
		aws := eksfake.New(accountID, "us-east-1", names...)
		aws.SetQuota("AssumeRolePolicySizeQuota", 4096)
		w := world{aws, aws.Account()}
		aws.Fail(eksfake.Call("GetAccountSummary"), eksfake.Throttled, eksfake.Times(2))
		w.install(t, w.user(names...))
		assert.Len(t, w.trust(t, "flyte-user").Statements(), 5)
	})
}

func TestAMalformedPolicyIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		began := time.Now()
		w.aws.Fail(eksfake.Call("CreateRole"), eksfake.Malformed)
		_, err := planewright.Install(t.Context(), w.stack(w.admin()))
		require.ErrorIs(t, err, planewright.ErrInvalid)
		require.ErrorContains(t, err, "MalformedPolicyDocument: Syntax errors in policy.")
		assert.Zero(t, time.Since(began))
	})
}

func TestARoleOfCloudFormationIsToldOf(t *testing.T) {
	w := newWorld()
	w.install(t, w.user("dp-1"))
	role, _ := w.aws.Role("flyte-user")
	role.Tags["aws:cloudformation:stack-name"] = "ml-roles"
	w.aws.PutRole(role)
	var found []string
	for _, f := range w.plan(t, w.user("dp-1")).Findings() {
		if f.Code == eks.CodeProvisioner {
			found = append(found, f.String())
		}
	}
	assert.Equal(t, []string{"warning [aws-other-provisioner] Role arn:aws:iam::123456789012:role/flyte-user: the role belongs to the CloudFormation stack ml-roles, which may set its trust policy back; fix: manage it there, or take it out of there"}, found)
}

func TestDeletedPrincipalsAreDroppedOnRequest(t *testing.T) {
	w := newWorld()
	w.install(t, w.user("dp-1"))
	w.add("flyte-user", `{"Sid":"Old","Effect":"Allow","Principal":{"AWS":["AROA0000000000000099","arn:aws:iam::999999999999:root"]},"Action":"sts:AssumeRole"}`)
	w.aws.ForgetCalls()
	_, err := planewright.Install(t.Context(), w.stack(w.user("dp-1", "dp-2")))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	require.ErrorContains(t, err, "statement 1 (Old) of the trust policy names AROA0000000000000099, a principal that was deleted; IAM takes no document that names it. Take it out of the statement, or make its principal again; eks.WithoutDeletedPrincipals takes it out")
	require.Empty(t, w.aws.Writes())

	w.account = w.aws.Account(eks.WithoutDeletedPrincipals())
	role, _ := w.plan(t, w.user("dp-1", "dp-2")).Step("flyte/ml/identity/flyte-user/role")
	assert.Contains(t, role.Change.Diff, planewright.FieldDiff{Path: "Statement[Old]", After: `{"Sid":"Old","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::999999999999:root"},"Action":"sts:AssumeRole"}`})
	w.install(t, w.user("dp-1", "dp-2"))
	assert.NotContains(t, w.trust(t, "flyte-user").String(), "AROA")
	assert.Len(t, w.trust(t, "flyte-user").Statements(), 3)
	w.aws.ForgetCalls()
	w.install(t, w.user("dp-1", "dp-2"))
	assert.Empty(t, w.aws.Writes())
}
