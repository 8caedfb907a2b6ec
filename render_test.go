package planewright_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

func rendering(id string, files ...planewright.File) planewright.Step {
	return planewright.Step{
		ID:     id,
		Check:  func(context.Context, *planewright.Run) (planewright.Change, error) { return planewright.Change{}, nil },
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) { return files, nil },
	}
}

func TestRenderWritesFilesAndNamesWhatIsNotKnownYet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	unknown := rendering("demo/credential")
	unknown.Render = func(_ context.Context, run *planewright.Run) ([]planewright.File, error) {
		_, err := planewright.NewOutput[string]("demo/account", "token").Get(run)
		return nil, err
	}
	stack := planewright.NewStack("demo").WithSteps(rendering("demo/release", planewright.File{Name: "release/values.yaml", Data: []byte("a: 1\n")}), unknown)
	require.NoError(t, stack.Render(t.Context(), planewright.Directory(dir)))

	values, err := os.ReadFile(filepath.Join(dir, "release", "values.yaml"))
	require.NoError(t, err)
	assert.Equal(t, "a: 1\n", string(values))
	note, err := os.ReadFile(filepath.Join(dir, planewright.UnrenderedFile))
	require.NoError(t, err)
	assert.Equal(t, "demo/credential: token of step demo/account is not known before it has run\n", string(note))
}

func TestRenderStaysInItsFolder(t *testing.T) {
	dir := t.TempDir()
	err := planewright.NewStack("demo").WithSteps(rendering("demo/a", planewright.File{Name: "../escaped"})).
		Render(t.Context(), planewright.Directory(filepath.Join(dir, "out")))
	require.Error(t, err)
	assert.NoFileExists(t, filepath.Join(dir, "escaped"))
}

func TestTwoStepsMayNotRenderTheSameFile(t *testing.T) {
	err := planewright.NewStack("demo").WithSteps(rendering("demo/a", planewright.File{Name: "x"}), rendering("demo/b", planewright.File{Name: "x"})).
		Render(t.Context(), planewright.Directory(t.TempDir()))
	require.ErrorIs(t, err, planewright.ErrConflict)
	assert.EqualError(t, err, "steps demo/a and demo/b both render x: conflict")
}
