package container

import "context"

// Engine is what is used of a container engine. Implementations are safe for
// concurrent use. A container and a volume are known by their names.
type Engine interface {
	// Info describes the engine. Where there is none it is a [*NoEngineError].
	Info(ctx context.Context) (Info, error)

	// HasImage reports whether the engine has an image of that reference.
	HasImage(ctx context.Context, reference string) (bool, error)
	// Pull fetches an image from its registry, telling progress what it does.
	// It returns when the image is there.
	Pull(ctx context.Context, reference string, progress func(string)) error

	// Volume returns a volume; planewright.ErrNotFound if there is none of that name.
	Volume(ctx context.Context, name string) (Volume, error)
	// CreateVolume makes a volume. One of that name that is there stays as it
	// is, with its own labels, and is no error.
	CreateVolume(ctx context.Context, volume Volume) error
	// RemoveVolume deletes a volume with its data; planewright.ErrConflict if a container uses it.
	RemoveVolume(ctx context.Context, name string) error

	// List returns all containers, also those that do not run.
	List(ctx context.Context) ([]Container, error)
	// Container returns a container; planewright.ErrNotFound if there is none of that name.
	Container(ctx context.Context, name string) (Container, error)
	// Create makes a container that does not run yet;
	// planewright.ErrAlreadyExists if the name is taken, ErrNotFound if the image is not there.
	Create(ctx context.Context, spec Spec) error
	// Start runs a container. One that runs is no error.
	// planewright.ErrConflict: a port is taken.
	Start(ctx context.Context, name string) error
	// Stop ends a container's processes, by force if they take too long. One
	// that does not run is no error.
	Stop(ctx context.Context, name string) error
	// Remove deletes a container, also one that runs, and not its volumes.
	Remove(ctx context.Context, name string) error
	// ReadFile reads a file in a container, up to a mebibyte;
	// planewright.ErrNotFound if there is none.
	ReadFile(ctx context.Context, name, path string) ([]byte, error)
	// Logs returns the last lines that a container wrote.
	Logs(ctx context.Context, name string, lines int) (string, error)
}

// Info describes an engine.
type Info struct {
	// Name is the engine's own: "docker" or "podman".
	Name string
	// Version is the engine's.
	Version string
	// Socket is where it was found: "unix:///var/run/docker.sock".
	Socket string
	// OS and Architecture are of the machine that containers run on, as Go
	// names them: "linux", "arm64".
	OS, Architecture string
	// CPUs and Memory (in bytes) are what containers may use together.
	CPUs   int
	Memory int64
}

// Volume is a place for data that outlives containers.
type Volume struct {
	Name   string
	Labels map[string]string
}

// Spec describes a container that is to be made.
type Spec struct {
	Name, Image string
	Labels      map[string]string
	// Environment holds entries "NAME=value".
	Environment []string
	Ports       []Port
	Mounts      []Mount
	// Privileged lets it do nearly everything on the machine, as a Kubernetes in a container must.
	Privileged bool
	// Hosts are further names that it can resolve: "host.docker.internal:host-gateway".
	Hosts []string
}

// Port is a port of a container that is published on the machine.
type Port struct {
	// Address is the machine's address that it is published at: "127.0.0.1", or "0.0.0.0" for all.
	Address string
	// Host is the machine's port, Container the container's. Both are TCP's.
	Host, Container int
}

// Mount is a volume or a folder of the machine that a container sees.
type Mount struct {
	// Volume is a volume's name, or empty, in which case Folder is an absolute path on the machine.
	Volume, Folder string
	// Target is the path in the container.
	Target string
}

// Container is a container that is there.
type Container struct {
	Spec
	// ID is the engine's own name for it.
	ID string
	// State is how it is.
	State State
	// ExitCode is that of one that has ended, Problem what the engine says of its end.
	ExitCode int
	Problem  string
}

// State is how a container is.
type State string

// The states.
const (
	// StateCreated has not been started.
	StateCreated State = "created"
	// StateRunning runs.
	StateRunning State = "running"
	// StateExited has ended, or was stopped.
	StateExited State = "exited"
	// StateOther is on its way between the others, or paused, or dead.
	StateOther State = "other"
)
