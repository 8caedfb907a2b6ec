package containertest

import (
	"context"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Fixture is an engine to try the contract on.
type Fixture struct {
	Engine container.Engine
	// Image can be pulled, and runs until it is stopped. A container of it
	// holds File with Content, and writes Line to its log when it starts.
	Image, File, Content, Line string
	// Port is free on this machine.
	Port int
}

// Run tries the contract. Each test gets a fixture of its own.
func Run(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Fixture){
		"an engine describes itself":                 describes,
		"what is not there is not found":             findsNothing,
		"an image is pulled, and then there":         pulls,
		"a volume keeps the labels of who made it":   keepsVolumes,
		"a container is made, started and described": runs,
		"a name is taken once":                       refusesNames,
		"a port is taken once":                       refusesPorts,
		"a container ends, and is there again":       stops,
		"a volume in use is not removed":             keepsUsedVolumes,
		"files and logs are read":                    reads,
		"a call that is cancelled does nothing":      cancels,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFixture(t)) })
	}
}

const (
	name   = "planewright-contract"
	volume = "planewright-contract"
)

func (f Fixture) spec() container.Spec {
	return container.Spec{
		Name: name, Image: f.Image,
		Labels:      map[string]string{"planewright.dev/stack": "contract"},
		Environment: []string{"CONTRACT=kept"},
		Ports:       []container.Port{{Address: "127.0.0.1", Host: f.Port, Container: 8080}},
		Mounts:      []container.Mount{{Volume: volume, Target: "/data"}},
		Privileged:  true,
		Hosts:       []string{"host.docker.internal:host-gateway"},
	}
}

// start makes a container and runs it.
func (f Fixture) start(t *testing.T) {
	t.Helper()
	require.NoError(t, f.Engine.Pull(t.Context(), f.Image, func(string) {}))
	require.NoError(t, f.Engine.CreateVolume(t.Context(), container.Volume{Name: volume}))
	require.NoError(t, f.Engine.Create(t.Context(), f.spec()))
	require.NoError(t, f.Engine.Start(t.Context(), name))
}

func describes(t *testing.T, f Fixture) {
	info, err := f.Engine.Info(t.Context())
	require.NoError(t, err)
	assert.Contains(t, []string{"docker", "podman"}, info.Name)
	assert.NotEmpty(t, info.Version)
	assert.Equal(t, "linux", info.OS)
	assert.Contains(t, []string{"amd64", "arm64"}, info.Architecture)
	assert.Contains(t, info.Socket, "://")
	assert.Positive(t, info.CPUs)
	assert.Positive(t, info.Memory)
}

func findsNothing(t *testing.T, f Fixture) {
	has, err := f.Engine.HasImage(t.Context(), "planewright.invalid/none:1")
	require.NoError(t, err)
	assert.False(t, has)
	require.ErrorIs(t, f.Engine.Pull(t.Context(), "planewright.invalid/none:1", func(string) {}), planewright.ErrNotFound)
	_, err = f.Engine.Volume(t.Context(), volume)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorIs(t, f.Engine.RemoveVolume(t.Context(), volume), planewright.ErrNotFound)
	_, err = f.Engine.Container(t.Context(), name)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorIs(t, f.Engine.Start(t.Context(), name), planewright.ErrNotFound)
	require.ErrorIs(t, f.Engine.Stop(t.Context(), name), planewright.ErrNotFound)
	require.ErrorIs(t, f.Engine.Remove(t.Context(), name), planewright.ErrNotFound)
	_, err = f.Engine.ReadFile(t.Context(), name, "/file")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = f.Engine.Logs(t.Context(), name, 5)
	require.ErrorIs(t, err, planewright.ErrNotFound)
	require.ErrorIs(t, f.Engine.Create(t.Context(), container.Spec{Name: name, Image: "planewright.invalid/none:1"}), planewright.ErrNotFound, "the image is not there")
}

func pulls(t *testing.T, f Fixture) {
	var told []string
	require.NoError(t, f.Engine.Pull(t.Context(), f.Image, func(line string) { told = append(told, line) }))
	assert.NotEmpty(t, told)
	has, err := f.Engine.HasImage(t.Context(), f.Image)
	require.NoError(t, err)
	assert.True(t, has)
}

func keepsVolumes(t *testing.T, f Fixture) {
	require.NoError(t, f.Engine.CreateVolume(t.Context(), container.Volume{Name: volume, Labels: map[string]string{"made-by": "first"}}))
	require.NoError(t, f.Engine.CreateVolume(t.Context(), container.Volume{Name: volume, Labels: map[string]string{"made-by": "second"}}))
	got, err := f.Engine.Volume(t.Context(), volume)
	require.NoError(t, err)
	assert.Equal(t, container.Volume{Name: volume, Labels: map[string]string{"made-by": "first"}}, got)
	require.NoError(t, f.Engine.RemoveVolume(t.Context(), volume))
	_, err = f.Engine.Volume(t.Context(), volume)
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func runs(t *testing.T, f Fixture) {
	require.NoError(t, f.Engine.Pull(t.Context(), f.Image, func(string) {}))
	require.NoError(t, f.Engine.Create(t.Context(), f.spec()))
	got, err := f.Engine.Container(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, container.StateCreated, got.State)
	require.NoError(t, f.Engine.Start(t.Context(), name))
	require.NoError(t, f.Engine.Start(t.Context(), name), "what runs is started again without an error")
	got, err = f.Engine.Container(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, container.StateRunning, got.State)
	assert.NotEmpty(t, got.ID)
	assert.Contains(t, got.Environment, "CONTRACT=kept")
	assert.Equal(t, "contract", got.Labels["planewright.dev/stack"])
	want := f.spec()
	assert.Equal(t, want.Image, got.Image)
	assert.Equal(t, want.Ports, got.Ports)
	assert.Equal(t, want.Mounts, got.Mounts)
	assert.Equal(t, want.Hosts, got.Hosts)
	assert.True(t, got.Privileged)
	list, err := f.Engine.List(t.Context())
	require.NoError(t, err)
	var listed []container.Container
	for _, c := range list {
		if c.Name == name {
			listed = append(listed, c)
		}
	}
	require.Len(t, listed, 1)
	assert.Equal(t, want.Ports, listed[0].Ports)
	assert.Equal(t, container.StateRunning, listed[0].State)
}

func refusesNames(t *testing.T, f Fixture) {
	f.start(t)
	require.ErrorIs(t, f.Engine.Create(t.Context(), f.spec()), planewright.ErrAlreadyExists)
}

func refusesPorts(t *testing.T, f Fixture) {
	f.start(t)
	other := f.spec()
	other.Name += "-2"
	require.NoError(t, f.Engine.Create(t.Context(), other))
	err := f.Engine.Start(t.Context(), other.Name)
	require.ErrorIs(t, err, planewright.ErrConflict)
	got, err := f.Engine.Container(t.Context(), other.Name)
	require.NoError(t, err)
	assert.NotEqual(t, container.StateRunning, got.State)
}

func stops(t *testing.T, f Fixture) {
	f.start(t)
	require.NoError(t, f.Engine.Stop(t.Context(), name))
	require.NoError(t, f.Engine.Stop(t.Context(), name))
	got, err := f.Engine.Container(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, container.StateExited, got.State)
	assert.Equal(t, f.spec().Ports, got.Ports, "what is asked for is told of a container that does not run, too")
	require.NoError(t, f.Engine.Start(t.Context(), name))
	require.NoError(t, f.Engine.Remove(t.Context(), name), "also one that runs")
	_, err = f.Engine.Container(t.Context(), name)
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func keepsUsedVolumes(t *testing.T, f Fixture) {
	f.start(t)
	require.ErrorIs(t, f.Engine.RemoveVolume(t.Context(), volume), planewright.ErrConflict)
	require.NoError(t, f.Engine.Remove(t.Context(), name))
	_, err := f.Engine.Volume(t.Context(), volume)
	require.NoError(t, err, "a container does not take its volume with it")
	require.NoError(t, f.Engine.RemoveVolume(t.Context(), volume))
}

func reads(t *testing.T, f Fixture) {
	f.start(t)
	data, err := f.Engine.ReadFile(t.Context(), name, f.File)
	require.NoError(t, err)
	assert.Equal(t, f.Content, string(data))
	_, err = f.Engine.ReadFile(t.Context(), name, "/no/such/file")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	text, err := f.Engine.Logs(t.Context(), name, 1)
	require.NoError(t, err)
	assert.Equal(t, f.Line, text)
}

func cancels(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.Engine.CreateVolume(ctx, container.Volume{Name: volume}), context.Canceled)
	_, err := f.Engine.Volume(t.Context(), volume)
	require.ErrorIs(t, err, planewright.ErrNotFound)
}
