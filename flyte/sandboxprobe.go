package flyte

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/container"
)

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
