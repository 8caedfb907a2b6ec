package kubetest

import (
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/kube"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testPatch(s *scene) {
	t := s.t
	s.create(t, s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {size: "1", color: red}}`))
	ref := s.ref("v1", "ConfigMap", "settings")
	patched, err := s.cluster.Objects.Patch(s.ctx, ref, kube.Patch{}.
		WithTest("/data/size", "1").
		WithReplaced("/data/size", "2").
		WithAdded("/data/shape", "round").
		WithRemoved("/data/color"))
	require.NoError(t, err)
	want := map[string]any{"size": "2", "shape": "round"}
	assert.Equal(t, want, field(patched, "data"))
	before := s.get(t, "v1", "ConfigMap", "settings")
	assert.Equal(t, want, field(before, "data"))

	same, err := s.cluster.Objects.Patch(s.ctx, ref, kube.Patch{}.WithReplaced("/data/size", "2"))
	require.NoError(t, err)
	assert.Equal(t, before.GetResourceVersion(), same.GetResourceVersion(), "a patch that changes nothing is not stored")

	for name, patch := range map[string]kube.Patch{
		"a test that does not hold":      kube.Patch{}.WithReplaced("/data/shape", "square").WithTest("/data/size", "1"),
		"removing what is not there":     kube.Patch{}.WithReplaced("/data/shape", "square").WithRemoved("/data/weight"),
		"a test of what is not there":    kube.Patch{}.WithReplaced("/data/shape", "square").WithTest("/data/weight", "1"),
		"adding below what is not there": kube.Patch{}.WithReplaced("/data/shape", "square").WithAdded("/more/weight", "1"),
	} {
		_, err = s.cluster.Objects.Patch(s.ctx, ref, patch)
		require.ErrorIs(t, err, planewright.ErrConflict, name)
		assert.False(t, retryable(err), "%s: the same patch will not do later either", name)
		assert.Equal(t, want, field(s.get(t, "v1", "ConfigMap", "settings"), "data"), "%s: all or nothing", name)
	}
	_, err = s.cluster.Objects.Patch(s.ctx, ref, kube.Patch{}.WithAdded("/data/size", map[string]any{"a": "b"}))
	require.Error(t, err, "what comes out must be valid")
	_, err = s.cluster.Objects.Patch(s.ctx, ref, kube.Patch{})
	require.ErrorIs(t, err, planewright.ErrInvalid)
	_, err = s.cluster.Objects.Patch(s.ctx, s.ref("v1", "ConfigMap", "missing"), kube.Patch{}.WithAdded("/data", map[string]any{}))
	require.ErrorIs(t, err, planewright.ErrNotFound)
}
