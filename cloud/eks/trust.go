package eks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

// ConcurrentTrustError says that somebody else keeps writing a role's trust
// policy, and that what was written did not stay. It matches planewright.ErrConflict.
//
// IAM has no means to write a document only if nobody else has. Two looks
// before the write and two after it find a writer who comes in between, but
// for the moment between the second look and the write.
type ConcurrentTrustError struct {
	// Role is the role's ARN.
	Role string
	// Wanted is what was to be written last, Found what was there instead.
	Wanted, Found policy.Document
}

// Error implements error.
func (e *ConcurrentTrustError) Error() string {
	return fmt.Sprintf("the trust policy of %s is being written by somebody else too: wanted %s, found %s; find out who, and install again", e.Role, e.Wanted, e.Found)
}

// Is matches planewright.ErrConflict.
func (e *ConcurrentTrustError) Is(target error) bool { return target == planewright.ErrConflict }

// trustAttempts is how often a trust policy is written when others write too.
const trustAttempts = 5

// writeTrust merges the policy into the role's and sees that it stays.
func (s roleStep) writeTrust(ctx context.Context, run *planewright.Run, trust policy.TrustPolicy, ours []policy.MergeOption) error {
	var wanted, found policy.Document
	for attempt := range trustAttempts {
		if attempt > 0 {
			run.Progress("somebody else writes the trust policy too; trying again")
			if err := s.wait(ctx, time.Duration(attempt)*settleFirst); err != nil {
				return err
			}
		}
		before, err := s.readTrust(ctx)
		if err != nil {
			return err
		}
		merged, err := before.MergeTrust(trust, ours...)
		if err != nil {
			return err
		}
		if !merged.Changed {
			return nil
		}
		wanted = merged.Document
		if found, err = s.readTrust(ctx); err != nil {
			return err
		}
		if found.Hash() != before.Hash() {
			continue
		}
		err = s.untilPrincipalsAreSeen(ctx, run, func() error {
			_, err := s.IAM.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String(s.name), PolicyDocument: aws.String(wanted.String())})
			return failure("iam:UpdateAssumeRolePolicy", s.object(), err)
		})
		if codeOf(err) == "ConcurrentModification" {
			continue
		}
		if err != nil {
			return s.unwritten(err, wanted)
		}
		var stays bool
		if found, stays, err = s.stays(ctx, run, before, wanted, trust, ours); err != nil || stays {
			return err
		}
	}
	return &ConcurrentTrustError{Role: s.arn(), Wanted: wanted, Found: found}
}

// unwritten explains why IAM did not take a document.
func (s roleStep) unwritten(err error, document policy.Document) error {
	if is(err, planewright.ErrQuota) {
		return fmt.Errorf("%w; %s. Ways out: %s", err, document.Budget(max(s.trustLimit, policy.DefaultTrustPolicyLimit)), strings.Join(policy.Alternatives(), "; "))
	}
	return err
}

func (s roleStep) readTrust(ctx context.Context) (policy.Document, error) {
	live, err := s.get(ctx, false)
	if err != nil {
		return policy.Document{}, err
	}
	if live == nil {
		return policy.Document{}, &cloud.CallError{Operation: "iam:GetRole", Object: s.object(), Code: "NoSuchEntity", Message: "the role is gone", Kind: planewright.ErrNotFound}
	}
	return live.trust, nil
}

// stays waits until the trust policy is what was written, or what others have
// made of it since: ours in it, and what others had in it before.
func (s roleStep) stays(ctx context.Context, run *planewright.Run, before, wanted policy.Document, trust policy.TrustPolicy, ours []policy.MergeOption) (policy.Document, bool, error) {
	var found policy.Document
	err := s.settled(ctx, run, "the trust policy", func(ctx context.Context) (bool, error) {
		var err error
		if found, err = s.readTrust(ctx); err != nil {
			return false, err
		}
		if found.Equal(wanted) {
			return true, nil
		}
		if found.Equal(before) {
			return false, nil // a replica that has not heard of it
		}
		merged, err := found.MergeTrust(trust, ours...)
		if err != nil || merged.Changed {
			return false, errors.Join(err, errOverwritten)
		}
		return true, nil
	})
	if errors.Is(err, errOverwritten) || is(err, planewright.ErrTimeout) && ctx.Err() == nil {
		// What is still as before after so long has been set back, not lagged.
		return found, false, nil
	}
	return found, err == nil, err
}

// errOverwritten says that ours is not in what somebody else wrote.
var errOverwritten = errors.New("overwritten")

// untilPrincipalsAreSeen tries again while IAM does not know a principal that
// was made moments ago. No other malformed document is tried again.
func (s roleStep) untilPrincipalsAreSeen(ctx context.Context, run *planewright.Run, write func() error) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	pause := settleFirst
	for {
		err := write()
		if codeOf(err) != "MalformedPolicyDocument" || !strings.Contains(err.Error(), "Invalid principal") {
			return err
		}
		run.Progress("IAM does not know a principal of the trust policy yet")
		if s.wait(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, settleMost)
	}
}

// limit is how long a trust policy may be in this account: the usual length
// where that may not be asked. Any other failure is no answer.
func (s roleStep) limit(ctx context.Context) (int, error) {
	if s.trustLimit > 0 {
		return s.trustLimit, nil
	}
	summary, err := s.IAM.GetAccountSummary(ctx, &iam.GetAccountSummaryInput{})
	if err = failure("iam:GetAccountSummary", planewright.Object{}, err); quotasUnknown(err) {
		return policy.DefaultTrustPolicyLimit, nil
	}
	if err != nil {
		return 0, err
	}
	if limit := summary.SummaryMap["AssumeRolePolicySizeQuota"]; limit > 0 {
		return int(limit), nil
	}
	return policy.DefaultTrustPolicyLimit, nil
}
