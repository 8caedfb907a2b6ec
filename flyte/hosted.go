package flyte

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"k8s.io/apimachinery/pkg/util/validation"
)

// HostedFlyte is a Flyte that somebody else runs. Nothing is installed: its
// steps look whether it is there, how one logs in, and which release it is. It is a
// value: every method returns a changed copy. Make one with [Hosted].
type HostedFlyte struct {
	name        string
	endpoint    string
	version     Version
	login       AuthType
	credentials *admin.ClientCredentials
}

// Hosted is a Flyte at the URL that its console has, "https://sandbox.union.ai".
// It is called by the URL's host in ids and plans, see [HostedFlyte.WithName].
//
//	hosted := flyte.Hosted("https://flyte.acme.example")
//	file := flyte.NewClientConfigFile(filepath.Join(home, ".flyte", "config.yaml"), hosted.ClientConfig())
//	stack := hosted.On(flyte.NewHostedEnv()).WithSteps(file.Step("flyte/acme/client-config"))
//
// An address that does not answer, or answers without telling how to log in, is
// an error before anything is written.
func Hosted(endpoint string) HostedFlyte { return HostedFlyte{endpoint: endpoint, login: AuthPkce} }

// WithName sets the name that tells stacks apart. By default it is the endpoint's host.
func (h HostedFlyte) WithName(name string) HostedFlyte {
	h.name = name
	return h
}

// WithVersion says which release is expected: one of another major version is
// an error, one of another minor version a warning. By default any will do.
func (h HostedFlyte) WithVersion(version Version) HostedFlyte {
	h.version = version
	return h
}

// WithLogin sets how people log in: [AuthPkce], which is the default, or [AuthDeviceFlow].
func (h HostedFlyte) WithLogin(login AuthType) HostedFlyte {
	h.login = login
	return h
}

// WithClientCredentials has the checks log in as an OAuth2 client. By default
// they ask as far as one gets without a login.
func (h HostedFlyte) WithClientCredentials(credentials admin.ClientCredentials) HostedFlyte {
	h.credentials = &credentials
	return h
}

// Name returns the name.
func (h HostedFlyte) Name() string {
	if h.name != "" {
		return h.name
	}
	host := h.url().Hostname()
	return strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(host, "."), ":", "-"))
}

// Endpoint returns the URL.
func (h HostedFlyte) Endpoint() string { return strings.TrimSuffix(h.endpoint, "/") }

// String describes it on one line, without credentials.
func (h HostedFlyte) String() string {
	return "hosted flyte " + h.Name() + ": " + h.shownEndpoint()
}

// GoString is String, so that no verb prints a credential.
func (h HostedFlyte) GoString() string { return h.String() }

// url is the endpoint, zero if it is none.
func (h HostedFlyte) url() *url.URL {
	u, err := url.Parse(h.endpoint)
	if err != nil {
		return new(url.URL)
	}
	return u
}

func (h HostedFlyte) shownEndpoint() string { return redactedAddress(h.Endpoint()) }

// Console returns the URL of the console.
func (h HostedFlyte) Console() string { return h.Endpoint() + "/console" }

// ClientConfig returns how clients reach it, with a login.
func (h HostedFlyte) ClientConfig() ClientConfig {
	u := h.url()
	config := NewClientConfig(u.Host).WithLogin(h.login).WithConsole(h.Endpoint())
	if u.Scheme == "http" {
		config = config.WithInsecure()
	}
	return config
}

// Validate returns a [*planewright.ValidationError] with everything that is wrong, or nil.
func (h HostedFlyte) Validate() error {
	var p planewright.Problems
	h.validate(&p)
	return p.Err("hosted flyte " + h.Name())
}

func (h HostedFlyte) validate(p *planewright.Problems) {
	u := h.url()
	fix := "write it like https://flyte.acme.example"
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || !isHost(u.Hostname()):
		p.Add("endpoint", h.shownEndpoint(), "an endpoint is a URL of scheme and host", fix)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		p.Add("endpoint", h.shownEndpoint(), "an endpoint has no user, no path and no query", fix)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		p.Add("endpoint", h.shownEndpoint(), "over http tokens can be read on the way", "use https")
	}
	if name := h.Name(); u.Host != "" && (len(validation.IsDNS1123Subdomain(name)) > 0 || len(name) > maxHostedName) {
		p.Add("name", name, fmt.Sprintf("a name is at most %d lower-case letters, digits, hyphens and dots", maxHostedName), "use WithName with a short name like union")
	}
	if h.login != AuthPkce && h.login != AuthDeviceFlow {
		p.Add("login", string(h.login), "people log in by Pkce or DeviceFlow", "use one of them; WithClientCredentials is for the checks")
	}
}

// maxHostedName is how long a host may be.
const maxHostedName = 253

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// HostedEnv is how a hosted Flyte is reached from here. It is a value; its
// methods return changed copies.
type HostedEnv struct {
	client *http.Client
	roots  []byte
}

// NewHostedEnv reaches it directly or by the proxies of the environment, and
// trusts the authorities that the system trusts.
func NewHostedEnv() HostedEnv { return HostedEnv{} }

// WithHTTPClient makes the calls with a client of the caller's, instead of what
// [HostedEnv.WithRootCAs] says.
func (e HostedEnv) WithHTTPClient(client *http.Client) HostedEnv {
	e.client, e.roots = client, nil
	return e
}

// WithRootCAs trusts these authorities (PEM), and only these.
func (e HostedEnv) WithRootCAs(pem []byte) HostedEnv {
	e.roots, e.client = append([]byte(nil), pem...), nil
	return e
}

// dial makes a client. Nothing is sent yet.
func (h HostedFlyte) dial(env HostedEnv) (*admin.Client, error) {
	options := []admin.Option{admin.WithRetries(hostedRetries)}
	if env.client != nil {
		options = append(options, admin.WithHTTPClient(env.client))
	}
	if env.roots != nil {
		options = append(options, admin.WithRootCAs(env.roots))
	}
	if h.credentials != nil {
		options = append(options, admin.WithClientCredentials(*h.credentials))
	}
	return admin.New(h.Endpoint(), options...)
}

// hostedRetries is how often a call is made again: what does not answer then is
// told, and people look.
const hostedRetries = 1

// Verify is planewright.Verify for this alone.
func (h HostedFlyte) Verify(ctx context.Context, env HostedEnv, options ...planewright.Option) (*planewright.Verification, error) {
	arguments := []planewright.Argument{h.On(env)}
	for _, o := range options {
		arguments = append(arguments, o)
	}
	return planewright.Verify(ctx, arguments...)
}
