package flyte

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/planewright/planewright/kube"
)

// AdminDialer connects to a deployment's flyteadmin. What it returns as close
// is called when the client is no longer needed; it may be nil.
type AdminDialer func(ctx context.Context) (client *admin.Client, closeClient func(), err error)

// adminPort is the port of flyteadmin's HTTP gateway on its Service.
const adminPort = 80

// adminStep is what steps have in common that talk to flyteadmin.
type adminStep struct {
	binding
	dial AdminDialer
	// settled is given by the release's step when nothing is to be done about it.
	settled planewright.Output[bool]
}

// with connects to flyteadmin for as long as use runs. Before flyteadmin is
// installed, and while its release is still to be changed and it does not
// answer, what it would say is not known yet.
func (s adminStep) with(ctx context.Context, run *planewright.Run, use func(*admin.Client) error) error {
	_, err := s.cluster.Releases.State(ctx, s.namespace, s.release)
	if errors.Is(err, planewright.ErrNotFound) {
		return &planewright.UnknownError{Step: s.settled.Step(), Output: "what flyteadmin says"}
	}
	if err != nil {
		return err
	}
	err = s.connected(ctx, use)
	if _, unsettled := s.settled.Get(run); unsettled != nil && isAny(err,
		planewright.ErrUnavailable, planewright.ErrTimeout,
		// The login that is to come is not the one that it has.
		planewright.ErrDenied, planewright.ErrUnsupported) {
		return &planewright.UnknownError{Step: s.settled.Step(), Output: "what flyteadmin says"}
	}
	return err
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

func (s adminStep) connected(ctx context.Context, use func(*admin.Client) error) error {
	dial := s.dial
	if dial == nil {
		dial = s.forward
	}
	client, closeClient, err := dial(ctx)
	if closeClient != nil {
		defer closeClient()
	}
	if err != nil {
		return fmt.Errorf("flyteadmin cannot be reached; Env.WithAdmin says how, Env.WithoutAdmin does without: %w", err)
	}
	return finally(use(client))
}

// triedError is an error of the client, which has tried again as often as that
// makes sense: nobody above it does so once more.
type triedError struct{ error }

func (e triedError) Unwrap() error { return e.error }

// Retryable implements [planewright.Retryable].
func (triedError) Retryable() bool { return false }

func finally(err error) error {
	if err == nil {
		return nil
	}
	return triedError{err}
}

// forward connects through a port-forward to the control plane's cluster.
func (s adminStep) forward(ctx context.Context) (*admin.Client, func(), error) {
	forwarding, err := s.cluster.Ports.Forward(ctx, kube.ForwardRequest{Namespace: s.namespace, Service: "flyteadmin", Ports: []int{adminPort}})
	if err != nil {
		return nil, nil, err
	}
	// The address is this machine's: no proxy stands before it.
	address := "http://" + forwarding.Address(adminPort)
	options := append(s.auth.adminOptions(address), admin.WithDialContext((&net.Dialer{}).DialContext))
	client, err := admin.New(address, options...)
	closeClient := func() {
		if client != nil {
			client.CloseIdleConnections()
		}
		_ = forwarding.Close()
	}
	return client, closeClient, err
}

// adminSteps are the steps that need flyteadmin, in their order.
func (f fleet) adminSteps(release string) []planewright.Step {
	if f.env.noAdmin {
		return nil
	}
	base := adminStep{f.control, f.env.admin, f.control.settled}
	var steps []planewright.Step
	needs := []string{release}
	if len(f.projects) > 0 {
		step := projectsStep{base}.step(needs)
		steps = append(steps, step)
		needs = append(needs, step.ID)
	}
	if len(f.labels.bindings) > 0 {
		step := labelsStep{base}.step(needs)
		steps = append(steps, step)
		needs = append(needs, step.ID)
	}
	if len(f.dataplanes) > 0 {
		steps = append(steps, placementStep{base}.step(needs))
	}
	return steps
}
