package gke

import (
	"context"

	"cloud.google.com/go/container/apiv1/containerpb"
	admin "cloud.google.com/go/iam/admin/apiv1"

	"cloud.google.com/go/iam"
	"cloud.google.com/go/iam/admin/apiv1/adminpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/storage/v1"
)

// Container is what is used of GKE's API. *container.ClusterManagerClient is
// one, gkefake has another.
type Container interface {
	GetCluster(context.Context, *containerpb.GetClusterRequest, ...gax.CallOption) (*containerpb.Cluster, error)
	ListClusters(context.Context, *containerpb.ListClustersRequest, ...gax.CallOption) (*containerpb.ListClustersResponse, error)
	CreateCluster(context.Context, *containerpb.CreateClusterRequest, ...gax.CallOption) (*containerpb.Operation, error)
	CreateNodePool(context.Context, *containerpb.CreateNodePoolRequest, ...gax.CallOption) (*containerpb.Operation, error)
	UpdateCluster(context.Context, *containerpb.UpdateClusterRequest, ...gax.CallOption) (*containerpb.Operation, error)
	UpdateNodePool(context.Context, *containerpb.UpdateNodePoolRequest, ...gax.CallOption) (*containerpb.Operation, error)
	ListOperations(context.Context, *containerpb.ListOperationsRequest, ...gax.CallOption) (*containerpb.ListOperationsResponse, error)
	GetOperation(context.Context, *containerpb.GetOperationRequest, ...gax.CallOption) (*containerpb.Operation, error)
}

// IAM is what is used of IAM's API. *admin.IamClient is one, gkefake has another.
type IAM interface {
	GetServiceAccount(context.Context, *adminpb.GetServiceAccountRequest, ...gax.CallOption) (*adminpb.ServiceAccount, error)
	CreateServiceAccount(context.Context, *adminpb.CreateServiceAccountRequest, ...gax.CallOption) (*adminpb.ServiceAccount, error)
	PatchServiceAccount(context.Context, *adminpb.PatchServiceAccountRequest, ...gax.CallOption) (*adminpb.ServiceAccount, error)
	DeleteServiceAccount(context.Context, *adminpb.DeleteServiceAccountRequest, ...gax.CallOption) error
	GetIamPolicy(context.Context, *iampb.GetIamPolicyRequest) (*iam.Policy, error)
	SetIamPolicy(context.Context, *admin.SetIamPolicyRequest) (*iam.Policy, error)
}

// Storage is what is used of Cloud Storage. [NewStorage] makes one of the
// REST client, gkefake has another.
type Storage interface {
	GetBucket(ctx context.Context, name string) (*storage.Bucket, error)
	// GetBucketPolicy returns the policy in version 3, with its conditions.
	GetBucketPolicy(ctx context.Context, name string) (*storage.Policy, error)
	SetBucketPolicy(ctx context.Context, name string, policy *storage.Policy) (*storage.Policy, error)
}

// policyVersion is the version of policies that have conditions. A policy that
// is read in another version lacks them, and written back would lose them.
const policyVersion = 3

type restStorage struct{ service *storage.Service }

// NewStorage makes a Storage of the REST client for Cloud Storage. It is used
// instead of the larger cloud.google.com/go/storage, of which nothing else is needed.
func NewStorage(service *storage.Service) Storage { return restStorage{service} }

func (s restStorage) GetBucket(ctx context.Context, name string) (*storage.Bucket, error) {
	return s.service.Buckets.Get(name).Context(ctx).Do()
}

func (s restStorage) GetBucketPolicy(ctx context.Context, name string) (*storage.Policy, error) {
	return s.service.Buckets.GetIamPolicy(name).OptionsRequestedPolicyVersion(policyVersion).Context(ctx).Do()
}

func (s restStorage) SetBucketPolicy(ctx context.Context, name string, policy *storage.Policy) (*storage.Policy, error) {
	return s.service.Buckets.SetIamPolicy(name, policy).Context(ctx).Do()
}
