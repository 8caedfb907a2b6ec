package docker

import (
	"path"
	"runtime"
	"strings"
)

// Sockets returns where a container engine may listen on this machine, the
// likeliest first. The function tells environment variables, as os.Getenv does:
// DOCKER_HOST alone counts if it is set; otherwise they are Docker's own socket,
// that of a Docker of the user's own, and those of Podman.
func Sockets(environment func(variable string) string) []string {
	if host := environment("DOCKER_HOST"); host != "" {
		return []string{host}
	}
	if runtime.GOOS == "windows" {
		return []string{"npipe:////./pipe/docker_engine", "npipe:////./pipe/podman-machine-default"}
	}
	sockets := []string{"unix:///var/run/docker.sock"}
	if home := environment("HOME"); home != "" {
		sockets = append(sockets, "unix://"+path.Join(home, ".docker/run/docker.sock"))
	}
	if runtime := environment("XDG_RUNTIME_DIR"); runtime != "" {
		sockets = append(sockets, "unix://"+path.Join(runtime, "docker.sock"), "unix://"+path.Join(runtime, "podman/podman.sock"))
	}
	return append(sockets, "unix:///run/podman/podman.sock")
}

// isLocal reports whether a socket is one of this machine.
func isLocal(socket string) bool {
	return strings.HasPrefix(socket, "unix://") || strings.HasPrefix(socket, "npipe://")
}
