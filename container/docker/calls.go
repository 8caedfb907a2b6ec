package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	mobycontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
)

// Info implements [container.Engine].
func (e *Engine) Info(ctx context.Context) (container.Info, error) {
	c, err := e.client(ctx)
	if err != nil {
		return container.Info{}, err
	}
	result, err := c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return container.Info{}, failed(ctx, "describe", "engine", err)
	}
	version, err := c.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return container.Info{}, failed(ctx, "describe", "engine", err)
	}
	name := "docker"
	for _, component := range version.Components {
		if strings.HasPrefix(component.Name, "Podman") {
			name = "podman"
		}
	}
	return container.Info{
		Name: name, Version: version.Version, Socket: e.at,
		OS: result.Info.OSType, Architecture: architecture(result.Info.Architecture),
		CPUs: result.Info.NCPU, Memory: result.Info.MemTotal,
	}, nil
}

// architecture names a machine's architecture as Go does.
func architecture(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}

// HasImage implements [container.Engine].
func (e *Engine) HasImage(ctx context.Context, reference string) (bool, error) {
	c, err := e.client(ctx)
	if err != nil {
		return false, err
	}
	_, err = c.ImageInspect(ctx, reference)
	if cerrdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, failed(ctx, "look for", "image "+reference, err)
}

// Pull implements [container.Engine].
func (e *Engine) Pull(ctx context.Context, reference string, progress func(string)) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	const op = "pull"
	object := "image " + reference
	pulling, err := c.ImagePull(ctx, reference, client.ImagePullOptions{})
	if err != nil {
		return failed(ctx, op, object, err)
	}
	defer pulling.Close()
	layers := map[string]string{}
	told := ""
	for message, err := range pulling.JSONMessages(ctx) {
		if err != nil {
			return failed(ctx, op, object, err)
		}
		if message.Error != nil {
			return &container.Error{Op: op, Object: object, Err: message.Error, Kind: kindOfPull(message.Error.Message), Transient: isTransient(message.Error.Message)}
		}
		if message.ID == "" {
			continue
		}
		layers[message.ID] = message.Status
		if line := pulled(layers); line != told {
			told = line
			progress(line)
		}
	}
	return nil
}

// pulled says how many layers are there.
func pulled(layers map[string]string) string {
	done := 0
	for _, status := range layers {
		if strings.HasSuffix(status, "complete") && strings.HasPrefix(status, "Pull") || status == "Already exists" {
			done++
		}
	}
	return fmt.Sprintf("%d of %d layers are here", done, len(layers))
}

// kindOfPull tells what an engine means that reports a failure in the middle
// of a pull, where it has no status for it.
func kindOfPull(message string) error {
	switch text := strings.ToLower(message); {
	case strings.Contains(text, "not found"), strings.Contains(text, "manifest unknown"):
		return planewright.ErrNotFound
	case strings.Contains(text, "denied"), strings.Contains(text, "unauthorized"):
		return planewright.ErrDenied
	case isTransient(message):
		return planewright.ErrUnavailable
	}
	return nil
}

var transientPull = regexp.MustCompile(`(?i)timeout|connection reset|connection refused|unexpected eof|toomanyrequests|no such host|temporary failure`)

func isTransient(message string) bool { return transientPull.MatchString(message) }

// Volume implements [container.Engine].
func (e *Engine) Volume(ctx context.Context, name string) (container.Volume, error) {
	c, err := e.client(ctx)
	if err != nil {
		return container.Volume{}, err
	}
	result, err := c.VolumeInspect(ctx, name, client.VolumeInspectOptions{})
	if err != nil {
		return container.Volume{}, failed(ctx, "describe", "volume "+name, err)
	}
	return container.Volume{Name: result.Volume.Name, Labels: result.Volume.Labels}, nil
}

// CreateVolume implements [container.Engine].
func (e *Engine) CreateVolume(ctx context.Context, volume container.Volume) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	// Docker returns one that is there; Podman refuses it.
	if _, err := c.VolumeInspect(ctx, volume.Name, client.VolumeInspectOptions{}); err == nil {
		return nil
	}
	_, err = c.VolumeCreate(ctx, client.VolumeCreateOptions{Name: volume.Name, Labels: volume.Labels})
	return failed(ctx, "create", "volume "+volume.Name, err)
}

// RemoveVolume implements [container.Engine].
func (e *Engine) RemoveVolume(ctx context.Context, name string) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	_, err = c.VolumeRemove(ctx, name, client.VolumeRemoveOptions{})
	return failed(ctx, "remove", "volume "+name, err)
}

// List implements [container.Engine].
func (e *Engine) List(ctx context.Context) ([]container.Container, error) {
	c, err := e.client(ctx)
	if err != nil {
		return nil, err
	}
	result, err := c.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return nil, failed(ctx, "list", "containers", err)
	}
	list := make([]container.Container, 0, len(result.Items))
	for _, item := range result.Items {
		found := container.Container{ID: item.ID, State: state(string(item.State)), Spec: container.Spec{Image: item.Image, Labels: item.Labels}}
		if len(item.Names) > 0 {
			found.Name = strings.TrimPrefix(item.Names[0], "/")
		}
		for _, p := range item.Ports {
			if p.PublicPort != 0 && p.Type == string(network.TCP) {
				found.Ports = append(found.Ports, container.Port{Address: address(p.IP), Host: int(p.PublicPort), Container: int(p.PrivatePort)})
			}
		}
		list = append(list, found)
	}
	return list, nil
}

func address(ip netip.Addr) string {
	if !ip.IsValid() {
		return "0.0.0.0"
	}
	return ip.String()
}

func state(text string) container.State {
	switch s := container.State(text); s {
	case container.StateCreated, container.StateRunning, container.StateExited:
		return s
	default:
		return container.StateOther
	}
}

// Container implements [container.Engine].
func (e *Engine) Container(ctx context.Context, name string) (container.Container, error) {
	c, err := e.client(ctx)
	if err != nil {
		return container.Container{}, err
	}
	result, err := c.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if err != nil {
		return container.Container{}, failed(ctx, "describe", "container "+name, err)
	}
	return described(result.Container), nil
}

// described is a container as the engine describes it. Ports and mounts are
// those that were asked for, also of one that does not run.
func described(inspected mobycontainer.InspectResponse) container.Container {
	found := container.Container{ID: inspected.ID, Spec: container.Spec{Name: strings.TrimPrefix(inspected.Name, "/")}}
	if s := inspected.State; s != nil {
		found.State, found.ExitCode, found.Problem = state(string(s.Status)), s.ExitCode, s.Error
		if s.OOMKilled {
			found.Problem = "it was killed, because the memory was used up"
		}
	}
	if config := inspected.Config; config != nil {
		found.Image, found.Labels, found.Environment = config.Image, config.Labels, config.Env
	}
	host := inspected.HostConfig
	if host == nil {
		return found
	}
	found.Privileged, found.Hosts = host.Privileged, host.ExtraHosts
	for port, bindings := range host.PortBindings {
		for _, b := range bindings {
			number, err := strconv.Atoi(b.HostPort)
			if err == nil && port.Proto() == network.TCP {
				found.Ports = append(found.Ports, container.Port{Address: address(b.HostIP), Host: number, Container: int(port.Num())})
			}
		}
	}
	slices.SortFunc(found.Ports, func(a, b container.Port) int { return a.Host - b.Host })
	for _, m := range inspected.Mounts {
		switch m.Type {
		case mount.TypeVolume:
			found.Mounts = append(found.Mounts, container.Mount{Volume: m.Name, Target: m.Destination})
		case mount.TypeBind:
			found.Mounts = append(found.Mounts, container.Mount{Folder: m.Source, Target: m.Destination})
		default: // others are not asked for
		}
	}
	slices.SortFunc(found.Mounts, func(a, b container.Mount) int { return strings.Compare(a.Target, b.Target) })
	return found
}

// Create implements [container.Engine].
func (e *Engine) Create(ctx context.Context, spec container.Spec) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	object := "container " + spec.Name
	ports, bindings := network.PortSet{}, network.PortMap{}
	for _, p := range spec.Ports {
		port, ok := network.PortFrom(uint16(p.Container), network.TCP) //nolint:gosec // refused below if it is none
		at, err := netip.ParseAddr(p.Address)
		if !ok || p.Container < 1 || p.Container > 65535 || err != nil {
			return &container.Error{Op: "create", Object: object, Kind: planewright.ErrInvalid, Err: fmt.Errorf("port %d at %q is none", p.Container, p.Address)}
		}
		ports[port] = struct{}{}
		bindings[port] = append(bindings[port], network.PortBinding{HostIP: at, HostPort: strconv.Itoa(p.Host)})
	}
	var mounts []mount.Mount
	for _, m := range spec.Mounts {
		if m.Volume != "" {
			mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Source: m.Volume, Target: m.Target})
		} else {
			mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: m.Folder, Target: m.Target})
		}
	}
	_, err = c.ContainerCreate(ctx, client.ContainerCreateOptions{
		Name:   spec.Name,
		Config: &mobycontainer.Config{Image: spec.Image, Env: spec.Environment, Labels: spec.Labels, ExposedPorts: ports},
		HostConfig: &mobycontainer.HostConfig{
			Mounts: mounts, PortBindings: bindings, Privileged: spec.Privileged, ExtraHosts: spec.Hosts,
		},
	})
	failure := failed(ctx, "create", object, err)
	if answered, ok := errors.AsType[*container.Error](failure); ok && errors.Is(answered, planewright.ErrConflict) {
		answered.Kind = planewright.ErrAlreadyExists
	}
	return failure
}

// Start implements [container.Engine].
func (e *Engine) Start(ctx context.Context, name string) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	_, err = c.ContainerStart(ctx, name, client.ContainerStartOptions{})
	failure := failed(ctx, "start", "container "+name, err)
	// Engines have a 500 for a port that is taken.
	if answered, ok := errors.AsType[*container.Error](failure); ok && portTaken.MatchString(answered.Err.Error()) {
		answered.Kind, answered.Transient = planewright.ErrConflict, false
	}
	return failure
}

var portTaken = regexp.MustCompile(`(?i)port is already allocated|address already in use|ports are not available`)

// Stop implements [container.Engine].
func (e *Engine) Stop(ctx context.Context, name string) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	_, err = c.ContainerStop(ctx, name, client.ContainerStopOptions{})
	return failed(ctx, "stop", "container "+name, err)
}

// Remove implements [container.Engine].
func (e *Engine) Remove(ctx context.Context, name string) error {
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	_, err = c.ContainerRemove(ctx, name, client.ContainerRemoveOptions{Force: true})
	return failed(ctx, "remove", "container "+name, err)
}

// maxFile is how much of a file is read.
const maxFile = 1 << 20

// ReadFile implements [container.Engine].
func (e *Engine) ReadFile(ctx context.Context, name, path string) ([]byte, error) {
	c, err := e.client(ctx)
	if err != nil {
		return nil, err
	}
	const op = "read"
	object := path + " in container " + name
	result, err := c.CopyFromContainer(ctx, name, client.CopyFromContainerOptions{SourcePath: path})
	if err != nil {
		return nil, failed(ctx, op, object, err)
	}
	defer result.Content.Close()
	archive := tar.NewReader(result.Content)
	header, err := archive.Next()
	if err != nil {
		return nil, failed(ctx, op, object, err)
	}
	if header.Typeflag != tar.TypeReg || header.Size > maxFile {
		return nil, &container.Error{Op: op, Object: object, Kind: planewright.ErrInvalid, Err: errors.New("it is no file, or more than a mebibyte")}
	}
	data, err := io.ReadAll(archive)
	return data, failed(ctx, op, object, err)
}

// Logs implements [container.Engine].
func (e *Engine) Logs(ctx context.Context, name string, lines int) (string, error) {
	c, err := e.client(ctx)
	if err != nil {
		return "", err
	}
	result, err := c.ContainerLogs(ctx, name, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(lines)})
	if err != nil {
		return "", failed(ctx, "read the log of", "container "+name, err)
	}
	defer result.Close()
	var text bytes.Buffer
	_, err = stdcopy.StdCopy(&text, &text, io.LimitReader(result, maxFile))
	return strings.TrimRight(text.String(), "\n"), failed(ctx, "read the log of", "container "+name, err)
}
