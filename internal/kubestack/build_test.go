package kubestack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeGo puts a go command first in PATH that makes empty executables at once, and
// writes a line to the returned file each time it builds.
func fakeGo(t *testing.T, then string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	for _, file := range kwokStageFiles() {
		path := filepath.Join(dir, "kwok", file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("# "+filepath.Base(file)+"\n"), 0o644))
	}
	var names []string
	for _, p := range Programs() {
		names = append(names, p.builtName())
	}
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = list ]; then echo %[1]s/kwok; exit; fi
echo build >>%[2]s
test -f go.mod && test -f go.sum || exit 1
while [ "$1" != -o ]; do shift; done
for name in %[3]s; do : >"$2/$name"; done
%[4]s
`, dir, calls, strings.Join(names, " "), then)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return calls
}

func TestFindBeforeBuild(t *testing.T) {
	_, err := Find(Options{CacheDir: t.TempDir()})
	require.ErrorIs(t, err, ErrNotBuilt)
}

func TestBuildOnceForSeveralCallers(t *testing.T) {
	calls := fakeGo(t, "")
	options := Options{CacheDir: t.TempDir()}
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			bin, err := Build(context.Background(), options)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(bin.Path(Etcd)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()

	built, err := os.ReadFile(calls)
	require.NoError(t, err)
	require.Equal(t, "build\n", string(built))

	bin, err := Find(options)
	require.NoError(t, err)
	stages, err := os.ReadFile(bin.stages())
	require.NoError(t, err)
	require.Contains(t, string(stages), "# node-initialize.yaml")
	require.Contains(t, string(stages), "\n---\n# pod-ready.yaml")
}

func TestBuildAgainWhenIncomplete(t *testing.T) {
	calls := fakeGo(t, "")
	options := Options{CacheDir: t.TempDir()}
	bin, err := Build(context.Background(), options)
	require.NoError(t, err)
	require.NoError(t, os.Remove(bin.Path(Helm)))
	_, err = Find(options)
	require.ErrorIs(t, err, ErrNotBuilt)
	abandoned := bin.Dir + ".tmp-1"
	require.NoError(t, os.Mkdir(abandoned, 0o755))

	_, err = Build(context.Background(), options)
	require.NoError(t, err)
	require.NoDirExists(t, abandoned)
	built, err := os.ReadFile(calls)
	require.NoError(t, err)
	require.Equal(t, "build\nbuild\n", string(built))
}

func TestBuildFails(t *testing.T) {
	fakeGo(t, "echo undefined: something >&2; exit 1")
	var log bytes.Buffer
	options := Options{CacheDir: t.TempDir(), Log: &log}
	_, err := Build(context.Background(), options)
	require.ErrorContains(t, err, "undefined: something")
	require.Contains(t, log.String(), "undefined: something")

	left, err := filepath.Glob(filepath.Join(options.CacheDir, "*.tmp-*"))
	require.NoError(t, err)
	require.Empty(t, left, "a failed build leaves no folder")
	_, err = Find(options)
	require.ErrorIs(t, err, ErrNotBuilt)
}

func TestBuildDirFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(cacheDirVariable, dir)
	got, err := Options{}.buildDir()
	require.NoError(t, err)
	require.Equal(t, dir, filepath.Dir(got))

	got, err = Options{CacheDir: "/elsewhere"}.buildDir()
	require.NoError(t, err)
	require.Equal(t, "/elsewhere", filepath.Dir(got), "what the caller says wins")
}
