package flyte

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
	"sigs.k8s.io/yaml"
)

func (b sandboxBinding) containerObject() planewright.Object {
	return planewright.Object{Kind: containerKind, Name: sandboxName}
}

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
