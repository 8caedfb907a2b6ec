package flyte

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
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

// sandboxTimeout is how long a sandbox may take from its start to its first
// answer. Kubernetes unpacks the images first.
const sandboxTimeout = 15 * time.Minute

// logLines is how much of a container's log goes into an error.
const logLines = 15

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
