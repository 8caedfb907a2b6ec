package gkefake

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	container "cloud.google.com/go/container/apiv1"
	admin "cloud.google.com/go/iam/admin/apiv1"

	"cloud.google.com/go/container/apiv1/containerpb"
	"cloud.google.com/go/iam"
	"cloud.google.com/go/iam/admin/apiv1/adminpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"github.com/planewright/planewright/cloud/gke"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Register puts the project's GKE and IAM behind a gRPC server, so that
// Google's own clients talk to it.
func (f *Fake) Register(server *grpc.Server) {
	containerpb.RegisterClusterManagerServer(server, containerServer{fake: &containerFake{f}})
	adminpb.RegisterIAMServer(server, &iamServer{fake: &iamFake{f}})
}

// ConfigOver returns what an account is made of, with Google's own clients:
// over a connection to a server that the fake is registered with, and for a
// server that has the fake's [Fake.StorageHandler] at the URL.
func (f *Fake) ConfigOver(ctx context.Context, conn *grpc.ClientConn, storageURL string) (gke.Config, error) {
	config := f.Config()
	clusters, err := container.NewClusterManagerClient(ctx, option.WithGRPCConn(conn))
	if err != nil {
		return config, err
	}
	identities, err := admin.NewIamClient(ctx, option.WithGRPCConn(conn))
	if err != nil {
		return config, err
	}
	service, err := storage.NewService(ctx, option.WithEndpoint(storageURL), option.WithoutAuthentication())
	if err != nil {
		return config, err
	}
	config.Container, config.IAM, config.Storage = clusters, identities, gke.NewStorage(service)
	return config, nil
}

type containerServer struct {
	containerpb.UnimplementedClusterManagerServer
	fake *containerFake
}

func (s containerServer) GetCluster(ctx context.Context, in *containerpb.GetClusterRequest) (*containerpb.Cluster, error) {
	return s.fake.GetCluster(ctx, in)
}

func (s containerServer) ListClusters(ctx context.Context, in *containerpb.ListClustersRequest) (*containerpb.ListClustersResponse, error) {
	return s.fake.ListClusters(ctx, in)
}

func (s containerServer) CreateCluster(ctx context.Context, in *containerpb.CreateClusterRequest) (*containerpb.Operation, error) {
	return s.fake.CreateCluster(ctx, in)
}

func (s containerServer) CreateNodePool(ctx context.Context, in *containerpb.CreateNodePoolRequest) (*containerpb.Operation, error) {
	return s.fake.CreateNodePool(ctx, in)
}

func (s containerServer) UpdateCluster(ctx context.Context, in *containerpb.UpdateClusterRequest) (*containerpb.Operation, error) {
	return s.fake.UpdateCluster(ctx, in)
}

func (s containerServer) UpdateNodePool(ctx context.Context, in *containerpb.UpdateNodePoolRequest) (*containerpb.Operation, error) {
	return s.fake.UpdateNodePool(ctx, in)
}

func (s containerServer) ListOperations(ctx context.Context, in *containerpb.ListOperationsRequest) (*containerpb.ListOperationsResponse, error) {
	return s.fake.ListOperations(ctx, in)
}

func (s containerServer) GetOperation(ctx context.Context, in *containerpb.GetOperationRequest) (*containerpb.Operation, error) {
	return s.fake.GetOperation(ctx, in)
}

type iamServer struct {
	adminpb.UnimplementedIAMServer
	fake *iamFake
}

func (s *iamServer) GetServiceAccount(ctx context.Context, in *adminpb.GetServiceAccountRequest) (*adminpb.ServiceAccount, error) {
	return s.fake.GetServiceAccount(ctx, in)
}

func (s *iamServer) CreateServiceAccount(ctx context.Context, in *adminpb.CreateServiceAccountRequest) (*adminpb.ServiceAccount, error) {
	return s.fake.CreateServiceAccount(ctx, in)
}

func (s *iamServer) PatchServiceAccount(ctx context.Context, in *adminpb.PatchServiceAccountRequest) (*adminpb.ServiceAccount, error) {
	return s.fake.PatchServiceAccount(ctx, in)
}

func (s *iamServer) DeleteServiceAccount(ctx context.Context, in *adminpb.DeleteServiceAccountRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.fake.DeleteServiceAccount(ctx, in)
}

func (s *iamServer) GetIamPolicy(ctx context.Context, in *iampb.GetIamPolicyRequest) (*iampb.Policy, error) {
	policy, err := s.fake.GetIamPolicy(ctx, in)
	if err != nil {
		return nil, err
	}
	return policy.InternalProto, nil
}

func (s *iamServer) SetIamPolicy(ctx context.Context, in *iampb.SetIamPolicyRequest) (*iampb.Policy, error) {
	policy, err := s.fake.SetIamPolicy(ctx, &admin.SetIamPolicyRequest{Resource: in.GetResource(), Policy: &iam.Policy{InternalProto: in.GetPolicy()}})
	if err != nil {
		return nil, err
	}
	return policy.InternalProto, nil
}

// StorageHandler is the project's Cloud Storage over HTTP, for Google's REST
// client: buckets and their policies.
func (f *Fake) StorageHandler() http.Handler {
	buckets := &storageFake{f}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/b/"), "/")
		var answer any
		var err error
		switch {
		case rest == "" && r.Method == http.MethodGet:
			answer, err = buckets.GetBucket(r.Context(), name)
		case rest == "iam" && r.Method == http.MethodGet && r.URL.Query().Get("optionsRequestedPolicyVersion") == "3":
			answer, err = buckets.GetBucketPolicy(r.Context(), name)
		case rest == "iam" && r.Method == http.MethodPut:
			policy := &storage.Policy{}
			if err = json.NewDecoder(r.Body).Decode(policy); err == nil {
				answer, err = buckets.SetBucketPolicy(r.Context(), name, policy)
			}
		default:
			err = restError(http.StatusNotImplemented, r.Method+" "+r.URL.String())
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			code := http.StatusServiceUnavailable // a fault of gRPC's has no better one here
			message := status.Convert(err).Message()
			var own *googleapi.Error
			if errors.As(err, &own) {
				code, message = own.Code, own.Message
			}
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": message}})
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
}
