package gkefake

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"cloud.google.com/go/container/apiv1/containerpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/planewright/planewright/cloud/gke"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Container returns the project's GKE.
func (f *Fake) Container() gke.Container { return &containerFake{f} }

// containerFake implements gke.Container.
type containerFake struct{ *Fake }

const certificateAuthority = "-----BEGIN CERTIFICATE-----\nZmFrZQ==\n-----END CERTIFICATE-----\n"

// AddCluster adds a running cluster with workload identity, as somebody else
// would have made it.
func (f *Fake) AddCluster(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clusters[name] = &containerpb.Cluster{Name: name, Status: containerpb.Cluster_RUNNING, WorkloadIdentityConfig: &containerpb.WorkloadIdentityConfig{WorkloadPool: f.project + ".svc.id.goog"}}
	f.furnish(f.clusters[name])
}

// furnish adds what a running cluster has.
func (f *Fake) furnish(c *containerpb.Cluster) {
	c.Id, c.Location, c.CurrentMasterVersion = fmt.Sprint(f.next()), f.location, "1.33.2-gke.100"
	private := "10.0.0.2"
	closed := c.GetControlPlaneEndpointsConfig().GetIpEndpointsConfig() != nil && !c.GetControlPlaneEndpointsConfig().GetIpEndpointsConfig().GetEnablePublicEndpoint()
	c.ControlPlaneEndpointsConfig = &containerpb.ControlPlaneEndpointsConfig{
		DnsEndpointConfig: &containerpb.ControlPlaneEndpointsConfig_DNSEndpointConfig{Endpoint: "gke-" + c.GetName() + "." + f.location + ".gke.goog"},
		IpEndpointsConfig: &containerpb.ControlPlaneEndpointsConfig_IPEndpointsConfig{PrivateEndpoint: private},
	}
	c.Endpoint = "203.0.113.7"
	if closed {
		c.Endpoint = private
	}
	c.MasterAuth = &containerpb.MasterAuth{ClusterCaCertificate: base64.StdEncoding.EncodeToString([]byte(certificateAuthority))}
	for _, pool := range c.GetNodePools() {
		pool.Status = containerpb.NodePool_RUNNING
	}
}

// ChangeCluster changes a cluster as somebody else would.
func (f *Fake) ChangeCluster(name string, change func(*containerpb.Cluster)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f.clusters[name])
}

func lastPart(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// look returns a cluster as it is now.
func (f *Fake) look(name string) *containerpb.Cluster {
	c := f.clusters[name]
	if c != nil && c.GetStatus() == containerpb.Cluster_PROVISIONING && !time.Now().Before(f.ready[name]) {
		c.Status = containerpb.Cluster_RUNNING
		f.furnish(c)
	}
	return c
}

// GetCluster implements gke.Container.
func (f *containerFake) GetCluster(ctx context.Context, in *containerpb.GetClusterRequest, _ ...gax.CallOption) (*containerpb.Cluster, error) {
	name := lastPart(in.GetName())
	return do(ctx, f.Fake, "GetCluster", name, false, func() (*containerpb.Cluster, error) {
		c := f.look(name)
		if c == nil || in.GetName() != "projects/"+f.project+"/locations/"+f.location+"/clusters/"+name {
			return nil, status.Errorf(codes.NotFound, "Not found: %s.", in.GetName())
		}
		return clone(c), nil
	})
}

func clone[M proto.Message](m M) M { return proto.Clone(m).(M) } //nolint:forcetypeassert // a clone is of its own type

// ListClusters implements gke.Container.
func (f *containerFake) ListClusters(ctx context.Context, in *containerpb.ListClustersRequest, _ ...gax.CallOption) (*containerpb.ListClustersResponse, error) {
	return do(ctx, f.Fake, "ListClusters", in.GetParent(), false, func() (*containerpb.ListClustersResponse, error) {
		out := &containerpb.ListClustersResponse{}
		for name := range f.clusters {
			out.Clusters = append(out.Clusters, clone(f.look(name)))
		}
		return out, nil
	})
}

// CreateCluster implements gke.Container.
func (f *containerFake) CreateCluster(ctx context.Context, in *containerpb.CreateClusterRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	name := in.GetCluster().GetName()
	return do(ctx, f.Fake, "CreateCluster", name, true, func() (*containerpb.Operation, error) {
		switch {
		case f.clusters[name] != nil:
			return nil, status.Errorf(codes.AlreadyExists, "Already exists: %s/clusters/%s.", in.GetParent(), name)
		case len(in.GetCluster().GetNodePools()) == 0:
			return nil, status.Error(codes.InvalidArgument, "Cluster.initial_node_count must be greater than zero.")
		}
		c := clone(in.GetCluster())
		c.Status, c.Location = containerpb.Cluster_PROVISIONING, f.location
		f.clusters[name], f.ready[name] = c, time.Now().Add(f.pace)
		return f.begin(name), nil
	})
}

// CreateNodePool implements gke.Container.
func (f *containerFake) CreateNodePool(ctx context.Context, in *containerpb.CreateNodePoolRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	name := lastPart(in.GetParent())
	return do(ctx, f.Fake, "CreateNodePool", name, true, func() (*containerpb.Operation, error) {
		c := f.look(name)
		if c == nil {
			return nil, status.Errorf(codes.NotFound, "Not found: %s.", in.GetParent())
		}
		for _, op := range f.operations {
			if op.cluster == name && time.Now().Before(op.done) {
				return nil, status.Errorf(codes.FailedPrecondition, "Cluster is running incompatible operation %s.", op.GetName())
			}
		}
		c.NodePools = append(c.NodePools, clone(in.GetNodePool()))
		return f.begin(name), nil
	})
}

// begin starts an operation on a cluster.
func (f *Fake) begin(cluster string) *containerpb.Operation {
	op := &operation{&containerpb.Operation{Name: fmt.Sprintf("operation-%d", f.next()), Status: containerpb.Operation_RUNNING}, cluster, time.Now().Add(f.pace)}
	f.operations[op.GetName()] = op
	return clone(op.Operation)
}

// GetOperation implements gke.Container.
func (f *containerFake) GetOperation(ctx context.Context, in *containerpb.GetOperationRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	name := lastPart(in.GetName())
	return do(ctx, f.Fake, "GetOperation", name, false, func() (*containerpb.Operation, error) {
		op := f.operations[name]
		if op == nil {
			return nil, status.Errorf(codes.NotFound, "Not found: %s.", in.GetName())
		}
		if !time.Now().Before(op.done) {
			op.Status = containerpb.Operation_DONE
		}
		return clone(op.Operation), nil
	})
}

// FailOperations has the operations under way end with an error, and their
// clusters with them.
func (f *Fake) FailOperations(message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, op := range f.operations {
		if time.Now().Before(op.done) {
			op.done, op.Error = time.Now(), &spb.Status{Code: int32(codes.ResourceExhausted), Message: message}
			f.clusters[op.cluster].Status = containerpb.Cluster_ERROR
		}
	}
}
