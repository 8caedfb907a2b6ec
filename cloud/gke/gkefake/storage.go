package gkefake

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/planewright/planewright/cloud/gke"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/storage/v1"
)

// Storage returns the project's Cloud Storage.
func (f *Fake) Storage() gke.Storage { return &storageFake{f} }

// storageFake implements gke.Storage.
type storageFake struct{ *Fake }

// Bucket is a bucket of Cloud Storage.
type Bucket struct {
	Name string
	// Location is that of the project's region, if it is empty.
	Location string
	// Public says that everybody may read it, Open that nothing keeps it from being opened.
	Public, Open bool
	KMSKey       string
}

// PutBucket puts a bucket there.
func (f *Fake) PutBucket(b Bucket) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.Location == "" {
		b.Location = f.location
	}
	made := &bucket{&storage.Bucket{Name: b.Name, Location: strings.ToUpper(b.Location), ProjectNumber: 1234567890, IamConfiguration: &storage.BucketIamConfiguration{PublicAccessPrevention: "enforced"}},
		&storage.Policy{Etag: string(f.etag()), Bindings: []*storage.PolicyBindings{{Role: "roles/storage.legacyBucketOwner", Members: []string{"projectOwner:" + f.project}}}}}
	if b.Open {
		made.IamConfiguration.PublicAccessPrevention = "inherited"
	}
	if b.Public {
		made.policy.Bindings = append(made.policy.Bindings, &storage.PolicyBindings{Role: "roles/storage.objectViewer", Members: []string{"allUsers"}})
	}
	if b.KMSKey != "" {
		made.Encryption = &storage.BucketEncryption{DefaultKmsKeyName: b.KMSKey}
	}
	f.buckets[b.Name] = made
}

func restError(code int, message string) error {
	return &googleapi.Error{Code: code, Message: message}
}

func (f *Fake) bucket(name string) (*bucket, error) {
	if b := f.buckets[name]; b != nil {
		return b, nil
	}
	return nil, restError(http.StatusNotFound, "The specified bucket does not exist.")
}

// copied copies a value by way of JSON.
func copied[T any](v *T) *T {
	data, err := json.Marshal(v)
	c := new(T)
	if err == nil {
		err = json.Unmarshal(data, c)
	}
	if err != nil {
		panic("gkefake: " + err.Error()) // a value of the API's own types has a JSON form
	}
	return c
}

// GetBucket implements gke.Storage.
func (f *storageFake) GetBucket(ctx context.Context, name string) (*storage.Bucket, error) {
	return do(ctx, f.Fake, "GetBucket", name, false, func() (*storage.Bucket, error) {
		b, err := f.bucket(name)
		if err != nil {
			return nil, err
		}
		return copied(b.Bucket), nil
	})
}

// GetBucketPolicy implements gke.Storage.
func (f *storageFake) GetBucketPolicy(ctx context.Context, name string) (*storage.Policy, error) {
	return do(ctx, f.Fake, "GetBucketPolicy", name, false, func() (*storage.Policy, error) {
		b, err := f.bucket(name)
		if err != nil {
			return nil, err
		}
		return copied(b.policy), nil
	})
}

// SetBucketPolicy implements gke.Storage. Its members must be known.
func (f *storageFake) SetBucketPolicy(ctx context.Context, name string, policy *storage.Policy) (*storage.Policy, error) {
	return do(ctx, f.Fake, "SetBucketPolicy", name, true, func() (*storage.Policy, error) {
		b, err := f.bucket(name)
		if err != nil {
			return nil, err
		}
		if policy.Etag != "" && policy.Etag != b.policy.Etag {
			return nil, restError(http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
		}
		for _, binding := range policy.Bindings {
			if binding.Condition != nil && policy.Version != 3 {
				return nil, restError(http.StatusBadRequest, "Policies with conditions must have version 3.")
			}
			for _, m := range binding.Members {
				if email, ok := strings.CutPrefix(m, "serviceAccount:"); ok && !f.known(email) {
					return nil, restError(http.StatusBadRequest, "Service account "+email+" does not exist.")
				}
			}
		}
		b.policy = copied(policy)
		b.policy.Etag = string(f.etag())
		return copied(b.policy), nil
	})
}

// BucketRoles returns the roles that a member has in a bucket, with their
// conditions.
func (f *Fake) BucketRoles(name, member string) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	roles := map[string]string{}
	for _, b := range f.buckets[name].policy.Bindings {
		for _, m := range b.Members {
			if m == member {
				roles[b.Role] = ""
				if b.Condition != nil {
					roles[b.Role] = b.Condition.Expression
				}
			}
		}
	}
	return roles
}

// BucketMembers returns the members of all bindings of a bucket's policy, as
// often as they are there.
func (f *Fake) BucketMembers(name string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var members []string
	for _, b := range f.buckets[name].policy.Bindings {
		members = append(members, b.Members...)
	}
	return members
}

// AddBucketMember adds a member to a bucket's policy as somebody else would.
func (f *Fake) AddBucketMember(name, role, member string) {
	f.AddBucketBinding(name, &storage.PolicyBindings{Role: role, Members: []string{member}})
}

// AddBucketBinding adds a binding to a bucket's policy as somebody else would.
func (f *Fake) AddBucketBinding(name string, binding *storage.PolicyBindings) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.buckets[name]
	b.policy.Etag = string(f.etag())
	b.policy.Bindings = append(b.policy.Bindings, copied(binding))
}

// BucketBindings returns the bindings of a bucket's policy.
func (f *Fake) BucketBindings(name string) []*storage.PolicyBindings {
	f.mu.Lock()
	defer f.mu.Unlock()
	return copied(f.buckets[name].policy).Bindings
}
