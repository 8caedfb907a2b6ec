package flyte

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
)

// On returns the checks as a stack, for the verbs of package planewright. Its
// one step, for a hosted Flyte called acme, is:
//
//	flyte/acme/connection  it answers, tells how to log in, and is of the version expected
//
// It writes nothing. The same questions are asked before a plan, so that steps
// which are added to the stack are not begun if there is nobody to talk to.
func (h HostedFlyte) On(env HostedEnv) planewright.Stack {
	stack := planewright.NewStack("flyte/" + h.Name())
	if err := h.Validate(); err != nil {
		// The name may be what is wrong.
		return planewright.NewStack("flyte/hosted").WithError(err)
	}
	client, err := h.dial(env)
	if err != nil {
		return stack.WithError(err)
	}
	b := hostedBinding{h, client}
	return stack.WithSteps(planewright.Step{
		ID:      "flyte/" + h.Name() + "/connection",
		Title:   "connection to " + h.Endpoint(),
		Objects: []planewright.Object{b.object()},
		Check: func(context.Context, *planewright.Run) (planewright.Change, error) {
			return planewright.Change{Action: planewright.ActionNone}, nil
		},
		Verify: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
			return b.look(ctx)
		},
	}).WithProbes(planewright.Probe{
		ID: "flyte/" + h.Name() + "/preflight/connection",
		Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
			findings, err := b.look(ctx)
			return slices.DeleteFunc(findings, func(f planewright.Finding) bool { return f.Severity == planewright.SeverityInfo }), err
		},
	})
}

// hostedBinding is a valid hosted Flyte with a client of it.
type hostedBinding struct {
	HostedFlyte
	client *admin.Client
}

// hostedKind is how a hosted Flyte is named as an object.
const hostedKind = "HostedFlyte"

func (b hostedBinding) object() planewright.Object {
	return planewright.Object{Kind: hostedKind, Name: b.Endpoint()}
}

func (b hostedBinding) finding(severity planewright.Severity, code, cause, fix string) planewright.Finding {
	object := b.object()
	return planewright.Finding{Severity: severity, Code: code, Object: &object, Cause: cause, Fix: fix}
}

// look asks for everything that can be asked.
func (b hostedBinding) look(ctx context.Context) ([]planewright.Finding, error) {
	discovery, err := b.client.Discover(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return []planewright.Finding{b.undiscovered(err)}, nil
	}
	findings := b.loginFindings(discovery)
	if len(findings) > 0 && b.credentials != nil {
		return findings, nil
	}
	version, err := b.client.Version(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return append(findings, b.versionFinding(version.Version, err)), nil
}

// undiscovered tells why it is not known how to log in.
func (b hostedBinding) undiscovered(err error) planewright.Finding {
	told, answered := errors.AsType[*admin.Error](err)
	switch {
	case !answered || told.Status == 0:
		return b.finding(planewright.SeverityError, CodeUnreachable, "nothing answers there, so it may be gone: "+err.Error(),
			"look whether the address is still right, and reached from here; without a hosted Flyte use Sandbox or NewSingleCluster")
	case errors.Is(err, planewright.ErrUnsupported), errors.Is(err, planewright.ErrNotFound):
		return b.finding(planewright.SeverityError, CodeNoDiscovery, "what answers does not tell how to log in, which a hosted Flyte does: "+err.Error(),
			"use the address of its API, which is most often the console's; a Flyte without a login is no place for others' data")
	}
	return b.finding(planewright.SeverityError, CodeNoDiscovery, "it does not tell how to log in: "+err.Error(), "use the address of its API, or ask who runs it")
}

// loginFindings tells what is missing for the ways to log in.
func (b hostedBinding) loginFindings(d admin.Discovery) []planewright.Finding {
	var missing []string
	need := func(has bool, what string) {
		if !has {
			missing = append(missing, what)
		}
	}
	need(b.safe(d.TokenEndpoint), "a token endpoint on TLS")
	need(d.ClientID != "", "the id of a public client")
	switch b.login {
	case AuthDeviceFlow:
		need(b.safe(d.DeviceEndpoint), "an endpoint for devices, which the login DeviceFlow needs")
	default:
		need(b.safe(d.AuthorizationEndpoint), "an authorization endpoint on TLS")
		need(d.RedirectURI != "", "where browsers are sent after the login")
		need(len(d.ChallengeMethods) == 0 || slices.Contains(d.ChallengeMethods, "S256"), "the challenge S256, which the login Pkce needs")
	}
	if b.credentials != nil {
		need(len(d.GrantTypes) == 0 || slices.Contains(d.GrantTypes, "client_credentials"), "the grant client_credentials")
	}
	if len(missing) == 0 {
		return nil
	}
	return []planewright.Finding{b.finding(planewright.SeverityError, CodeLogin, "what it tells of its login lacks "+joinAnd(missing),
		"use another WithLogin, or ask who runs it")}
}

// safe reports whether an endpoint of the login may be used.
func (b hostedBinding) safe(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && b.url().Scheme == "http")
}

// versionFinding compares the release with the one expected.
func (b hostedBinding) versionFinding(running string, err error) planewright.Finding {
	want := b.version.Name()
	switch {
	case errors.Is(err, planewright.ErrDenied) && b.credentials != nil:
		return b.finding(planewright.SeverityError, CodeLogin, "the client credentials are refused: "+err.Error(), "check the client's id, its secret and its scopes")
	case errors.Is(err, planewright.ErrDenied):
		return b.finding(planewright.SeverityUnprobed, CodeHostedVersion, "its version is told only to who is logged in", "use WithClientCredentials")
	case err != nil:
		return b.finding(planewright.SeverityError, CodeUnreachable, "it tells how to log in, and does not answer beyond: "+err.Error(), "ask who runs it")
	}
	answers := "Flyte " + cmp.Or(running, "of an unknown version") + " answers"
	switch {
	case want == "", running == "", running == "unknown", minorOf(running) == minorOf(want):
		return b.finding(planewright.SeverityInfo, CodeHealth, answers, "")
	case major(running) != major(want):
		return b.finding(planewright.SeverityError, CodeHostedVersion, fmt.Sprintf("%s, and %s is expected, which is another product", answers, want), "use the endpoint of a Flyte "+major(want))
	}
	return b.finding(planewright.SeverityWarning, CodeHostedVersion, fmt.Sprintf("%s, and %s is expected", answers, want), "change WithVersion, and the clients with it")
}

// minorOf is the release without its last number: "1.16" of "v1.16.8".
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
