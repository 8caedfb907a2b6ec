// Package container holds the ports to a container engine on this machine:
// Docker's, or Podman's, which speaks the same API. It has no client: package
// container/docker is the adapter, container/containerfake an engine in memory,
// and container/containertest the contract that both keep.
//
//	engine := docker.New(docker.Sockets(os.Getenv)...)
//	info, err := engine.Info(ctx)
//
// # Errors
//
// An engine that cannot be found is a [*NoEngineError], which names what was
// tried. What an engine says is an [*Error]; errors.Is tells by the root
// package's sentinels what it means: planewright.ErrNotFound, ErrAlreadyExists,
// ErrConflict, ErrDenied, ErrInvalid, ErrUnavailable.
package container
