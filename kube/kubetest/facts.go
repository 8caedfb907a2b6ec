package kubetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (s *suite) facts(t *testing.T) {
	s.test(t, "tells version and endpoint", testVersion)
	s.test(t, "tells nodes and storage classes, sorted", testNodes)
	s.test(t, "tells which kinds are served, a new one as soon as it is", testServes)
	s.test(t, "tells which permissions are missing", testDenied)
}

func testVersion(s *scene) {
	t := s.t
	v, err := s.cluster.Facts.Version(s.ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, v.Major)
	assert.GreaterOrEqual(t, v.Minor, 30)
	assert.Regexp(t, `^v1\.\d+\.\d+`, v.Git)
	e, err := s.cluster.Facts.Endpoint(s.ctx)
	require.NoError(t, err)
	assert.Regexp(t, `^https?://[^/]+`, e.URL)
	if len(e.CA) > 0 {
		assert.Contains(t, string(e.CA), "-----BEGIN CERTIFICATE-----")
	}
}

func testNodes(s *scene) {
	t := s.t
	nodes, err := s.cluster.Facts.Nodes(s.ctx)
	require.NoError(t, err)
	require.NotEmpty(t, nodes)
	assert.True(t, slices.IsSortedFunc(nodes, func(a, b kube.Node) int { return strings.Compare(a.Name, b.Name) }))
	for _, n := range nodes {
		assert.NotEmpty(t, n.Architecture, n.Name)
		assert.Equal(t, "linux", n.OS, n.Name)
		assert.Equal(t, n.Name, n.Labels["kubernetes.io/hostname"])
	}
	assert.True(t, slices.ContainsFunc(nodes, func(n kube.Node) bool { return n.Ready && n.Schedulable }))

	classes, err := s.cluster.Facts.StorageClasses(s.ctx)
	require.NoError(t, err)
	assert.True(t, slices.IsSortedFunc(classes, func(a, b kube.StorageClass) int { return strings.Compare(a.Name, b.Name) }))
	assert.True(t, slices.ContainsFunc(classes, func(c kube.StorageClass) bool { return c.Default && c.Provisioner != "" }), "%v", classes)
}

func testServes(s *scene) {
	t := s.t
	group := "k" + s.suffix + ".kubetest.example"
	deployments := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	ancient := schema.GroupVersionKind{Group: "extensions", Version: "v1beta1", Kind: "Deployment"}
	gadgets := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Gadget"}
	served, err := s.cluster.Facts.Serves(s.ctx, deployments, ancient, gadgets)
	require.NoError(t, err)
	assert.Equal(t, map[schema.GroupVersionKind]bool{deployments: true, ancient: false, gadgets: false}, served)

	crd := s.object(definition(group, "Gadget", "gadgets"))
	s.cleanup(t, kube.RefOf(crd))
	s.apply(t, crd)
	require.NoError(t, s.wait(kube.WaitRequest{Refs: []kube.Ref{kube.RefOf(crd)}}))
	s.applySoon(t, `{apiVersion: `+group+`/v1, kind: Gadget, metadata: {name: one}}`)
	served, err = s.cluster.Facts.Serves(s.ctx, gadgets)
	require.NoError(t, err)
	assert.Equal(t, map[schema.GroupVersionKind]bool{gadgets: true}, served)
}

func testDenied(s *scene) {
	t := s.t
	denied, err := s.cluster.Facts.Denied(s.ctx,
		kube.Access{Verb: "create", Resource: "secrets", Namespace: s.namespace},
		kube.Access{Verb: "*", Group: "apps", Resource: "deployments", Namespace: s.namespace},
		kube.Access{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"},
	)
	require.NoError(t, err)
	assert.Empty(t, denied, "the suite runs with credentials that may do anything")
}
