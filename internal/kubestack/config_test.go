package kubestack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigValidate(t *testing.T) {
	require.NoError(t, Config{Clusters: Named("control", "data-1")}.validate())

	for name, test := range map[string]struct {
		clusters []Cluster
		wants    []string
	}{
		"none":      {nil, []string{"at least one"}},
		"same name": {Named("a", "a"), []string{`clusters[1].name "a"`}},
		"all at once": {
			[]Cluster{{Name: "A/b"}, {Name: ""}, {Name: "c", Nodes: -1}},
			[]string{`clusters[0].name "A/b"`, `clusters[1].name ""`, "clusters[2].nodes -1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := Config{Clusters: test.clusters}.validate()
			for _, want := range test.wants {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestClusterDefaults(t *testing.T) {
	require.Equal(t, Cluster{Name: "a", Nodes: 3, NodeArch: "amd64"}, Cluster{Name: "a"}.withDefaults())
	set := Cluster{Name: "a", Nodes: 1, NodeArch: "arm64"}
	require.Equal(t, set, set.withDefaults())
}
