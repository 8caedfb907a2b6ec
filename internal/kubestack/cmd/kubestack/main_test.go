package main

import (
	"bytes"
	"flag"
	"testing"

	"github.com/planewright/planewright/internal/kubestack"
	"github.com/stretchr/testify/require"
)

func TestRunRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"nothing":           {nil, "usage:"},
		"unknown command":   {[]string{"down"}, `unknown command "down"`},
		"unknown flag":      {[]string{"up", "-n", "3"}, "-n"},
		"stray argument":    {[]string{"build", "now"}, `unexpected argument "now"`},
		"no clusters":       {[]string{"up"}, "-clusters is required"},
		"no nodes":          {[]string{"up", "-clusters", "a", "-nodes", "0"}, "-nodes 0"},
		"cluster as a word": {[]string{"up", "a"}, `unexpected argument "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.ErrorIs(t, run(t.Context(), test.args, &stdout, &stderr), errUsage)
			require.Contains(t, stderr.String(), test.says)
			require.Empty(t, stdout.String())
		})
	}
}

func TestRunHelps(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"help"}, &stdout, &stderr))
	require.Equal(t, usage, stdout.String())

	require.ErrorIs(t, run(t.Context(), []string{"up", "-h"}, &stdout, &stderr), flag.ErrHelp)
	require.Contains(t, stderr.String(), "-clusters")
}

func TestPathBeforeBuild(t *testing.T) {
	t.Setenv("PLANEWRIGHT_KUBESTACK_DIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	require.ErrorIs(t, run(t.Context(), []string{"path"}, &stdout, &stderr), kubestack.ErrNotBuilt)
	require.Empty(t, stdout.String())
}
