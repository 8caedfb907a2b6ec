package live_test

import (
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/planewright/planewright/kube/kubefake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFacts(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	fleet.Configure("dp-1", kubefake.WithNodes(kubefake.Nodes(2, "arm64")...))
	ctx := inTime(t)
	facts := fleet.Cluster("dp-1").Facts

	version, err := facts.Version(ctx)
	require.NoError(t, err)
	assert.Equal(t, kube.Version{Git: kubefake.DefaultVersion, Major: 1, Minor: 37}, version)

	nodes, err := facts.Nodes(ctx)
	require.NoError(t, err)
	require.Len(t, nodes, 2)
	assert.Equal(t, "arm64", nodes[0].Architecture)
	assert.Equal(t, "linux", nodes[0].OS)
	assert.True(t, nodes[0].Ready)
	assert.True(t, nodes[0].Schedulable)

	classes, err := facts.StorageClasses(ctx)
	require.NoError(t, err)
	require.Len(t, classes, 1)
	assert.True(t, classes[0].Default)

	deployment := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	old := schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}
	profile := schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "Profile"}
	served, err := facts.Serves(ctx, deployment, old, profile)
	require.NoError(t, err)
	assert.Equal(t, map[schema.GroupVersionKind]bool{deployment: true, old: false, profile: false}, served)
}

func TestDeniedAccesses(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	secrets := kube.Access{Verb: "create", Resource: "secrets", Namespace: "flyte"}
	roles := kube.Access{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}
	facts := fleet.Cluster("dp-1").Facts
	denied, err := facts.Denied(inTime(t), secrets, roles)
	require.NoError(t, err)
	assert.Empty(t, denied)

	fleet.Configure("dp-1", kubefake.WithDenied(roles))
	denied, err = facts.Denied(inTime(t), secrets, roles)
	require.NoError(t, err)
	assert.Equal(t, []kube.Access{roles}, denied)
	assert.Zero(t, fleet.Writes("dp-1"), "asking persists nothing")
}

func TestForward(t *testing.T) {
	fleet := fleetOf(t, "dp-1")
	ctx := inTime(t)
	// The adapter's own forwarder, which kubefake's handles put another in place of.
	cluster := adapter(t, fleet)
	_, err := cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrNotFound)

	apply(t, cluster, "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: flyte}, spec: {selector: {app: web}, ports: [{name: a, port: 80, targetPort: http}, {name: b, port: 81, targetPort: none}, {name: c, port: 82}]}}")
	_, err = cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{80}})
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	require.ErrorContains(t, err, "it selects no pod")
	assert.True(t, retryable(err))

	apply(t, cluster, workload)
	require.NoError(t, cluster.Objects.Wait(ctx, kube.WaitRequest{Refs: []kube.Ref{web}}))
	_, err = cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{443}})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, "there are the ports 80, 81, 82")
	_, err = cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{81}})
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorContains(t, err, `port "none"`)
	_, err = cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web"})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	_, err = cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: "flyte", Service: "web", Ports: []int{82}})
	require.ErrorIs(t, err, planewright.ErrUnsupported, "requests can be carried by any round tripper, streams cannot")
}
