package gkefake

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	admin "cloud.google.com/go/iam/admin/apiv1"

	"cloud.google.com/go/iam"
	"cloud.google.com/go/iam/admin/apiv1/adminpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/googleapis/gax-go/v2"
	"github.com/planewright/planewright/cloud/gke"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// IAM returns the project's IAM.
func (f *Fake) IAM() gke.IAM { return &iamFake{f} }

// iamFake implements gke.IAM.
type iamFake struct{ *Fake }

// maxMembers is how many members a policy has at most.
const maxMembers = 1500

var accountID = regexp.MustCompile(`^[a-z][a-z0-9-]{4,28}[a-z0-9]$`)

func (f *Fake) account(name string) (*adminpb.ServiceAccount, error) {
	if a := f.accounts[lastPart(name)]; a != nil {
		return a, nil
	}
	return nil, status.Errorf(codes.NotFound, "Unknown service account")
}

// GetServiceAccount implements gke.IAM.
func (f *iamFake) GetServiceAccount(ctx context.Context, in *adminpb.GetServiceAccountRequest, _ ...gax.CallOption) (*adminpb.ServiceAccount, error) {
	return do(ctx, f.Fake, "GetServiceAccount", lastPart(in.GetName()), false, func() (*adminpb.ServiceAccount, error) {
		a, err := f.account(in.GetName())
		if err != nil {
			return nil, err
		}
		return clone(a), nil
	})
}

// CreateServiceAccount implements gke.IAM.
func (f *iamFake) CreateServiceAccount(ctx context.Context, in *adminpb.CreateServiceAccountRequest, _ ...gax.CallOption) (*adminpb.ServiceAccount, error) {
	email := in.GetAccountId() + "@" + f.project + ".iam.gserviceaccount.com"
	return do(ctx, f.Fake, "CreateServiceAccount", email, true, func() (*adminpb.ServiceAccount, error) {
		switch {
		case !accountID.MatchString(in.GetAccountId()):
			return nil, status.Error(codes.InvalidArgument, "The account ID does not meet the criteria for service account IDs")
		case f.accounts[email] != nil:
			return nil, status.Errorf(codes.AlreadyExists, "Service account %s already exists within project projects/%s.", in.GetAccountId(), f.project)
		}
		a := clone(in.GetServiceAccount())
		a.Name, a.Email, a.UniqueId, a.ProjectId = "projects/"+f.project+"/serviceAccounts/"+email, email, fmt.Sprintf("1%020d", f.next()), f.project
		f.accounts[email], f.seen[email] = a, time.Now().Add(f.lag)
		f.policies[email] = &iampb.Policy{Etag: f.etag()}
		return clone(a), nil
	})
}

// PatchServiceAccount implements gke.IAM, for descriptions.
func (f *iamFake) PatchServiceAccount(ctx context.Context, in *adminpb.PatchServiceAccountRequest, _ ...gax.CallOption) (*adminpb.ServiceAccount, error) {
	return do(ctx, f.Fake, "PatchServiceAccount", lastPart(in.GetServiceAccount().GetName()), true, func() (*adminpb.ServiceAccount, error) {
		a, err := f.account(in.GetServiceAccount().GetName())
		if err != nil {
			return nil, err
		}
		if len(in.GetServiceAccount().GetDescription()) > 256 {
			return nil, status.Error(codes.InvalidArgument, "The description must be at most 256 bytes")
		}
		if slices.Contains(in.GetUpdateMask().GetPaths(), "description") {
			a.Description = in.GetServiceAccount().GetDescription()
		}
		return clone(a), nil
	})
}

// DeleteServiceAccount implements gke.IAM. Policies of buckets go on naming it,
// as one that was deleted.
func (f *iamFake) DeleteServiceAccount(ctx context.Context, in *adminpb.DeleteServiceAccountRequest, _ ...gax.CallOption) error {
	email := lastPart(in.GetName())
	_, err := do(ctx, f.Fake, "DeleteServiceAccount", email, true, func() (*emptypb.Empty, error) {
		a, err := f.account(in.GetName())
		if err != nil {
			return nil, err
		}
		for _, b := range f.buckets {
			for _, binding := range b.policy.Bindings {
				for i, m := range binding.Members {
					if m == "serviceAccount:"+email {
						binding.Members[i] = "deleted:" + m + "?uid=" + a.GetUniqueId()
					}
				}
			}
		}
		delete(f.accounts, email)
		delete(f.policies, email)
		return &emptypb.Empty{}, nil
	})
	return err
}

// known reports whether policies have heard of a service account.
func (f *Fake) known(email string) bool {
	return f.accounts[email] != nil && !time.Now().Before(f.seen[email])
}

// GetIamPolicy implements gke.IAM. In a version below 3 conditions are hidden,
// and the roles of their bindings say so.
func (f *iamFake) GetIamPolicy(ctx context.Context, in *iampb.GetIamPolicyRequest) (*iam.Policy, error) {
	email := lastPart(in.GetResource())
	return do(ctx, f.Fake, "GetIamPolicy", email, false, func() (*iam.Policy, error) {
		if !f.known(email) {
			return nil, status.Errorf(codes.NotFound, "Service account %s does not exist.", in.GetResource())
		}
		policy := clone(f.policies[email])
		conditional := false
		for _, b := range policy.GetBindings() {
			if b.GetCondition() != nil {
				conditional = true
				if in.GetOptions().GetRequestedPolicyVersion() < 3 {
					b.Role, b.Condition = b.GetRole()+"_withcond_0123456789abcdef", nil
				}
			}
		}
		policy.Version = 1
		if conditional && in.GetOptions().GetRequestedPolicyVersion() >= 3 {
			policy.Version = 3
		}
		return &iam.Policy{InternalProto: policy}, nil
	})
}

// SetIamPolicy implements gke.IAM. An etag that is not the policy's is
// refused, none at all overwrites blindly.
func (f *iamFake) SetIamPolicy(ctx context.Context, in *admin.SetIamPolicyRequest) (*iam.Policy, error) {
	email := lastPart(in.Resource)
	return do(ctx, f.Fake, "SetIamPolicy", email, true, func() (*iam.Policy, error) {
		policy := clone(in.Policy.InternalProto)
		if !f.known(email) {
			return nil, status.Errorf(codes.NotFound, "Service account %s does not exist.", in.Resource)
		}
		have := f.policies[email]
		if len(policy.GetEtag()) > 0 && string(policy.GetEtag()) != string(have.GetEtag()) {
			return nil, status.Error(codes.Aborted, "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.")
		}
		members := 0
		for _, b := range policy.GetBindings() {
			members += len(b.GetMembers())
			if b.GetCondition() != nil && policy.GetVersion() != 3 {
				return nil, status.Error(codes.InvalidArgument, "Policies with conditions must have version 3.")
			}
			for _, m := range b.GetMembers() {
				if strings.Contains(m, "*") {
					return nil, status.Errorf(codes.InvalidArgument, "Invalid member: %s", m)
				}
			}
		}
		if members > maxMembers {
			return nil, status.Errorf(codes.InvalidArgument, "The number of members in the policy (%d) is larger than the maximum allowed size %d.", members, maxMembers)
		}
		policy.Etag = f.etag()
		f.policies[email] = policy
		return &iam.Policy{InternalProto: clone(policy)}, nil
	})
}

// PutAccount puts a service account there as somebody else would.
func (f *Fake) PutAccount(name, description string, bindings ...*iampb.Binding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	email := name + "@" + f.project + ".iam.gserviceaccount.com"
	f.accounts[email] = &adminpb.ServiceAccount{Name: "projects/" + f.project + "/serviceAccounts/" + email, Email: email, Description: description, UniqueId: fmt.Sprintf("1%020d", f.next())}
	f.policies[email] = &iampb.Policy{Etag: f.etag(), Bindings: bindings}
}

// ServiceAccount returns the description of a service account by its name,
// and whether there is one.
func (f *Fake) ServiceAccount(name string) (description string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.accounts[name+"@"+f.project+".iam.gserviceaccount.com"]
	return a.GetDescription(), a != nil
}

// Bindings returns the bindings of a service account's policy.
func (f *Fake) Bindings(name string) []*iampb.Binding {
	f.mu.Lock()
	defer f.mu.Unlock()
	return clone(f.policies[name+"@"+f.project+".iam.gserviceaccount.com"]).GetBindings()
}

// AddMember adds a member to a service account's policy as somebody else would.
func (f *Fake) AddMember(name, role, member string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	policy := f.policies[name+"@"+f.project+".iam.gserviceaccount.com"]
	policy.Etag = f.etag()
	policy.Bindings = append(policy.Bindings, &iampb.Binding{Role: role, Members: []string{member}})
}
