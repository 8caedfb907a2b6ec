package flyte

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// ClientConfig is the configuration of Flyte's clients, flytectl and pyflyte:
// where flyteadmin is and how to log in. It is a value: every method returns a
// changed copy. [ClientConfigFile] writes it.
//
// The keys are those of flytectl 1.16.8: admin, console and logger. It holds no
// secret, only where a client finds one.
type ClientConfig struct {
	endpoint string
	insecure bool
	ca       string
	auth     AuthType
	clientID string
	// secretFile and secretVariable are where clients find the client's secret.
	secretFile, secretVariable string
	scopes                     []string
	command                    []string
	console                    string
	logging                    bool
	showSource                 bool
	level                      LogLevel
}

// AuthType is how clients log in to Flyte, as flytectl names it.
type AuthType string

// The ways to log in. Without one nothing is written, and clients that
// meet a login use [AuthClientSecret].
const (
	// AuthPkce opens a browser: for people.
	AuthPkce AuthType = "Pkce"
	// AuthDeviceFlow shows a code that is entered in a browser elsewhere: for
	// people on machines without one. The identity provider must offer it.
	AuthDeviceFlow AuthType = "DeviceFlow"
	// AuthClientSecret uses an OAuth2 client's id and secret: for machines.
	AuthClientSecret AuthType = "ClientSecret"
	// AuthExternalCommand runs a command that prints a token.
	AuthExternalCommand AuthType = "ExternalCommand"
)

// LogLevel is how much clients say of what they do.
type LogLevel int

// The log levels, as flytectl numbers them.
const (
	LogPanic LogLevel = iota
	LogFatal
	LogError
	LogWarn
	LogInfo
	LogDebug
)

// NewClientConfig points clients to flyteadmin's gRPC address: a host and a
// port, written as gRPC does, "dns:///flyte.acme.example:443". The "dns:///" may
// be left out, and so may the port 443. Connections are encrypted, see
// [ClientConfig.WithInsecure].
func NewClientConfig(endpoint string) ClientConfig { return ClientConfig{endpoint: endpoint} }

// WithInsecure connects without TLS: for a port-forward, or a Flyte on the same machine.
func (c ClientConfig) WithInsecure() ClientConfig {
	c.insecure = true
	return c
}

// WithCACertificate checks the server's certificate against the authorities in
// a file (PEM), an absolute path on the machine of the client. By default they
// are the system's.
func (c ClientConfig) WithCACertificate(path string) ClientConfig {
	c.ca = path
	return c
}

// WithLogin sets how people log in: [AuthPkce] or [AuthDeviceFlow].
func (c ClientConfig) WithLogin(auth AuthType) ClientConfig {
	c.auth = auth
	return c
}

// WithClientSecret logs in as an OAuth2 client, whose secret is in a file at
// an absolute path. See [ClientConfig.WithClientSecretFromEnv].
func (c ClientConfig) WithClientSecret(clientID, file string) ClientConfig {
	c.auth, c.clientID, c.secretFile, c.secretVariable = AuthClientSecret, clientID, file, ""
	return c
}

// WithClientSecretFromEnv logs in as an OAuth2 client, whose secret clients
// find in an environment variable.
func (c ClientConfig) WithClientSecretFromEnv(clientID, variable string) ClientConfig {
	c.auth, c.clientID, c.secretFile, c.secretVariable = AuthClientSecret, clientID, "", variable
	return c
}

// WithTokenCommand logs in with the token that a command prints.
func (c ClientConfig) WithTokenCommand(command ...string) ClientConfig {
	c.auth, c.command = AuthExternalCommand, append([]string(nil), command...)
	return c
}

// WithScopes sets the OAuth2 scopes to ask for. By default they are what flyteadmin tells.
func (c ClientConfig) WithScopes(scopes ...string) ClientConfig {
	c.scopes = append([]string(nil), scopes...)
	return c
}

// WithConsole sets the URL that links to the console begin with, where it is
// not at the host of the endpoint.
func (c ClientConfig) WithConsole(address string) ClientConfig {
	c.console = address
	return c
}

// WithLogger sets how much clients log, and whether with the place in their
// source. By default clients warn.
func (c ClientConfig) WithLogger(level LogLevel, showSource bool) ClientConfig {
	c.logging, c.level, c.showSource = true, level, showSource
	return c
}

// Endpoint returns the address as it is written: "dns:///flyte.acme.example:443".
func (c ClientConfig) Endpoint() string {
	target := strings.TrimPrefix(c.endpoint, grpcScheme)
	if _, port, err := net.SplitHostPort(target); (err != nil || port == "") && !c.insecure {
		target = net.JoinHostPort(strings.Trim(target, "[]"), "443")
	}
	return grpcScheme + target
}

// grpcScheme begins a gRPC target that is resolved by DNS.
const grpcScheme = "dns:///"

// String describes the configuration on one line.
func (c ClientConfig) String() string {
	how := "TLS"
	if c.insecure {
		how = "insecure"
	}
	if c.auth != "" {
		how += ", login by " + string(c.auth)
	}
	return c.Endpoint() + " (" + how + ")"
}

// Validate returns a [*planewright.ValidationError] with everything that is wrong, or nil.
func (c ClientConfig) Validate() error {
	var p planewright.Problems
	c.validate(&p, "clientConfig")
	return p.Err("flyte client configuration")
}

func (c ClientConfig) validate(p *planewright.Problems, path string) {
	c.validateEndpoint(p, path+".endpoint")
	if c.insecure && c.ca != "" {
		p.Add(path+".caCertificate", c.ca, "an insecure connection checks no certificate", "leave out WithInsecure, or the authorities")
	}
	for _, file := range []struct{ name, path string }{{"caCertificate", c.ca}, {"clientSecret", c.secretFile}} {
		if file.path != "" && !filepath.IsAbs(file.path) {
			p.Add(path+"."+file.name, file.path, "clients run in any folder, so a file is named by its absolute path", "write the whole path; a ~ is not understood")
		}
	}
	c.validateAuth(p, path)
	if c.console != "" {
		if u, err := url.Parse(c.console); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			p.Add(path+".console", redactedAddress(c.console), "a console's address is a URL of scheme and host", "write it as https://flyte.acme.example")
		}
	}
	if c.level < LogPanic || c.level > LogDebug {
		p.Add(path+".logger.level", strconv.Itoa(int(c.level)), "flytectl knows the levels 0 (panic) to 5 (debug)", "use one of the Log constants")
	}
}

// httpPort is the port of a single cluster's HTTP gateway, which is often
// taken for that of its API.
const httpPort = "8088"

func (c ClientConfig) validateEndpoint(p *planewright.Problems, path string) {
	const fix = "write it as dns:///flyte.acme.example:443"
	target := strings.TrimPrefix(c.endpoint, grpcScheme)
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		host, port = strings.Trim(target, "[]"), ""
	}
	switch {
	case target == "":
		p.Add(path, "", "clients need flyteadmin's address", fix)
	case strings.Contains(target, "://"):
		p.Add(path, redactedAddress(c.endpoint), "clients speak gRPC, whose address is a host and a port and no URL", "write it as "+grpcScheme+afterScheme(c.endpoint))
	case strings.Contains(target, "@") || !isHost(host):
		p.Add(path, redactedAddress(c.endpoint), "the host must be a DNS name or an IP address", fix)
	case port == "" && c.insecure:
		p.Add(path, c.endpoint, "without TLS there is no port that goes without saying", "name flyteadmin's gRPC port: 8089 of a port-forward to a single cluster, 30080 of a sandbox")
	case port == httpPort:
		p.Add(path, c.endpoint, "8088 is the port of the console and the HTTP gateway; clients speak gRPC", "use port 8089")
	case port == "443" && c.insecure:
		p.Add(path, c.endpoint, "port 443 is encrypted", "leave out WithInsecure")
	case port != "":
		if n, err := strconv.Atoi(port); err != nil || len(validation.IsValidPortNum(n)) > 0 {
			p.Add(path, c.endpoint, "a port is a number from 1 to 65535", fix)
		}
	}
}

// environmentVariable matches the names that shells can set.
var environmentVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c ClientConfig) validateAuth(p *planewright.Problems, path string) {
	switch c.auth {
	case "", AuthPkce, AuthDeviceFlow:
	case AuthClientSecret:
		if c.clientID == "" || strings.TrimSpace(c.clientID) != c.clientID {
			p.Add(path+".clientID", c.clientID, "an OAuth2 client has an id without spaces around it", "use WithClientSecret with the client's id")
		}
		switch {
		case c.secretFile == "" && c.secretVariable == "":
			p.Add(path+".clientSecret", "", "an OAuth2 client's secret is in a file or an environment variable", "use WithClientSecret or WithClientSecretFromEnv")
		case c.secretFile == "" && !environmentVariable.MatchString(c.secretVariable):
			p.Add(path+".clientSecret", "", "an environment variable's name is letters, digits and underscores", "give the variable's name, never the secret itself")
		}
	case AuthExternalCommand:
		if len(c.command) == 0 || c.command[0] == "" {
			p.Add(path+".command", "", "a command that prints a token has a name", "use WithTokenCommand")
		}
	default:
		p.Add(path+".authType", string(c.auth), "clients log in by Pkce, DeviceFlow, ClientSecret or ExternalCommand", "use one of the Auth constants")
	}
}

// afterScheme is what follows the scheme of an address, without user and password.
func afterScheme(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		rest = rest[i+1:]
	}
	rest, _, _ = strings.Cut(rest, "/")
	return rest
}

// redactedAddress is an address without a password that does not belong there.
func redactedAddress(address string) string {
	if strings.Contains(address, "@") {
		return ""
	}
	return address
}

// values are the keys that the configuration sets.
func (c ClientConfig) values() map[string]any {
	admin := map[string]any{"endpoint": c.Endpoint(), "insecure": c.insecure}
	set := func(key string, value any, is bool) {
		if is {
			admin[key] = value
		}
	}
	set("authType", string(c.auth), c.auth != "")
	set("caCertFilePath", c.ca, c.ca != "")
	set("clientId", c.clientID, c.clientID != "")
	set("clientSecretLocation", c.secretFile, c.secretFile != "")
	set("clientSecretEnvVar", c.secretVariable, c.secretVariable != "")
	set("scopes", texts(c.scopes), len(c.scopes) > 0)
	set("command", texts(c.command), len(c.command) > 0)
	values := map[string]any{"admin": admin}
	if c.console != "" {
		values["console"] = map[string]any{"endpoint": c.console}
	}
	if c.logging {
		values["logger"] = map[string]any{"show-source": c.showSource, "level": int64(c.level)}
	}
	return values
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, text := range list {
		out[i] = text
	}
	return out
}

// YAML returns the configuration as the text of a file.
func (c ClientConfig) YAML() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(c.values())
	if err != nil {
		return nil, fmt.Errorf("client configuration cannot be written as YAML: %w", err)
	}
	return text, nil
}

// ClientConfig returns how clients reach the deployment: by its host where it
// has one, and otherwise by a port-forward to flyteadmin's
// gRPC port on port 8089 of the same machine, which the report of an install
// says how to make.
func (d Deployment) ClientConfig() ClientConfig {
	if d.isFlyte2() {
		return NewClientConfig("localhost:8090").WithInsecure()
	}
	config := NewClientConfig("localhost:8089").WithInsecure().WithConsole("http://localhost:8088")
	if host, ingress := d.entrance(); host != "" {
		config = NewClientConfig(ingress.at(host)).WithConsole("https://" + ingress.at(host))
	}
	if !d.auth.IsZero() {
		config = config.WithLogin(AuthPkce)
	}
	return config
}
