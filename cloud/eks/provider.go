package eks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud"
	policy "github.com/planewright/planewright/cloud/iam"
)

// providerStep sees to it that an account knows the tokens of a cluster: by an
// OIDC provider, which is meant to be shared, so one that is there is used
// whoever made it.
type providerStep struct {
	*account
	id      string
	cluster cloud.ClusterRef
	owner   string
	// provider is what roles trust.
	provider planewright.Output[policy.OIDCProvider]
}

// newProviderStep makes the step for a cluster. What else tells it apart from
// another of the same name becomes part of the id.
func (a *account) newProviderStep(prefix string, cluster cloud.ClusterRef, owner string, apart ...string) providerStep {
	id := prefix + "/oidc-provider/" + idPart(strings.Join(append([]string{cluster.Name}, apart...), "."))
	return providerStep{a, id, cluster, owner, planewright.NewOutput[policy.OIDCProvider](id, "provider")}
}

func (s providerStep) step() planewright.Step {
	return planewright.Step{
		ID: s.id, Title: "OIDC provider of cluster " + s.cluster.Name, Needs: s.cluster.Needs,
		Check: s.check, Apply: s.apply, Await: s.await, Undo: s.undo,
	}
}

func (s providerStep) object(arn string) planewright.Object {
	return planewright.Object{APIVersion: "iam", Kind: "OpenIDConnectProvider", Name: arn}
}

// look finds the cluster's issuer and makes of it the provider for this account.
func (s providerStep) look(ctx context.Context) (policy.OIDCProvider, string, error) {
	if s.cluster.Account.Provider != cloud.AWS {
		return policy.OIDCProvider{}, fmt.Sprintf("cluster %s is in %s; a role is assumed from EKS only", s.cluster.Name, s.cluster.Account), nil
	}
	cluster, err := s.cluster.Account.Clusters.Describe(ctx, s.cluster.Name)
	if errors.Is(err, planewright.ErrNotFound) && len(s.cluster.Needs) > 0 {
		return policy.OIDCProvider{}, "", &planewright.UnknownError{Step: s.cluster.Needs[len(s.cluster.Needs)-1], Output: "cluster"}
	}
	if err != nil {
		return policy.OIDCProvider{}, "", err
	}
	if cluster.Issuer == "" {
		if len(s.cluster.Needs) > 0 {
			return policy.OIDCProvider{}, "", &planewright.UnknownError{Step: s.cluster.Needs[len(s.cluster.Needs)-1], Output: "cluster"}
		}
		return policy.OIDCProvider{}, fmt.Sprintf("cluster %s has no OIDC issuer yet (it is %s); wait until it is active", s.cluster.Name, cluster.Status), nil
	}
	arn, err := policy.ParseARN(cluster.ID)
	if err != nil {
		return policy.OIDCProvider{}, "", err
	}
	if arn.Partition != s.Partition {
		return policy.OIDCProvider{}, fmt.Sprintf("cluster %s is in partition %s, the account %s in %s; a role trusts nobody in another partition", s.cluster.Name, arn.Partition, s.AccountID, s.Partition), nil
	}
	provider := policy.NewOIDCProvider(s.Partition, s.AccountID, cluster.Issuer)
	if err := provider.Validate(); err != nil {
		return provider, err.Error(), nil //nolint:nilerr // it is the answer
	}
	return provider, "", nil
}

func (s providerStep) check(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
	provider, blocked, err := s.look(ctx)
	if err != nil {
		return planewright.Change{}, err
	}
	if blocked != "" {
		return planewright.Change{Action: planewright.ActionBlocked, Reason: blocked, Fingerprint: "blocked"}, nil
	}
	s.provider.Set(run, provider)
	change := planewright.Change{}
	if account := s.cluster.Account.ID; account != s.AccountID {
		change.Findings = append(change.Findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeCrossAccount,
			Cause: fmt.Sprintf("cluster %s is in account %s; its issuer is registered in account %s, since a role trusts providers of its own account only", s.cluster.Name, account, s.AccountID)})
	}
	live, err := s.get(ctx, provider.ARN())
	switch {
	case is(err, planewright.ErrNotFound):
		change.Action, change.Fingerprint = planewright.ActionCreate, "absent"
		change.Diff = []planewright.FieldDiff{{Path: "url", After: provider.Issuer()}, {Path: "clientIDs", After: s.audienceOf()}}
	case err != nil:
		return planewright.Change{}, err
	case !slices.Contains(live.ClientIDList, s.audienceOf()):
		change.Action, change.Fingerprint = planewright.ActionUpdate, strings.Join(live.ClientIDList, " ")
		change.Diff = []planewright.FieldDiff{{Path: "clientIDs", Before: strings.Join(live.ClientIDList, ", "), After: strings.Join(append(live.ClientIDList, s.audienceOf()), ", ")}}
	default:
		change.Action, change.Fingerprint = planewright.ActionNone, strings.Join(live.ClientIDList, " ")
	}
	return change, nil
}

func (a *account) audienceOf() string {
	if a.audience == "" {
		return policy.DefaultAudience
	}
	return a.audience
}

func (s providerStep) get(ctx context.Context, arn string) (*iam.GetOpenIDConnectProviderOutput, error) {
	live, err := s.IAM.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(arn)})
	return live, failure("iam:GetOpenIDConnectProvider", s.object(arn), err)
}

// apply makes the provider without thumbprints: IAM finds the authority itself,
// and one that is there may have a list that somebody needs.
func (s providerStep) apply(ctx context.Context, run *planewright.Run) error {
	provider, err := s.provider.Get(run)
	if err != nil {
		return err
	}
	_, err = s.IAM.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(provider.Issuer()), ClientIDList: []string{s.audienceOf()}, Tags: tagList(s.ownTags(s.owner)),
	})
	err = failure("iam:CreateOpenIDConnectProvider", s.object(provider.ARN()), err)
	if !is(err, planewright.ErrAlreadyExists) {
		return err
	}
	_, err = s.IAM.AddClientIDToOpenIDConnectProvider(ctx, &iam.AddClientIDToOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: aws.String(provider.ARN()), ClientID: aws.String(s.audienceOf()),
	})
	return failure("iam:AddClientIDToOpenIDConnectProvider", s.object(provider.ARN()), err)
}

func (s providerStep) await(ctx context.Context, run *planewright.Run) error {
	return s.settled(ctx, run, "the OIDC provider", func(ctx context.Context) (bool, error) {
		change, err := s.check(ctx, run)
		return unchanged(change), err
	})
}

// undo leaves the provider: any role of the account may trust it.
func (s providerStep) undo(ctx context.Context, run *planewright.Run) error {
	provider, blocked, err := s.look(ctx)
	if blocked != "" || is(err, planewright.ErrNotFound) || errors.Is(err, planewright.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	live, err := s.get(ctx, provider.ARN())
	if is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if tagMap(live.Tags)[OwnerTag] == s.owner {
		run.Keep(s.object(provider.ARN()), "other roles may trust it; when the cluster is gone, delete it: aws iam delete-open-id-connect-provider --open-id-connect-provider-arn "+provider.ARN())
	}
	return nil
}
