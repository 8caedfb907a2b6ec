package gkefake

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
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
		DnsEndpointConfig: &containerpb.ControlPlaneEndpointsConfig_DNSEndpointConfig{Endpoint: "gke-" + c.GetName() + "." + f.location + ".gke.goog", AllowExternalTraffic: proto.Bool(true)},
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

// DeleteCluster takes a cluster away.
func (f *Fake) DeleteCluster(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clusters, name)
}

func lastPart(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// look returns a cluster as it is now.
func (f *Fake) look(name string) *containerpb.Cluster {
	c := f.clusters[name]
	if c != nil && c.GetStatus() == containerpb.Cluster_PROVISIONING && !time.Now().Before(f.ready[name]) {
		c.Status = containerpb.Cluster_RUNNING
		f.furnish(c)
	}
	if c.GetStatus() == containerpb.Cluster_RUNNING && !slices.ContainsFunc(slices.Collect(maps.Values(f.operations)), func(o *operation) bool { return o.cluster == name && time.Now().Before(o.done) }) {
		for _, pool := range c.GetNodePools() {
			if pool.GetStatus() == containerpb.NodePool_PROVISIONING || pool.GetStatus() == containerpb.NodePool_RECONCILING {
				pool.Status = containerpb.NodePool_RUNNING
			}
		}
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
		return f.begin(containerpb.Operation_CREATE_CLUSTER, name, ""), nil
	})
}

// CreateNodePool implements gke.Container.
func (f *containerFake) CreateNodePool(ctx context.Context, in *containerpb.CreateNodePoolRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	name := lastPart(in.GetParent())
	return do(ctx, f.Fake, "CreateNodePool", name, true, func() (*containerpb.Operation, error) {
		c, err := f.idle(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(c.GetNodePools(), func(p *containerpb.NodePool) bool { return p.GetName() == in.GetNodePool().GetName() }) {
			return nil, status.Errorf(codes.AlreadyExists, "Already exists: %s/nodePools/%s.", in.GetParent(), in.GetNodePool().GetName())
		}
		pool := clone(in.GetNodePool())
		pool.Status = containerpb.NodePool_PROVISIONING
		c.NodePools = append(c.NodePools, pool)
		return f.begin(containerpb.Operation_CREATE_NODE_POOL, name, "/nodePools/"+pool.GetName()), nil
	})
}

// idle returns a cluster that no operation is under way on.
func (f *Fake) idle(name string) (*containerpb.Cluster, error) {
	c := f.look(name)
	if c == nil {
		return nil, status.Errorf(codes.NotFound, "Not found: %s.", name)
	}
	for _, op := range f.operations {
		if op.cluster == name && time.Now().Before(op.done) {
			return nil, status.Errorf(codes.FailedPrecondition, "Cluster is running incompatible operation %s.", op.GetName())
		}
	}
	return c, nil
}

// UpdateCluster implements gke.Container, for the workload pool: it is the
// project's own and no other.
func (f *containerFake) UpdateCluster(ctx context.Context, in *containerpb.UpdateClusterRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	name := lastPart(in.GetName())
	return do(ctx, f.Fake, "UpdateCluster", name, true, func() (*containerpb.Operation, error) {
		c, err := f.idle(name)
		if err != nil {
			return nil, err
		}
		pool := in.GetUpdate().GetDesiredWorkloadIdentityConfig().GetWorkloadPool()
		if pool != f.project+".svc.id.goog" {
			return nil, status.Errorf(codes.InvalidArgument, "Workload Identity: invalid workload pool %q.", pool)
		}
		c.WorkloadIdentityConfig = &containerpb.WorkloadIdentityConfig{WorkloadPool: pool}
		return f.begin(containerpb.Operation_UPDATE_CLUSTER, name, ""), nil
	})
}

// UpdateNodePool implements gke.Container, for the mode of the metadata
// server, which needs workload identity on the cluster.
func (f *containerFake) UpdateNodePool(ctx context.Context, in *containerpb.UpdateNodePoolRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	rest, poolName, _ := strings.Cut(in.GetName(), "/nodePools/")
	name := lastPart(rest)
	return do(ctx, f.Fake, "UpdateNodePool", name+"/"+poolName, true, func() (*containerpb.Operation, error) {
		c, err := f.idle(name)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(c.GetNodePools(), func(p *containerpb.NodePool) bool { return p.GetName() == poolName })
		switch {
		case i < 0:
			return nil, status.Errorf(codes.NotFound, "Not found: %s.", in.GetName())
		case c.GetWorkloadIdentityConfig().GetWorkloadPool() == "":
			return nil, status.Error(codes.InvalidArgument, "GKE_METADATA requires Workload Identity to be enabled on the cluster.")
		}
		pool := c.GetNodePools()[i]
		if pool.GetConfig() == nil {
			pool.Config = &containerpb.NodeConfig{}
		}
		pool.Config.WorkloadMetadataConfig = clone(in.GetWorkloadMetadataConfig())
		pool.Status = containerpb.NodePool_RECONCILING
		return f.begin(containerpb.Operation_UPDATE_CLUSTER, name, "/nodePools/"+poolName), nil
	})
}

// begin starts an operation on a cluster, or on a part of it.
func (f *Fake) begin(kind containerpb.Operation_Type, cluster, part string) *containerpb.Operation {
	op := &operation{&containerpb.Operation{
		Name: fmt.Sprintf("operation-%d", f.next()), Status: containerpb.Operation_RUNNING, OperationType: kind, StartTime: time.Now().UTC().Format(time.RFC3339Nano),
		TargetLink: "https://container.googleapis.com/v1/projects/" + projectNumber + "/locations/" + f.location + "/clusters/" + cluster + part,
	}, cluster, time.Now().Add(f.pace)}
	f.operations[op.GetName()] = op
	return op.show()
}

// projectNumber is what links name the project by.
const projectNumber = "1234567890"

// ListOperations implements gke.Container.
func (f *containerFake) ListOperations(ctx context.Context, in *containerpb.ListOperationsRequest, _ ...gax.CallOption) (*containerpb.ListOperationsResponse, error) {
	return do(ctx, f.Fake, "ListOperations", in.GetParent(), false, func() (*containerpb.ListOperationsResponse, error) {
		out := &containerpb.ListOperationsResponse{}
		for _, name := range slices.Sorted(maps.Keys(f.operations)) {
			out.Operations = append(out.Operations, f.operations[name].show())
		}
		return out, nil
	})
}

// show is the operation as it is now.
func (o *operation) show() *containerpb.Operation {
	if !time.Now().Before(o.done) {
		o.Status = containerpb.Operation_DONE
	}
	return clone(o.Operation)
}

// GetOperation implements gke.Container.
func (f *containerFake) GetOperation(ctx context.Context, in *containerpb.GetOperationRequest, _ ...gax.CallOption) (*containerpb.Operation, error) {
	name := lastPart(in.GetName())
	return do(ctx, f.Fake, "GetOperation", name, false, func() (*containerpb.Operation, error) {
		op := f.operations[name]
		if op == nil {
			return nil, status.Errorf(codes.NotFound, "Not found: %s.", in.GetName())
		}
		return op.show(), nil
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
