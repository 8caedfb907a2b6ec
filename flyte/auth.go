package flyte

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// Auth is how people and machines log in to Flyte. Make one with [OIDC].
//
// Flyte authenticates and does not authorise: whoever is logged in may run
// anything in any project. An install says so in a finding.
type Auth struct {
	issuer, clientID string
	clientSecret     planewright.Secret
	machineSecret    planewright.Secret
	scopes           []string
	external         AuthServer
}

// The OAuth2 clients that Flyte's own authorization server knows.
const (
	// MachineClientID is the client that flytepropeller, the scheduler and other
	// machines log in as, unless an [AuthServer] names another one.
	MachineClientID = "flytepropeller"
	// publicClientID is that of flytectl and pyflyte, which have no secret.
	publicClientID = "flytectl"
	// publicRedirectURI is where flytectl and pyflyte wait for a login.
	publicRedirectURI = "http://localhost:53593/callback"
)

// OIDC logs people in through an OpenID Connect provider: Okta, Keycloak,
// Google, Entra ID. The issuer is its URL, letter by letter as its discovery document
// says it. Flyte is registered there as a web application, with
// [Deployment.RedirectURI] as its redirect URI; the client id and secret are that
// application's.
//
// Machines (flytepropeller on every data plane, the scheduler) log in as
// [MachineClientID] with the machine secret: at flyteadmin, which is an OAuth2
// authorization server itself, or at another one, see [Auth.WithAuthServer]. Choose
// a long random text; "foobar", which the charts publish, is refused.
//
// Secrets go into Secret objects, never into Helm values; of the machine secret
// flyteadmin gets a bcrypt hash.
func OIDC(issuer, clientID string, clientSecret, machineSecret planewright.Secret) Auth {
	return Auth{issuer: issuer, clientID: clientID, clientSecret: clientSecret, machineSecret: machineSecret}
}

// WithScopes sets the scopes that people's logins ask the provider for, by
// default profile and openid.
func (a Auth) WithScopes(scopes ...string) Auth {
	a.scopes = slices.Clone(scopes)
	return a
}

// WithAuthServer has tokens given by another authorization server than
// flyteadmin: one that the provider offers, for example.
func (a Auth) WithAuthServer(server AuthServer) Auth {
	a.external = server
	return a
}

// IsZero reports whether there is no login.
func (a Auth) IsZero() bool { return a.issuer == "" && a.clientID == "" && a.clientSecret.IsZero() }

// String tells where people log in, without secrets.
func (a Auth) String() string {
	if a.IsZero() {
		return "no login"
	}
	s := "OIDC " + withoutUser(a.issuer) + " as " + a.clientID
	if a.external.set {
		s += ", tokens of " + withoutUser(a.external.url)
	}
	return s
}

// GoString is String, so that no verb prints a secret.
func (a Auth) GoString() string { return "flyte.Auth(" + a.String() + ")" }

// self reports whether flyteadmin gives tokens itself.
func (a Auth) self() bool { return !a.IsZero() && !a.external.set }

// machineID is the OAuth2 client that machines log in as.
func (a Auth) machineID() string {
	if a.external.set {
		return a.external.machineID
	}
	return MachineClientID
}

// userScopes are what people's logins ask for.
func (a Auth) userScopes() []any {
	if len(a.scopes) > 0 {
		return anyList(a.scopes)
	}
	return []any{"profile", "openid"}
}

// AuthServer is an OAuth2 authorization server beside Flyte. Make one with
// [ExternalAuthServer].
type AuthServer struct {
	set       bool
	url       string
	machineID string
	publicID  string
	metadata  string
	audience  string
	scopes    []string
}

// ExternalAuthServer is the authorization server at a URL, which gives tokens to
// machines that are its client of the given id, with the machine secret of
// [OIDC], and to flytectl and pyflyte as the client publicID, which has no secret
// and the redirect URI http://localhost:53593/callback.
func ExternalAuthServer(baseURL, machineID, publicID string) AuthServer {
	return AuthServer{set: true, url: baseURL, machineID: machineID, publicID: publicID}
}

// WithMetadata sets the path of the server's metadata below its URL, by default
// ".well-known/oauth-authorization-server". Keycloak and Entra ID have theirs at
// ".well-known/openid-configuration".
func (s AuthServer) WithMetadata(path string) AuthServer {
	s.metadata = path
	return s
}

// WithAudience sets the audience that tokens are for, which flyteadmin then
// expects and clients ask for. By default it is Flyte's own URL.
func (s AuthServer) WithAudience(audience string) AuthServer {
	s.audience = audience
	return s
}

// WithScopes sets the scopes that clients ask for, by default all.
func (s AuthServer) WithScopes(scopes ...string) AuthServer {
	s.scopes = slices.Clone(scopes)
	return s
}

func (s AuthServer) metadataPath() string {
	if s.metadata == "" {
		return ".well-known/oauth-authorization-server"
	}
	return s.metadata
}

// metadataURL is where the server's metadata are, as flyteadmin makes it of the two.
func (s AuthServer) metadataURL() string {
	return strings.TrimSuffix(s.url, "/") + "/" + strings.TrimPrefix(s.metadataPath(), "/")
}

// WithAuth has people and machines log in. Without it whoever reaches Flyte may
// use it. It needs a host, see [ControlPlane.WithHost] and [Deployment.WithHost].
func (d Deployment) WithAuth(auth Auth) Deployment {
	d.auth = auth
	return d
}

// RedirectURI is where the OpenID Connect provider sends people back to: it is to
// be registered there. It is empty for a deployment without a host.
func (d Deployment) RedirectURI() string {
	if host, ingress := d.entrance(); host != "" {
		return "https://" + ingress.at(host) + "/callback"
	}
	return ""
}

// publicHost is the host of the deployment, wherever it is said.
func (d Deployment) publicHost() string {
	if d.inPlanes() {
		return d.control.host
	}
	return d.host
}

func (d Deployment) validateAuth(p *planewright.Problems) {
	a := d.auth
	if a.IsZero() {
		return
	}
	validateIssuer(p, "auth.issuer", a.issuer)
	validateClientID(p, "auth.clientID", a.clientID)
	if a.clientSecret.IsZero() {
		p.Add("auth.clientSecret", "", "Flyte logs in at the provider with a client secret", "give OIDC the secret of the application that is registered there")
	}
	if a.machineSecret.IsZero() {
		p.Add("auth.machineSecret", "", "flytepropeller and other machines log in with a secret", "give OIDC a long random text")
	}
	for _, s := range []struct {
		path   string
		secret planewright.Secret
	}{{"auth.clientSecret", a.clientSecret}, {"auth.machineSecret", a.machineSecret}} {
		if _, inCluster := s.secret.InCluster(); inCluster {
			p.Add(s.path, s.secret.Source(), "it is put into a Secret of the deployment's in every plane, so its text must be had without a cluster", "use SecretFromEnv, SecretFromFile or another source")
		}
	}
	if d.publicHost() == "" {
		p.Add("auth", a.String(), "a login sends people back to Flyte's host, and there is none", "use WithHost and WithIngress")
	}
	for i, scope := range a.scopes {
		if scope == "" || strings.ContainsAny(scope, " \t\r\n\"\\") {
			p.Add(fmt.Sprintf("auth.scopes[%d]", i), scope, "a scope is a word without spaces and quotes", "leave it out to use profile and openid")
		}
	}
	if len(a.scopes) > 0 && !slices.Contains(a.scopes, "openid") {
		p.Add("auth.scopes", strings.Join(a.scopes, " "), "without the scope openid it is no OpenID Connect login", "add openid")
	}
	if s := a.external; s.set {
		validateIssuer(p, "auth.server.url", s.url)
		validateClientID(p, "auth.server.machineID", s.machineID)
		validateClientID(p, "auth.server.publicID", s.publicID)
		if strings.Contains(s.metadata, "://") || strings.ContainsAny(s.metadata, " {}") {
			p.Add("auth.server.metadata", s.metadata, "it is a path below the server's URL", `use ".well-known/openid-configuration", say`)
		}
	}
	if a.self() && !d.inPlanes() && d.storage.keysSecret != "" {
		p.Add("auth", a.String(), "the chart flyte-binary takes one Secret with configuration, and that is "+d.storage.keysSecret+" with the storage's keys, so the hash of the machine secret has no place", "use WithKeys instead of WithKeysFromSecret, or an ExternalAuthServer")
	}
}

// validateIssuer checks a URL of a provider: Flyte compares it byte by byte.
func validateIssuer(p *planewright.Problems, path, text string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		p.Add(path, "", "is required", "give the URL that the provider's discovery document has as its issuer")
	case err != nil || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.ContainsAny(text, " {}\"\\"):
		p.Add(path, withoutUser(text), "it is a URL that begins with https:// and has no user, query or fragment", "copy it from the provider's discovery document")
	case strings.HasSuffix(u.Path, "/.well-known/openid-configuration"):
		p.Add(path, text, "it is the issuer, not the address of its discovery document", "use "+strings.TrimSuffix(text, "/.well-known/openid-configuration"))
	}
}

// withoutUser is a URL without a password that may be in it.
func withoutUser(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	return "no URL"
}

func validateClientID(p *planewright.Problems, path, id string) {
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"\{}`, r) }) {
		p.Add(path, id, "a client's id is visible ASCII without quotes and braces", "copy it from the provider")
	}
}
