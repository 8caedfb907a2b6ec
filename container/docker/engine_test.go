package docker_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
	"github.com/planewright/planewright/container/containerfake"
	"github.com/planewright/planewright/container/containertest"
	"github.com/planewright/planewright/container/docker"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve serves an engine on a Unix socket, as a daemon does, and returns it as
// DOCKER_HOST names it.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	socket := freeSocket(t)
	serveAt(t, socket, handler)
	return socket
}

// freeSocket names a socket that nobody listens at.
func freeSocket(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "engine") //nolint:usetesting // a socket's path must be short, which t.TempDir's is not
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return "unix://" + filepath.Join(folder, "docker.sock")
}

func serveAt(t *testing.T, socket string, handler http.Handler) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", strings.TrimPrefix(socket, "unix://"))
	require.NoError(t, err)
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

func TestTheRealClientKeepsTheContractOverASocket(t *testing.T) {
	containertest.Run(t, func(t *testing.T) containertest.Fixture {
		fake := containerfake.New(containerfake.WithRegistry("registry.example/app:1", containerfake.Image{
			Files: map[string][]byte{"/etc/app": []byte("hello\n")}, Logs: []string{"starting", "ready"}}))
		engine := docker.New(serve(t, fake.Handler()))
		t.Cleanup(func() { assert.NoError(t, engine.Close()) })
		return containertest.Fixture{Engine: engine, Image: "registry.example/app:1", File: "/etc/app", Content: "hello\n", Line: "ready", Port: 18080}
	})
}

// TestTheEngineOfThisMachineKeepsTheContract needs an engine and an image that
// it can pull, so it runs on request only.
func TestTheEngineOfThisMachineKeepsTheContract(t *testing.T) {
	image := os.Getenv("PLANEWRIGHT_CONTAINER_IMAGE")
	if image == "" {
		t.Skip("PLANEWRIGHT_CONTAINER_IMAGE is not set: name an image that writes the line ready, holds /etc/app with hello, and runs until it is stopped")
	}
	containertest.Run(t, func(t *testing.T) containertest.Fixture {
		engine := docker.New(docker.Sockets(os.Getenv)...)
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			_ = engine.Remove(ctx, "planewright-contract")
			_ = engine.Remove(ctx, "planewright-contract-2")
			_ = engine.RemoveVolume(ctx, "planewright-contract")
		})
		return containertest.Fixture{Engine: engine, Image: image, File: "/etc/app", Content: "hello\n", Line: "ready", Port: 18080}
	})
}

func TestTheFirstSocketThatAnswersIsTheEngine(t *testing.T) {
	podman := containerfake.New(containerfake.WithInfo(container.Info{Name: "podman", Version: "5.5.0", OS: "linux", Architecture: "arm64", CPUs: 4, Memory: 8 << 30}))
	socket := serve(t, podman.Handler())
	engine := docker.New("unix:///nowhere/docker.sock", socket)
	info, err := engine.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, container.Info{Name: "podman", Version: "5.5.0", Socket: socket, OS: "linux", Architecture: "arm64", CPUs: 4, Memory: 8 << 30}, info)
}

func TestAMissingEngineNamesTheSocketsThatWereTried(t *testing.T) {
	engine := docker.New("unix:///nowhere/docker.sock", "tcp://me:hunter2@build.acme.example:2375", "unix:///nowhere/podman.sock")
	_, err := engine.Info(t.Context())
	missing := new(container.NoEngineError)
	require.ErrorAs(t, err, &missing)
	require.ErrorIs(t, err, planewright.ErrUnavailable)
	assert.False(t, missing.Retryable())
	assert.EqualError(t, err, "no container engine answers; tried unix:///nowhere/docker.sock (no such file or directory), "+
		"tcp://build.acme.example:2375 (it is another machine's, and ports and folders of this one are needed: not supported), unix:///nowhere/podman.sock (no such file or directory)")
}

func TestAnEngineThatIsStartedLaterIsFoundThen(t *testing.T) {
	socket := freeSocket(t)
	engine := docker.New(socket)
	_, err := engine.Info(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnavailable)

	serveAt(t, socket, containerfake.New().Handler())
	_, err = engine.Info(t.Context())
	require.NoError(t, err)
}

func TestWhereEnginesListen(t *testing.T) {
	for name, tt := range map[string]struct {
		environment map[string]string
		want        []string
	}{
		"by default": {map[string]string{"HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/1000"}, []string{
			"unix:///var/run/docker.sock", "unix:///home/me/.docker/run/docker.sock", "unix:///run/user/1000/docker.sock",
			"unix:///run/user/1000/podman/podman.sock", "unix:///run/podman/podman.sock"}},
		"where the user says": {map[string]string{"DOCKER_HOST": "unix:///run/mine.sock", "HOME": "/home/me"}, []string{"unix:///run/mine.sock"}},
		"without a home":      {nil, []string{"unix:///var/run/docker.sock", "unix:///run/podman/podman.sock"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, docker.Sockets(func(variable string) string { return tt.environment[variable] }))
		})
	}
}
