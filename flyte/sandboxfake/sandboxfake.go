// Package sandboxfake is a container engine in memory that can run Flyte's
// sandbox, for tests of what uses [flyte.Sandbox]:
//
//	sandbox := flyte.NewSandbox("lab", flyte.V1_16_8)
//	engine := sandboxfake.New(sandbox)
//	report, err := sandbox.Start(ctx, sandboxfake.Env(engine, t.TempDir()))
//
// A container of the sandbox's image answers where the real one does: Flyte's
// health and version, its console, the registry and MinIO. No Kubernetes runs
// behind its kubeconfig, and PostgreSQL does not listen.
package sandboxfake

import (
	"io"
	"net/http"
	"sync/atomic"

	"github.com/planewright/planewright/container/containerfake"
	"github.com/planewright/planewright/flyte"
)

// kubeconfig is what Kubernetes writes in the container; its keys are made up.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: default
clusters:
- name: default
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: bWFkZS11cA==
users:
- name: default
  user:
    client-certificate-data: bWFkZS11cA==
    client-key-data: bWFkZS11cC1rZXk=
contexts:
- name: default
  context:
    cluster: default
    user: default
`

// New makes an engine whose registry has the sandbox's image. The options are
// those of any engine in memory.
func New(sandbox flyte.Sandbox, options ...containerfake.Option) *containerfake.Fake {
	return containerfake.New(append([]containerfake.Option{containerfake.WithRegistry(sandbox.Image(), Image(0))}, options...)...)
}

// Image is the sandbox's image, to be put into the registry of an engine under
// any name. Flyte in it answers only after it was asked so many times: it takes
// a while to start.
func Image(deaf int) containerfake.Image {
	var asked atomic.Int64
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	console := http.NewServeMux()
	console.HandleFunc("/healthcheck", func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) <= int64(deaf) {
			http.Error(w, "upstream connect error", http.StatusServiceUnavailable)
		}
	})
	console.HandleFunc("/console", say("<title>Flyte Console</title>"))
	console.HandleFunc("/api/v1/version", say(`{"control_plane_version":{"Version":"v1.16.8"}}`))
	registry, minio := http.NewServeMux(), http.NewServeMux()
	registry.HandleFunc("/v2/", say("{}"))
	minio.HandleFunc("/minio/health/live", say(""))
	return containerfake.Image{
		Serves: map[int]http.Handler{30080: console, 30000: registry, 30002: minio},
		Files:  map[string][]byte{"/var/lib/flyte/kubeconfig": []byte(kubeconfig)},
		Logs:   []string{"Starting k3s"},
	}
}

// Env is what a sandbox is installed on, with the engine's ports in the place
// of this machine's. Files are written below the folder home.
func Env(engine *containerfake.Fake, home string) flyte.SandboxEnv {
	return flyte.NewSandboxEnv(engine, home).WithListener(engine).WithTransport(engine.Transport())
}
