package containerfake

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
)

// Fake is a container engine in memory. It is made by [New], and safe for
// concurrent use.
type Fake struct {
	mu         sync.Mutex
	info       container.Info
	missing    *container.NoEngineError
	registry   map[string]Image
	images     map[string]bool
	volumes    map[string]container.Volume
	containers []*running
	taken      []int
	sequence   int
	calls      []Call
	rules      []*rule
}

// running is a container with what its image does.
type running struct {
	container.Container
	image Image
	logs  []string
}

var _ container.Engine = (*Fake)(nil)

// Image is an image in the registry.
type Image struct {
	// Serves are what a container of it answers, by its own ports.
	Serves map[int]http.Handler
	// Files are what a container of it holds while it runs.
	Files map[string][]byte
	// Logs are the lines that a container of it writes when it starts.
	Logs []string
	// ExitCode is that of a container that ends as soon as it is started; 0 goes on running.
	ExitCode int
}

// Option says what the engine is like.
type Option func(*Fake)

// WithRegistry adds an image that can be pulled.
func WithRegistry(reference string, image Image) Option {
	return func(f *Fake) { f.registry[reference] = image }
}

// WithInfo sets what the engine says of itself. By default it is a Docker
// 28.2.2 with 8 CPUs and 16 GiB on linux/amd64.
func WithInfo(info container.Info) Option { return func(f *Fake) { f.info = info } }

// WithoutEngine has no engine answer, at any of the sockets.
func WithoutEngine(sockets ...string) Option {
	return func(f *Fake) {
		f.missing = &container.NoEngineError{}
		for _, socket := range sockets {
			f.missing.Tried = append(f.missing.Tried, container.Attempt{Socket: socket, Err: errors.New("no such file or directory")})
		}
	}
}

// WithContainer adds a container that somebody else made.
func WithContainer(c container.Container) Option {
	return func(f *Fake) {
		f.sequence++
		c.ID = fmt.Sprintf("%064x", f.sequence)
		f.containers = append(f.containers, &running{Container: c})
	}
}

// WithVolume adds a volume that somebody else made.
func WithVolume(volume container.Volume) Option {
	return func(f *Fake) { f.volumes[volume.Name] = volume }
}

// WithTakenPorts has programs that are no containers listen at ports.
func WithTakenPorts(ports ...int) Option {
	return func(f *Fake) { f.taken = append(f.taken, ports...) }
}

// New makes an engine. By default it has no images, volumes and containers.
func New(options ...Option) *Fake {
	f := &Fake{
		info:     container.Info{Name: "docker", Version: "28.2.2", Socket: "unix:///var/run/docker.sock", OS: "linux", Architecture: "amd64", CPUs: 8, Memory: 16 << 30},
		registry: map[string]Image{}, images: map[string]bool{}, volumes: map[string]container.Volume{},
	}
	for _, option := range options {
		option(f)
	}
	return f
}

// Call is a call that was made.
type Call struct {
	// Op is the name of the method of [container.Engine].
	Op string
	// Name is of the container, volume or image.
	Name string
	// Writes tells whether it changed something.
	Writes bool
}

// Calls returns the calls that were made, in their order.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Writes counts the calls that changed something.
func (f *Fake) Writes() int {
	n := 0
	for _, c := range f.Calls() {
		if c.Writes {
			n++
		}
	}
	return n
}

// Exit ends a container's processes, as a crash does.
func (f *Fake) Exit(name string, code int, logs ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.find(name); c != nil {
		c.State, c.ExitCode = container.StateExited, code
		c.logs = append(c.logs, logs...)
	}
}

// rule is a fault that calls meet.
type rule struct {
	op    string
	err   error
	times int
	// after has the call take effect and its answer be lost.
	after bool
}

// Fail has the next calls of a method of [container.Engine] fail with an
// error, so many times; 0 is always. The calls have no effect.
func (f *Fake) Fail(op string, err error, times int) { f.fail(&rule{op: op, err: err, times: times}) }

// FailAfter is [Fake.Fail] for calls that take effect although they fail: the
// answer is lost on its way.
func (f *Fake) FailAfter(op string, err error, times int) {
	f.fail(&rule{op: op, err: err, times: times, after: true})
}

func (f *Fake) fail(r *rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
}

// Unavailable is the error of an engine whose connection breaks.
func Unavailable() error {
	return &container.Error{Op: "reach", Object: "engine", Kind: planewright.ErrUnavailable, Transient: true, Err: errors.New("connection reset by peer")}
}

// call runs one call: its fault, its effect, its note.
func (f *Fake) call(ctx context.Context, op, name string, run func() (writes bool, err error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.missing != nil {
		return f.missing
	}
	fault := f.fault(op)
	if fault != nil && !fault.after {
		f.calls = append(f.calls, Call{Op: op, Name: name})
		return fault.err
	}
	writes, err := run()
	f.calls = append(f.calls, Call{Op: op, Name: name, Writes: writes})
	if fault != nil {
		return fault.err
	}
	return err
}

func (f *Fake) fault(op string) *rule {
	for i, r := range f.rules {
		if r.op != op {
			continue
		}
		if r.times > 0 {
			if r.times--; r.times == 0 {
				f.rules = slices.Delete(f.rules, i, i+1)
			}
		}
		return r
	}
	return nil
}

func (f *Fake) find(name string) *running {
	for _, c := range f.containers {
		if c.Name == name || c.ID == name {
			return c
		}
	}
	return nil
}

func refused(op, object string, kind error, format string, args ...any) error {
	return &container.Error{Op: op, Object: object, Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Info implements [container.Engine].
func (f *Fake) Info(ctx context.Context) (info container.Info, err error) {
	err = f.call(ctx, "Info", "", func() (bool, error) { info = f.info; return false, nil })
	return info, err
}

// HasImage implements [container.Engine].
func (f *Fake) HasImage(ctx context.Context, reference string) (has bool, err error) {
	err = f.call(ctx, "HasImage", reference, func() (bool, error) { has = f.images[reference]; return false, nil })
	return has, err
}

// Pull implements [container.Engine].
func (f *Fake) Pull(ctx context.Context, reference string, progress func(string)) error {
	return f.call(ctx, "Pull", reference, func() (bool, error) {
		if _, ok := f.registry[reference]; !ok {
			return false, refused("pull", "image "+reference, planewright.ErrNotFound, "manifest for %s not found: manifest unknown", reference)
		}
		progress("0 of 1 layers are here")
		f.images[reference] = true
		progress("1 of 1 layers are here")
		return true, nil
	})
}

// Volume implements [container.Engine].
func (f *Fake) Volume(ctx context.Context, name string) (volume container.Volume, err error) {
	err = f.call(ctx, "Volume", name, func() (bool, error) {
		v, ok := f.volumes[name]
		if !ok {
			return false, refused("describe", "volume "+name, planewright.ErrNotFound, "no such volume: %s", name)
		}
		volume = v
		return false, nil
	})
	return volume, err
}

// CreateVolume implements [container.Engine].
func (f *Fake) CreateVolume(ctx context.Context, volume container.Volume) error {
	return f.call(ctx, "CreateVolume", volume.Name, func() (bool, error) {
		if _, ok := f.volumes[volume.Name]; ok {
			return false, nil
		}
		f.volumes[volume.Name] = volume
		return true, nil
	})
}

// RemoveVolume implements [container.Engine].
func (f *Fake) RemoveVolume(ctx context.Context, name string) error {
	return f.call(ctx, "RemoveVolume", name, func() (bool, error) {
		if _, ok := f.volumes[name]; !ok {
			return false, refused("remove", "volume "+name, planewright.ErrNotFound, "no such volume: %s", name)
		}
		for _, c := range f.containers {
			for _, m := range c.Mounts {
				if m.Volume == name {
					return false, refused("remove", "volume "+name, planewright.ErrConflict, "volume is in use - [%s]", c.ID)
				}
			}
		}
		delete(f.volumes, name)
		return true, nil
	})
}

// List implements [container.Engine].
func (f *Fake) List(ctx context.Context) (list []container.Container, err error) {
	err = f.call(ctx, "List", "", func() (bool, error) {
		for _, c := range f.containers {
			listed := c.clone()
			listed.Environment, listed.Mounts, listed.Hosts = nil, nil, nil
			if listed.State != container.StateRunning {
				listed.Ports = nil
			}
			list = append(list, listed)
		}
		return false, nil
	})
	return list, err
}

func (c *running) clone() container.Container {
	copied := c.Container
	copied.Environment, copied.Ports, copied.Mounts = slices.Clone(c.Environment), slices.Clone(c.Ports), slices.Clone(c.Mounts)
	return copied
}

// Container implements [container.Engine].
func (f *Fake) Container(ctx context.Context, name string) (found container.Container, err error) {
	err = f.call(ctx, "Container", name, func() (bool, error) {
		c := f.find(name)
		if c == nil {
			return false, noContainer("describe", name)
		}
		found = c.clone()
		return false, nil
	})
	return found, err
}

func noContainer(op, name string) error {
	return refused(op, "container "+name, planewright.ErrNotFound, "No such container: %s", name)
}

// Create implements [container.Engine].
func (f *Fake) Create(ctx context.Context, spec container.Spec) error {
	return f.call(ctx, "Create", spec.Name, func() (bool, error) {
		if f.find(spec.Name) != nil {
			return false, refused("create", "container "+spec.Name, planewright.ErrAlreadyExists, "the container name %q is already in use", "/"+spec.Name)
		}
		if !f.images[spec.Image] {
			return false, refused("create", "container "+spec.Name, planewright.ErrNotFound, "No such image: %s", spec.Image)
		}
		for _, p := range spec.Ports {
			if p.Container < 1 || p.Container > 65535 || p.Host < 0 || p.Host > 65535 {
				return false, refused("create", "container "+spec.Name, planewright.ErrInvalid, "invalid port %d:%d", p.Host, p.Container)
			}
		}
		f.sequence++
		for _, m := range spec.Mounts {
			if _, ok := f.volumes[m.Volume]; m.Volume != "" && !ok {
				f.volumes[m.Volume] = container.Volume{Name: m.Volume}
			}
		}
		c := &running{Container: container.Container{Spec: spec, ID: fmt.Sprintf("%064x", f.sequence), State: container.StateCreated}, image: f.registry[spec.Image]}
		slices.SortFunc(c.Ports, func(a, b container.Port) int { return a.Host - b.Host })
		slices.SortFunc(c.Mounts, func(a, b container.Mount) int { return strings.Compare(a.Target, b.Target) })
		f.containers = append(f.containers, c)
		return true, nil
	})
}

// Start implements [container.Engine].
func (f *Fake) Start(ctx context.Context, name string) error {
	return f.call(ctx, "Start", name, func() (bool, error) {
		c := f.find(name)
		if c == nil {
			return false, noContainer("start", name)
		}
		if c.State == container.StateRunning {
			return false, nil
		}
		for _, p := range c.Ports {
			if slices.Contains(f.taken, p.Host) || f.publisher(p.Host, c) != nil {
				return true, refused("start", "container "+name, planewright.ErrConflict, "Bind for %s:%d failed: port is already allocated", p.Address, p.Host)
			}
		}
		c.State, c.ExitCode = container.StateRunning, 0
		c.logs = append(c.logs, c.image.Logs...)
		if c.image.ExitCode != 0 {
			c.State, c.ExitCode = container.StateExited, c.image.ExitCode
		}
		return true, nil
	})
}

// publisher is the container that publishes a port, other than the given one.
func (f *Fake) publisher(port int, other *running) *running {
	for _, c := range f.containers {
		if c == other || c.State != container.StateRunning {
			continue
		}
		for _, p := range c.Ports {
			if p.Host == port {
				return c
			}
		}
	}
	return nil
}

// Stop implements [container.Engine].
func (f *Fake) Stop(ctx context.Context, name string) error {
	return f.call(ctx, "Stop", name, func() (bool, error) {
		c := f.find(name)
		if c == nil {
			return false, noContainer("stop", name)
		}
		if c.State != container.StateRunning {
			return false, nil
		}
		c.State, c.ExitCode = container.StateExited, 137
		return true, nil
	})
}

// Remove implements [container.Engine].
func (f *Fake) Remove(ctx context.Context, name string) error {
	return f.call(ctx, "Remove", name, func() (bool, error) {
		c := f.find(name)
		if c == nil {
			return false, noContainer("remove", name)
		}
		f.containers = slices.DeleteFunc(f.containers, func(have *running) bool { return have == c })
		return true, nil
	})
}

// ReadFile implements [container.Engine].
func (f *Fake) ReadFile(ctx context.Context, name, path string) (data []byte, err error) {
	err = f.call(ctx, "ReadFile", name, func() (bool, error) {
		c := f.find(name)
		if c == nil {
			return false, noContainer("read "+path+" in", name)
		}
		content, ok := c.image.Files[path]
		if !ok || c.State == container.StateCreated {
			return false, refused("read", path+" in container "+name, planewright.ErrNotFound, "Could not find the file %s in container %s", path, name)
		}
		data = slices.Clone(content)
		return false, nil
	})
	return data, err
}

// Logs implements [container.Engine].
func (f *Fake) Logs(ctx context.Context, name string, lines int) (text string, err error) {
	err = f.call(ctx, "Logs", name, func() (bool, error) {
		c := f.find(name)
		if c == nil {
			return false, noContainer("read the log of", name)
		}
		text = strings.Join(c.logs[max(0, len(c.logs)-lines):], "\n")
		return false, nil
	})
	return text, err
}
