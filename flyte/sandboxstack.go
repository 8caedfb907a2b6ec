package flyte

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
	"sigs.k8s.io/yaml"
)

// On returns the sandbox as a stack of steps, for the verbs of package
// planewright. Its steps are, for a sandbox called lab:
//
//	flyte/lab/sandbox/image          the image is here
//	flyte/lab/sandbox/volume         the volume with the data
//	flyte/lab/sandbox/container      the container runs, and Flyte in it answers
//	flyte/lab/sandbox/kubeconfig     the file .flyte/sandbox/kubeconfig
//	flyte/lab/sandbox/client-config  the file .flyte/config-sandbox.yaml
//
// There is no lock: the container's name is what two runs would fight for, and
// the second one is refused by the engine.
func (s Sandbox) On(env SandboxEnv) planewright.Stack {
	b := sandboxBinding{s, env}
	stack := planewright.NewStack("flyte/" + s.name)
	var p planewright.Problems
	s.validate(&p)
	env.validate(&p)
	if err := p.Err("flyte sandbox " + s.name); err != nil {
		return stack.WithError(err)
	}
	return stack.WithSteps(
		b.imageStep(), b.volumeStep(), b.containerStep(), b.kubeconfigStep(),
		s.clientConfig(env).Step(b.step("client-config"), b.step("container")),
	).WithProbes(
		planewright.Probe{ID: b.step("preflight/engine"), Run: b.probeEngine},
		planewright.Probe{ID: b.step("preflight/ports"), Run: b.probePorts},
		planewright.Probe{ID: b.step("preflight/purpose"), Run: b.probePurpose},
	)
}

// sandboxBinding is a valid sandbox on its env.
type sandboxBinding struct {
	Sandbox
	env SandboxEnv
}

func (b sandboxBinding) step(name string) string { return "flyte/" + b.name + "/sandbox/" + name }

// Objects of a container engine, by their kinds.
const (
	containerKind = "Container"
	volumeKind    = "Volume"
)

// running is given by the container's step once it answers.
func (b sandboxBinding) running() planewright.Output[string] {
	return planewright.NewOutput[string](b.step("container"), "container")
}

// Sandboxes with less than this are slow to start, or never do.
const (
	sandboxCPUs   = 4
	sandboxMemory = 3 << 30
)

func (b sandboxBinding) probeEngine(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	finding := func(severity planewright.Severity, cause, fix string) []planewright.Finding {
		return []planewright.Finding{{Severity: severity, Code: CodeEngine, Cause: cause, Fix: fix}}
	}
	info, err := b.env.engine.Info(ctx)
	if missing, ok := errors.AsType[*container.NoEngineError](err); ok {
		return finding(planewright.SeverityError, missing.Error(), "start Docker or Podman, or set DOCKER_HOST to its socket"), nil
	}
	switch {
	case err != nil:
		return nil, err
	case info.OS != "linux":
		return finding(planewright.SeverityError, "containers of "+info.Socket+" run on "+info.OS+", and the sandbox's image is Linux's", "switch the engine to Linux containers"), nil
	case !slices.Contains([]string{"amd64", "arm64"}, info.Architecture):
		return finding(planewright.SeverityError, "the machine that containers run on is "+info.Architecture+"; the image is published for amd64 and arm64", "use another machine"), nil
	case info.CPUs < sandboxCPUs || info.Memory < sandboxMemory:
		return finding(planewright.SeverityWarning, fmt.Sprintf("containers may use %d CPUs and %d MiB; a sandbox wants %d and %d", info.CPUs, info.Memory>>20, sandboxCPUs, sandboxMemory>>20),
			"give the engine more"), nil
	}
	return nil, nil
}

// probePorts finds who has the sandbox's ports before anything is begun.
func (b sandboxBinding) probePorts(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	list, err := b.env.engine.List(ctx)
	if _, ok := errors.AsType[*container.NoEngineError](err); ok {
		return nil, nil // told by the other probe
	}
	if err != nil {
		return nil, err
	}
	holders := map[int]string{}
	for _, c := range list {
		for _, p := range c.Ports {
			if c.State == container.StateRunning {
				holders[p.Host] = c.Name
			}
		}
	}
	var findings []planewright.Finding
	for _, p := range b.spec(b.env).Ports {
		holder, held := holders[p.Host]
		if held && holder == sandboxName {
			continue
		}
		cause := ""
		if held {
			cause = fmt.Sprintf("port %d is published by the container %s", p.Host, holder)
		} else if err := b.env.free(ctx, net.JoinHostPort(p.Address, strconv.Itoa(p.Host))); err != nil {
			cause = fmt.Sprintf("port %d cannot be listened to: %v", p.Host, err)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if cause == "" {
			continue
		}
		fix := "stop what uses it: the sandbox's image needs this very port"
		if p.Host == b.port {
			fix = "stop what uses it, or use WithKubernetesPort"
		}
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodePortInUse, Cause: cause + "; the sandbox has its " + portUse(p.Container) + " there", Fix: fix})
	}
	return findings, nil
}

func portUse(port int) string {
	switch port {
	case sandboxConsolePort:
		return "console and API"
	case sandboxRegistryPort:
		return "image registry"
	case sandboxPostgresPort:
		return "PostgreSQL"
	case sandboxMinIOPort:
		return "MinIO"
	case sandboxBuildkitPort:
		return "image builder"
	}
	return "Kubernetes API"
}

// probePurpose says what a sandbox is not for.
func (b sandboxBinding) probePurpose(context.Context, *planewright.Run) ([]planewright.Finding, error) {
	cause := "a sandbox is for tests only: nobody logs in, its passwords are published, one container holds everything and does not grow"
	fix := "for production use NewSingleCluster or NewDeployment"
	if b.open {
		cause += ", and its ports are open to whoever reaches this machine"
		fix = "leave out WithOpenPorts; " + fix
	}
	return []planewright.Finding{{Severity: planewright.SeverityWarning, Code: CodeTestsOnly, Cause: cause, Fix: fix}}, nil
}

func (b sandboxBinding) imageStep() planewright.Step {
	image := b.Image()
	return planewright.Step{
		ID:    b.step("image"),
		Title: "image " + image,
		// An image is of some gigabytes.
		Timeout: time.Hour,
		Check: func(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
			has, err := b.env.engine.HasImage(ctx, image)
			if err != nil || has {
				return planewright.Change{Action: planewright.ActionNone}, ignoreMissing(err)
			}
			return planewright.Change{Action: planewright.ActionCreate, Diff: []planewright.FieldDiff{{Path: "image", After: image}}}, nil
		},
		Apply: func(ctx context.Context, run *planewright.Run) error {
			return b.env.engine.Pull(ctx, image, func(line string) { run.Progress("pulling: %s", line) })
		},
		Undo: func(ctx context.Context, run *planewright.Run) error {
			if has, err := b.env.engine.HasImage(ctx, image); err != nil || !has {
				return err
			}
			run.Keep(planewright.Object{Kind: "Image", Name: image}, "the next sandbox starts sooner with it; other containers may use it")
			return nil
		},
	}
}

// ignoreMissing drops the error of an engine that is not there: a finding
// tells of it, and an install stops at that.
func ignoreMissing(err error) error {
	if _, ok := errors.AsType[*container.NoEngineError](err); ok {
		return nil
	}
	return err
}

func (b sandboxBinding) volumeStep() planewright.Step {
	object := planewright.Object{Kind: volumeKind, Name: sandboxName}
	return planewright.Step{
		ID:      b.step("volume"),
		Title:   "volume " + sandboxName,
		Objects: []planewright.Object{object},
		Check: func(ctx context.Context, _ *planewright.Run) (planewright.Change, error) {
			_, err := b.env.engine.Volume(ctx, sandboxName)
			if errors.Is(err, planewright.ErrNotFound) {
				return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent"}, nil
			}
			// One that is there is used with the data in it, whoever made it.
			return planewright.Change{Action: planewright.ActionNone}, ignoreMissing(err)
		},
		Apply: func(ctx context.Context, _ *planewright.Run) error {
			return b.env.engine.CreateVolume(ctx, container.Volume{Name: sandboxName, Labels: b.labels()})
		},
		Undo: func(ctx context.Context, run *planewright.Run) error {
			_, err := b.env.engine.Volume(ctx, sandboxName)
			switch {
			case errors.Is(err, planewright.ErrNotFound):
				return nil
			case err != nil:
				return err
			case !b.discard:
				run.Keep(object, "it holds the database and the bucket; to start anew delete it: docker volume rm "+sandboxName+", or WithDataRemoval")
				return nil
			}
			err = b.env.engine.RemoveVolume(ctx, sandboxName)
			if errors.Is(err, planewright.ErrNotFound) {
				return nil
			}
			return err
		},
	}
}

func (b sandboxBinding) containerObject() planewright.Object {
	return planewright.Object{Kind: containerKind, Name: sandboxName}
}

// sandboxTimeout is how long a sandbox may take from its start to its first
// answer. Kubernetes unpacks the images first.
const sandboxTimeout = 15 * time.Minute

func (b sandboxBinding) containerStep() planewright.Step {
	return planewright.Step{
		ID:      b.step("container"),
		Title:   "container " + sandboxName,
		Needs:   []string{b.step("image"), b.step("volume")},
		Objects: []planewright.Object{b.containerObject()},
		Timeout: sandboxTimeout,
		Check: func(ctx context.Context, run *planewright.Run) (planewright.Change, error) {
			change, _, err := b.checkContainer(ctx, run)
			return change, ignoreMissing(err)
		},
		Apply: b.applyContainer,
		Await: func(ctx context.Context, run *planewright.Run) error {
			if err := b.ready(ctx, func(line string) { run.Progress("%s", line) }); err != nil {
				return err
			}
			live, err := b.env.engine.Container(ctx, sandboxName)
			if err != nil {
				return err
			}
			b.running().Set(run, live.ID)
			b.advise(run)
			return nil
		},
		Verify: b.verify,
		Undo:   b.removeContainer,
		Render: func(context.Context, *planewright.Run) ([]planewright.File, error) {
			text, err := yaml.Marshal(b.spec(b.env))
			if err != nil {
				return nil, err
			}
			return []planewright.File{{Name: "sandbox/container.yaml", Data: text}}, nil
		},
	}
}

// checkContainer compares the container with what it should be. Replace tells
// that it has to be made anew.
func (b sandboxBinding) checkContainer(ctx context.Context, run *planewright.Run) (change planewright.Change, replace bool, err error) {
	want := b.spec(b.env)
	live, err := b.env.engine.Container(ctx, sandboxName)
	if errors.Is(err, planewright.ErrNotFound) {
		return planewright.Change{Action: planewright.ActionCreate, Fingerprint: "absent", Diff: containerDiff(container.Spec{}, want)}, false, nil
	}
	if err != nil {
		return planewright.Change{}, false, err
	}
	change = planewright.Change{Action: planewright.ActionNone, Fingerprint: live.ID + " " + string(live.State), Diff: containerDiff(live.Spec, want)}
	switch {
	case !b.owns(live.Labels) && !b.adopt:
		change.Action = planewright.ActionBlocked
		change.Reason = fmt.Sprintf("a container %s exists, of the image %s, and this sandbox did not make it; stop it (flytectl demo teardown), or take it over by WithAdoption", sandboxName, live.Image)
	case !b.owns(live.Labels):
		change.Action, change.Reason = planewright.ActionAdopt, "it is removed and made again; its volume stays"
		return change, true, nil
	case len(change.Diff) > 0:
		change.Action, change.Reason = planewright.ActionUpdate, "it is removed and made again; its volume stays"
		return change, true, nil
	case live.State != container.StateRunning:
		change.Action = planewright.ActionUpdate
		change.Diff = []planewright.FieldDiff{{Path: "state", Before: string(live.State), After: string(container.StateRunning)}}
	default:
		healthy := b.health(ctx)
		if healthy == nil {
			b.running().Set(run, live.ID)
			break
		}
		change.Pending = "the sandbox does not answer yet: " + healthy.Error()
	}
	return change, false, nil
}

// containerDiff lists what makes a container another one.
func containerDiff(have, want container.Spec) []planewright.FieldDiff {
	var diff []planewright.FieldDiff
	add := func(path, before, after string) {
		if before != after {
			diff = append(diff, planewright.FieldDiff{Path: path, Before: before, After: after})
		}
	}
	add("image", have.Image, want.Image)
	for _, entry := range want.Environment {
		if !slices.Contains(have.Environment, entry) {
			name, value, _ := strings.Cut(entry, "=")
			add("environment."+name, "", value)
		}
	}
	for _, entry := range have.Environment {
		// Others are the image's own.
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "DISABLE_") && !slices.Contains(want.Environment, entry) {
			add("environment."+name, value, "")
		}
	}
	ports := func(list []container.Port) string {
		var texts []string
		for _, p := range list {
			texts = append(texts, fmt.Sprintf("%s:%d:%d", p.Address, p.Host, p.Container))
		}
		return strings.Join(texts, ", ")
	}
	add("ports", ports(have.Ports), ports(want.Ports))
	mounts := func(list []container.Mount) string {
		var texts []string
		for _, m := range list {
			texts = append(texts, m.Volume+m.Folder+":"+m.Target)
		}
		slices.Sort(texts)
		return strings.Join(texts, ", ")
	}
	add("mounts", mounts(have.Mounts), mounts(want.Mounts))
	return diff
}

func (b sandboxBinding) applyContainer(ctx context.Context, run *planewright.Run) error {
	change, replace, err := b.checkContainer(ctx, run)
	if err != nil {
		return err
	}
	if change.Action == planewright.ActionBlocked {
		return fmt.Errorf("%s: %w", change.Reason, planewright.ErrConflict)
	}
	if replace {
		if err := b.env.engine.Remove(ctx, sandboxName); err != nil && !errors.Is(err, planewright.ErrNotFound) {
			return err
		}
		change.Action = planewright.ActionCreate
	}
	if change.Action == planewright.ActionCreate {
		// The engine would make the folder as its own user, or refuse.
		if err := os.MkdirAll(b.env.sandboxFolder(), 0o700); err != nil {
			return fileError(err)
		}
		err := b.env.engine.Create(ctx, b.spec(b.env))
		if errors.Is(err, planewright.ErrAlreadyExists) {
			return fmt.Errorf("another run is starting the sandbox: %w", err)
		}
		if err != nil {
			return err
		}
	}
	return b.env.engine.Start(ctx, sandboxName)
}

// health asks Flyte, through the proxy that the console is behind, too.
func (b sandboxBinding) health(ctx context.Context) error {
	patient, cancel := context.WithTimeoutCause(ctx, readyPatience, planewright.ErrTimeout)
	defer cancel()
	return probeURL(patient, b.env.transport, "http://localhost:"+strconv.Itoa(sandboxConsolePort)+"/healthcheck")
}

// logLines is how much of a container's log goes into an error.
const logLines = 15

// ready waits until Flyte answers. A container that ends meanwhile is an error
// with the last that it said.
func (b sandboxBinding) ready(ctx context.Context, progress func(string)) error {
	told := ""
	for pause := time.Second; ; pause = min(pause*2, 10*time.Second) {
		live, err := b.env.engine.Container(ctx, sandboxName)
		if err != nil {
			return err
		}
		if live.State != container.StateRunning {
			return b.ended(ctx, live)
		}
		err = b.health(ctx)
		if err == nil {
			return nil
		}
		if line := "waiting for Flyte in the container to answer: " + err.Error(); line != told && progress != nil {
			told = line
			progress(line)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w; Flyte in the container %s does not answer: %w; the last of its log:\n%s", context.Cause(ctx), sandboxName, err, b.lastWords(ctx))
		}
	}
}

// ended is the error of a container that does not run although it was started.
func (b sandboxBinding) ended(ctx context.Context, live container.Container) error {
	why := fmt.Sprintf("it has ended with exit code %d", live.ExitCode)
	if live.Problem != "" {
		why += ": " + live.Problem
	}
	return &container.Error{Op: "run", Object: "container " + sandboxName, Err: fmt.Errorf("%s; the last of its log:\n%s", why, b.lastWords(ctx))}
}

// lastWords is the end of the container's log. It is read for an error, also
// when the wait is over.
func (b sandboxBinding) lastWords(ctx context.Context) string {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyPatience)
	defer cancel()
	text, err := b.env.engine.Logs(patient, sandboxName, logLines)
	if err != nil {
		return "(it cannot be read: " + err.Error() + ")"
	}
	return text
}

// advise says how to use what was started.
func (b sandboxBinding) advise(run *planewright.Run) {
	a := b.Access(b.env)
	run.Advise("open the console: %s", a.Console)
	run.Advise("use its Kubernetes: export KUBECONFIG=%s", shellQuoted(a.Kubeconfig))
	run.Advise("push images for tasks to %s: docker tag IMAGE %s, then docker push it", a.Registry, a.ImageTag("NAME", "TAG"))
	run.Advise("the database is %s, with the password that Flyte publishes for its sandbox", a.Postgres)
	run.Advise("MinIO's S3 API is %s, its console %s: user %s, with the password that Flyte publishes for its sandbox", a.MinIO, a.MinIOConsole, a.MinIOUser)
}

// verify asks each part of the sandbox.
func (b sandboxBinding) verify(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
	object := b.containerObject()
	a := b.Access(b.env)
	patient, cancel := context.WithTimeoutCause(ctx, healthPatience, planewright.ErrTimeout)
	defer cancel()
	var findings []planewright.Finding
	for _, part := range []struct{ name, url string }{
		{"Flyte", strings.TrimSuffix(a.Console, "/console") + "/healthcheck"},
		{"the console", a.Console},
		{"the registry", "http://" + a.Registry + "/v2/"},
		{"MinIO", a.MinIO + "/minio/health/live"},
	} {
		if err := probeURL(patient, b.env.transport, part.url); err != nil {
			findings = append(findings, planewright.Finding{Severity: planewright.SeverityError, Code: CodeHealth, Object: &object,
				Cause: fmt.Sprintf("%s does not answer at %s: %v", part.name, part.url, err),
				Fix:   "look at its pods: KUBECONFIG=" + shellQuoted(a.Kubeconfig) + " kubectl -n flyte get pods"})
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(findings) == 0 {
		findings = append(findings, planewright.Finding{Severity: planewright.SeverityInfo, Code: CodeHealth, Object: &object, Cause: "Flyte, its console, the registry and MinIO answer"})
	}
	return findings, nil
}

// removeContainer takes the container away, if it is ours.
func (b sandboxBinding) removeContainer(ctx context.Context, run *planewright.Run) error {
	live, err := b.env.engine.Container(ctx, sandboxName)
	if errors.Is(err, planewright.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !b.owns(live.Labels) && !b.adopt {
		run.Keep(b.containerObject(), "its labels do not say that this sandbox made it")
		return nil
	}
	if err := b.env.engine.Stop(ctx, sandboxName); err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	if err := b.env.engine.Remove(ctx, sandboxName); err != nil && !errors.Is(err, planewright.ErrNotFound) {
		return err
	}
	return nil
}
