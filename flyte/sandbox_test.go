package flyte_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
	"github.com/planewright/planewright/container/containerfake"
	"github.com/planewright/planewright/flyte"
	"github.com/planewright/planewright/flyte/sandboxfake"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sandbox is started, looked at and stopped, here on an engine in memory.
func ExampleSandbox() {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	ctx := context.Background()
	sandbox := flyte.NewSandbox("lab", flyte.V1_16_8)
	env := sandboxfake.Env(sandboxfake.New(sandbox), home)

	report, err := sandbox.Start(ctx, env)
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range report.Changed() {
		fmt.Println(step)
	}
	status, err := sandbox.Status(ctx, env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("working:", status.OK())
	access := sandbox.Access(env)
	fmt.Println(access.Console, access.ImageTag("train", "v1"))
	if _, err := sandbox.Stop(ctx, env); err != nil {
		log.Fatal(err)
	}
	// Output:
	// flyte/lab/sandbox/image
	// flyte/lab/sandbox/volume
	// flyte/lab/sandbox/container
	// flyte/lab/sandbox/kubeconfig
	// flyte/lab/sandbox/client-config
	// working: true
	// http://localhost:30080/console localhost:30000/train:v1
}

func lab() flyte.Sandbox { return flyte.NewSandbox("lab", flyte.V1_16_8) }

func TestASandboxIsWhatFlytectlMakes(t *testing.T) {
	home := t.TempDir()
	engine := sandboxfake.New(lab())
	env := sandboxfake.Env(engine, home)
	report, err := lab().Start(t.Context(), env)
	require.NoError(t, err)

	got, err := engine.Container(t.Context(), "flyte-sandbox")
	require.NoError(t, err)
	assert.Equal(t, container.StateRunning, got.State)
	assert.Equal(t, "cr.flyte.org/flyteorg/flyte-sandbox-bundled:sha-51877f899c9f95e0cb5efe90444eb0c6c6ea48a9", got.Image)
	assert.True(t, got.Privileged)
	assert.Equal(t, []string{"host.docker.internal:host-gateway"}, got.Hosts)
	var ports []string
	for _, p := range got.Ports {
		ports = append(ports, fmt.Sprintf("%s:%d:%d", p.Address, p.Host, p.Container))
	}
	assert.Equal(t, []string{"127.0.0.1:6443:6443", "127.0.0.1:30000:30000", "127.0.0.1:30001:30001", "127.0.0.1:30002:30002", "127.0.0.1:30003:30003", "127.0.0.1:30080:30080"}, ports)
	assert.Equal(t, []container.Mount{
		{Folder: filepath.Join(home, ".flyte", "sandbox"), Target: "/var/lib/flyte/config"},
		{Volume: "flyte-sandbox", Target: "/var/lib/flyte/storage"},
	}, got.Mounts)
	assert.Equal(t, "admin:\n  endpoint: dns:///localhost:30080\n  insecure: true\n", read(t, filepath.Join(home, ".flyte", "config-sandbox.yaml")))
	for _, file := range []string{"config-sandbox.yaml", "sandbox/kubeconfig"} {
		info, err := os.Stat(filepath.Join(home, ".flyte", file))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
	}
	for _, line := range []string{
		"open the console: http://localhost:30080/console",
		"export FLYTECTL_CONFIG=" + filepath.Join(home, ".flyte", "config-sandbox.yaml"),
		"export KUBECONFIG=" + filepath.Join(home, ".flyte", "sandbox", "kubeconfig"),
		"push images for tasks to localhost:30000: docker tag IMAGE localhost:30000/NAME:TAG",
		"postgres://postgres@localhost:30001/flyte",
		"MinIO's S3 API is http://localhost:30002, its console http://localhost:30080/minio/login: user minio",
	} {
		assert.Contains(t, report.String(), line)
	}
	assert.NotContains(t, report.String(), "miniostorage")
	password, err := lab().Access(env).MinIOPassword.Resolve(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "miniostorage", string(password))

	before := engine.Writes()
	again, err := lab().Start(t.Context(), env)
	require.NoError(t, err)
	assert.Empty(t, again.Changed())
	assert.Equal(t, before, engine.Writes(), "a second start writes nothing")
}

func TestTheKubeconfigLeadsToThisMachine(t *testing.T) {
	home := t.TempDir()
	sandbox := lab().WithKubernetesPort(16443)
	_, err := sandbox.Start(t.Context(), sandboxfake.Env(sandboxfake.New(sandbox), home))
	require.NoError(t, err)
	text := read(t, filepath.Join(home, ".flyte", "sandbox", "kubeconfig"))
	assert.Contains(t, text, "server: https://127.0.0.1:16443")
	assert.Contains(t, text, "current-context: flyte-sandbox")
	assert.Contains(t, text, "namespace: flyte")
}

func TestAPlanTellsThatASandboxIsForTestsOnly(t *testing.T) {
	for name, tt := range map[string]struct {
		sandbox flyte.Sandbox
		want    string
	}{
		"by default":      {lab(), "warning [tests-only] a sandbox is for tests only: nobody logs in, its passwords are published, one container holds everything and does not grow; fix: for production use NewSingleCluster or NewDeployment"},
		"with open ports": {lab().WithOpenPorts(), "and its ports are open to whoever reaches this machine; fix: leave out WithOpenPorts"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := tt.sandbox.Plan(t.Context(), sandboxfake.Env(sandboxfake.New(tt.sandbox), t.TempDir()))
			require.NoError(t, err)
			assert.Contains(t, plan.String(), tt.want)
		})
	}
}

func TestPortsThatAreTakenAreNamedBeforeAnythingIsBegun(t *testing.T) {
	engine := sandboxfake.New(lab(), containerfake.WithTakenPorts(6443),
		containerfake.WithContainer(container.Container{State: container.StateRunning, Spec: container.Spec{Name: "registry", Ports: []container.Port{{Address: "0.0.0.0", Host: 30000, Container: 5000}}}}))
	_, err := lab().Start(t.Context(), sandboxfake.Env(engine, t.TempDir()))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.Contains(t, err.Error(), "error [port-in-use] port 6443 cannot be listened to: listen tcp: address already in use; the sandbox has its Kubernetes API there; fix: stop what uses it, or use WithKubernetesPort")
	assert.Contains(t, err.Error(), "error [port-in-use] port 30000 is published by the container registry; the sandbox has its image registry there; fix: stop what uses it: the sandbox's image needs this very port")
	assert.Zero(t, engine.Writes())

	_, err = lab().WithKubernetesPort(16443).Plan(t.Context(), sandboxfake.Env(sandboxfake.New(lab(), containerfake.WithTakenPorts(6443)), t.TempDir()))
	require.NoError(t, err)
}

func TestAMissingEngineIsToldWithTheSocketsThatWereTried(t *testing.T) {
	engine := sandboxfake.New(lab(), containerfake.WithoutEngine("unix:///var/run/docker.sock", "unix:///run/podman/podman.sock"))
	_, err := lab().Start(t.Context(), sandboxfake.Env(engine, t.TempDir()))
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.Contains(t, err.Error(), "error [container-engine] no container engine answers; tried unix:///var/run/docker.sock (no such file or directory), unix:///run/podman/podman.sock (no such file or directory); fix: start Docker or Podman, or set DOCKER_HOST to its socket")
}

func TestAnEngineThatCannotRunTheSandboxIsTold(t *testing.T) {
	for want, info := range map[string]container.Info{
		"error [container-engine] containers of npipe:////./pipe/docker_engine run on windows": {Socket: "npipe:////./pipe/docker_engine", OS: "windows", Architecture: "amd64", CPUs: 8, Memory: 16 << 30},
		"error [container-engine] the machine that containers run on is riscv64":               {OS: "linux", Architecture: "riscv64", CPUs: 8, Memory: 16 << 30},
		"warning [container-engine] containers may use 2 CPUs and 2048 MiB; a sandbox wants 4": {OS: "linux", Architecture: "arm64", CPUs: 2, Memory: 2 << 30},
	} {
		plan, err := lab().Plan(t.Context(), sandboxfake.Env(sandboxfake.New(lab(), containerfake.WithInfo(info)), t.TempDir()))
		require.NoError(t, err)
		assert.Contains(t, plan.String(), want)
	}
}

func TestFlytectlsContainerIsTakenOverOnRequestOnly(t *testing.T) {
	theirs := containerfake.WithContainer(container.Container{State: container.StateRunning, Spec: container.Spec{Name: "flyte-sandbox", Image: "cr.flyte.org/flyteorg/flyte-sandbox-bundled:sha-1"}})
	engine := sandboxfake.New(lab(), theirs, containerfake.WithVolume(container.Volume{Name: "flyte-sandbox"}))
	env := sandboxfake.Env(engine, t.TempDir())
	_, err := lab().Start(t.Context(), env)
	require.ErrorIs(t, err, planewright.ErrBlocked)
	assert.Contains(t, err.Error(), "did not make it; stop it (flytectl demo teardown), or take it over by WithAdoption")
	assert.Zero(t, engine.Writes())

	_, err = lab().WithAdoption().Start(t.Context(), env)
	require.NoError(t, err)
	got, err := engine.Container(t.Context(), "flyte-sandbox")
	require.NoError(t, err)
	assert.Equal(t, lab().Image(), got.Image)
	assert.Equal(t, "planewright", got.Labels["app.kubernetes.io/managed-by"])
	plan, err := lab().Plan(t.Context(), env)
	require.NoError(t, err)
	planewright.AssertNoChanges(t, plan)
}

func TestAStoppedSandboxIsStartedAgainAndAChangedOneIsReplaced(t *testing.T) {
	engine := sandboxfake.New(lab())
	env := sandboxfake.Env(engine, t.TempDir())
	_, err := lab().Start(t.Context(), env)
	require.NoError(t, err)
	first, err := engine.Container(t.Context(), "flyte-sandbox")
	require.NoError(t, err)

	require.NoError(t, engine.Stop(t.Context(), "flyte-sandbox"))
	status, err := lab().Status(t.Context(), env)
	require.NoError(t, err)
	assert.False(t, status.OK())
	assert.Contains(t, status.String(), "state: exited → running")
	_, err = lab().Start(t.Context(), env)
	require.NoError(t, err)
	second, err := engine.Container(t.Context(), "flyte-sandbox")
	require.NoError(t, err)
	assert.Equal(t, first.ID, second.ID, "it is the same container, with all that was registered in it")

	_, err = lab().WithoutConnector().Start(t.Context(), env)
	require.NoError(t, err)
	third, err := engine.Container(t.Context(), "flyte-sandbox")
	require.NoError(t, err)
	assert.NotEqual(t, first.ID, third.ID)
	assert.Contains(t, third.Environment, "DISABLE_CONNECTOR=True")
	_, err = lab().Start(t.Context(), env)
	require.NoError(t, err)
	fourth, err := engine.Container(t.Context(), "flyte-sandbox")
	require.NoError(t, err)
	assert.NotContains(t, fourth.Environment, "DISABLE_CONNECTOR=True")
}

func TestStoppingASandboxKeepsItsData(t *testing.T) {
	home := t.TempDir()
	engine := sandboxfake.New(lab())
	env := sandboxfake.Env(engine, home)
	_, err := lab().Start(t.Context(), env)
	require.NoError(t, err)

	report, err := lab().Stop(t.Context(), env)
	require.NoError(t, err)
	_, err = engine.Container(t.Context(), "flyte-sandbox")
	require.ErrorIs(t, err, planewright.ErrNotFound)
	_, err = engine.Volume(t.Context(), "flyte-sandbox")
	require.NoError(t, err)
	assert.Contains(t, report.String(), "it holds the database and the bucket")
	assert.NoFileExists(t, filepath.Join(home, ".flyte", "config-sandbox.yaml"))
	assert.NoFileExists(t, filepath.Join(home, ".flyte", "sandbox", "kubeconfig"))

	_, err = lab().WithDataRemoval().Stop(t.Context(), env)
	require.NoError(t, err)
	_, err = engine.Volume(t.Context(), "flyte-sandbox")
	require.ErrorIs(t, err, planewright.ErrNotFound)
}

func TestASandboxIsWaitedFor(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sandbox := lab()
		engine := containerfake.New(containerfake.WithRegistry(sandbox.Image(), sandboxfake.Image(5)))
		env := sandboxfake.Env(engine, home)
		began := time.Now()
		var told []string
		_, err := sandbox.Start(t.Context(), env, planewright.WithEvents(func(e planewright.Event) {
			if e.Kind == planewright.EventProgress && strings.HasSuffix(e.Step, "/container") {
				told = append(told, e.Message)
			}
		}))
		require.NoError(t, err)
		assert.Equal(t, []string{"waiting for Flyte in the container to answer: GET /healthcheck answered 503 Service Unavailable"}, told, "the same is told once")
		assert.Greater(t, time.Since(began), 10*time.Second)
		require.NoError(t, sandbox.Wait(t.Context(), env, nil))
	})
}

func TestASandboxThatDoesNotComeUpTellsItsLastWords(t *testing.T) {
	home := t.TempDir()
	sandbox := lab()
	t.Run("its container ends", func(t *testing.T) {
		image := sandboxfake.Image(0)
		image.ExitCode, image.Logs = 1, []string{"Starting k3s", "level=fatal msg=\"no cgroup memory\""}
		_, err := sandbox.Start(t.Context(), sandboxfake.Env(containerfake.New(containerfake.WithRegistry(sandbox.Image(), image)), home))
		answered := new(container.Error)
		require.ErrorAs(t, err, &answered)
		assert.Contains(t, err.Error(), "run container flyte-sandbox: it has ended with exit code 1; the last of its log:\nStarting k3s\nlevel=fatal msg=\"no cgroup memory\"")
	})
	t.Run("Flyte never answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			engine := containerfake.New(containerfake.WithRegistry(sandbox.Image(), sandboxfake.Image(1<<30)))
			began := time.Now()
			_, err := sandbox.Start(t.Context(), sandboxfake.Env(engine, home))
			require.ErrorIs(t, err, planewright.ErrTimeout)
			assert.Contains(t, err.Error(), "Flyte in the container flyte-sandbox does not answer: GET /healthcheck answered 503")
			assert.Contains(t, err.Error(), "Starting k3s")
			assert.InDelta(t, 15*time.Minute, time.Since(began), float64(time.Minute))
		})
	})
}

// Whatever call fails, before or after it took effect, a second start finishes
// what the first one began.
func TestAStartThatWasCutOffIsFinishedByTheNext(t *testing.T) {
	for _, op := range []string{"HasImage", "Pull", "Volume", "CreateVolume", "Container", "Create", "Start", "ReadFile", "List", "Info"} {
		for name, fail := range map[string]func(*containerfake.Fake, string, error, int){"before": (*containerfake.Fake).Fail, "after": (*containerfake.Fake).FailAfter} {
			t.Run(op+" "+name, func(t *testing.T) {
				home := t.TempDir()
				engine := sandboxfake.New(lab())
				env := sandboxfake.Env(engine, home)
				fail(engine, op, errors.New("the program was killed"), 1)
				_, err := lab().Start(t.Context(), env)
				require.Error(t, err)
				_, err = lab().Start(t.Context(), env)
				require.NoError(t, err)
				plan, err := lab().Plan(t.Context(), env)
				require.NoError(t, err)
				planewright.AssertNoChanges(t, plan)
				assert.FileExists(t, filepath.Join(home, ".flyte", "sandbox", "kubeconfig"))
			})
		}
	}
}

func TestAnEngineWhoseConnectionBreaksIsAskedAgain(t *testing.T) {
	for _, op := range []string{"HasImage", "Pull", "CreateVolume", "Container", "Start", "ReadFile", "List", "Info"} {
		synctest.Test(t, func(t *testing.T) {
			engine := sandboxfake.New(lab())
			engine.Fail(op, containerfake.Unavailable(), 1)
			_, err := lab().Start(t.Context(), sandboxfake.Env(engine, t.TempDir()))
			require.NoError(t, err, op)
		})
	}
}

func TestBadSandboxesSayEverythingThatIsWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		sandbox flyte.Sandbox
		want    []string
	}{
		"an unknown release": {flyte.NewSandbox("Lab", flyte.NewVersion("v2.0.42")), []string{
			`name "Lab": a sandbox's name is at most 40 lower-case letters, digits and hyphens`,
			`version "v2.0.42": the sandbox's image is known for v1.15.3 and v1.16.8; Flyte 2 has none; fix: use one of them, or WithImage`}},
		"an image that moves": {lab().WithImage("registry.example/flyte-sandbox:latest"), []string{
			`image "registry.example/flyte-sandbox:latest": an image is pinned by its tag or digest; latest moves`}},
		"an image without a tag": {lab().WithImage("localhost:5000/flyte-sandbox"), []string{
			`image "localhost:5000/flyte-sandbox": an image is pinned by its tag or digest`}},
		"a port of its own": {lab().WithKubernetesPort(30080), []string{
			`kubernetesPort "30080": the image uses this port itself; fix: leave it out to use 6443`}},
		"no port": {lab().WithKubernetesPort(0), []string{`kubernetesPort "0": a port is a number from 1 to 65535`}},
		"a single cluster's production options": {flyte.SandboxOf(production()), []string{
			`storage "acme-flyte": a sandbox has a MinIO of its own; fix: leave it out of the base that a sandbox is made of`,
			`database "db.acme.internal": a sandbox has a PostgreSQL of its own`,
			`identity: nothing in a sandbox can take on a cloud's identity`,
			`userIdentity: nothing in a sandbox can take on a cloud's identity`}},
		"planes": {flyte.SandboxOf(planes()), []string{`controlplane "control": a sandbox is one container, and has no planes`}},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.sandbox.Validate()
			require.ErrorIs(t, err, planewright.ErrInvalid)
			for _, want := range tt.want {
				assert.Contains(t, err.Error(), want)
			}
		})
	}
	require.NoError(t, flyte.SandboxOf(flyte.NewSingleCluster("ml", flyte.V1_16_8, "main").WithProjects(flyte.NewProject("team1"))).Validate())
	_, err := lab().Start(t.Context(), flyte.NewSandboxEnv(nil, "home"))
	require.ErrorIs(t, err, planewright.ErrInvalid)
	assert.Contains(t, err.Error(), "env.engine: a sandbox runs in a container engine")
	assert.Contains(t, err.Error(), `env.home "home": the home folder is an absolute path`)
}
