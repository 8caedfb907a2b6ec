package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/planewright/planewright"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// ClientCredentials are an OAuth2 client's, for machines: nobody logs in with a
// browser. flyteadmin tells where its tokens come from, at
// /.well-known/oauth-authorization-server and /config/v1/flyte_client; both
// are read without credentials.
type ClientCredentials struct {
	// ID is the client's id, for example "flytepropeller".
	ID string
	// Secret is the client's secret. White space around it does not count.
	Secret planewright.Secret
	// Scopes are those to ask for. By default they are what flyteadmin tells
	// its own clients to ask for.
	Scopes []string
	// Audience is sent along if it is set; some identity providers want it.
	Audience string
	// TokenURL is where tokens are given. By default it is discovered.
	TokenURL string
}

// String names the client, without its secret.
func (c ClientCredentials) String() string { return "OAuth2 client " + c.ID }

// GoString is [ClientCredentials.String], also for %#v.
func (c ClientCredentials) GoString() string { return c.String() }

func (c ClientCredentials) check(problems *planewright.Problems) {
	if c.ID == "" {
		problems.Add("clientCredentials.id", "", "is required", "give the id of an OAuth2 client, such as flytepropeller")
	}
	if c.Secret.IsZero() {
		problems.Add("clientCredentials.secret", "", "is required", "give the client's secret, for example by SecretFromEnv")
	}
	if c.TokenURL != "" && !isWebURL(c.TokenURL) {
		problems.Add("clientCredentials.tokenURL", redactedURL(c.TokenURL), "must be a URL that begins with http:// or https://", "leave it out to have it discovered")
	}
}

// login gets tokens with client credentials, and keeps one until it expires.
type login struct {
	client      *Client
	credentials ClientCredentials
	header      string
	// turn is held by whoever reads or changes the token; waiting for it ends
	// with the waiter's context.
	turn  chan struct{}
	token *oauth2.Token
	told  string
}

func newLogin(c *Client, credentials ClientCredentials, header string) *login {
	credentials.Scopes = slices.Clone(credentials.Scopes)
	return &login{client: c, credentials: credentials, header: header, turn: make(chan struct{}, 1)}
}

func (l *login) authorize(ctx context.Context, request *http.Request) (string, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !l.token.Valid() {
		token, header, err := l.logIn(ctx)
		if err != nil {
			return "", err
		}
		l.token, l.told = token, header
	}
	return l.token.AccessToken, setToken(request, l.told, l.token.AccessToken)
}

// forget drops the token, unless another call has got a new one meanwhile.
func (l *login) forget(token string) bool {
	l.turn <- struct{}{}
	if l.token != nil && l.token.AccessToken == token {
		l.token = nil
	}
	<-l.turn
	return true
}

// logIn gets a token, and the name of the header that carries it.
func (l *login) logIn(ctx context.Context) (*oauth2.Token, string, error) {
	where, err := l.discover(ctx)
	if err != nil {
		return nil, "", err
	}
	secret, err := l.credentials.Secret.Resolve(ctx)
	if err != nil {
		return nil, "", err
	}
	config := clientcredentials.Config{
		ClientID: l.credentials.ID, ClientSecret: strings.TrimSpace(string(secret)),
		TokenURL: where.tokenURL, Scopes: where.scopes, AuthStyle: where.style,
	}
	if l.credentials.Audience != "" {
		config.EndpointParams = url.Values{"audience": {l.credentials.Audience}}
	}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, l.client.http))
	if err != nil {
		return nil, "", l.refused(ctx, where.tokenURL, err, config.ClientSecret)
	}
	return token, where.header, nil
}

// refused is the error of a login that failed. Nothing of the request is in
// it, and no secret that a server may have repeated.
func (l *login) refused(ctx context.Context, tokenURL string, err error, secret string) error {
	e := &Error{Op: "Token", Path: redactedURL(tokenURL)}
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) || answered.Response == nil {
		without := l.client.noAnswer(ctx, call{op: e.Op, method: http.MethodGet, path: e.Path}, err)
		if without.Err != nil && strings.Contains(without.Err.Error(), secret) {
			without.Err = nil
		}
		without.Message = scrub(without.Message, secret)
		return without
	}
	e.Status = answered.Response.StatusCode
	e.classify()
	if answered.ErrorCode != "" {
		e.Message = scrub(strings.TrimSuffix(oneLine(answered.ErrorCode+": "+answered.ErrorDescription), ": "), secret)
	} else {
		e.Message = scrub(describe(answered.Body), secret)
	}
	if !e.Transient { // OAuth2 says 400 or 401 of wrong clients and wrong secrets
		e.Kind = planewright.ErrDenied
		e.Hint = "check the OAuth2 client's id, its secret and its scopes"
	}
	return e
}

// scrub takes a secret out of a text.
func scrub(text, secret string) string {
	if secret == "" {
		return text
	}
	for _, form := range []string{secret, url.QueryEscape(secret)} {
		text = strings.ReplaceAll(text, form, planewright.SecretValue(secret).String())
	}
	return text
}

// provider is what flyteadmin tells of its login.
type provider struct {
	tokenURL, header string
	scopes           []string
	style            oauth2.AuthStyle
}

// discover asks flyteadmin for what the caller has not given.
func (l *login) discover(ctx context.Context) (provider, error) {
	p := provider{tokenURL: l.credentials.TokenURL, header: l.header, scopes: l.credentials.Scopes}
	if p.tokenURL == "" {
		err := l.client.once(ctx, call{op: "GetOAuth2Metadata", method: http.MethodGet, path: "/.well-known/oauth-authorization-server", anonymous: true}, func(m message) {
			p.tokenURL = m.text("token_endpoint")
			p.style = authStyle(m.list("token_endpoint_auth_methods_supported"))
		})
		if err != nil {
			return provider{}, noLogin(err)
		}
		if err := l.checkTokenURL(p.tokenURL); err != nil {
			return provider{}, err
		}
	}
	if len(p.scopes) == 0 || p.header == "" {
		err := l.client.once(ctx, call{op: "GetPublicClientConfig", method: http.MethodGet, path: "/config/v1/flyte_client", anonymous: true}, func(m message) {
			if len(p.scopes) == 0 {
				p.scopes = m.list("scopes")
			}
			if p.header == "" {
				p.header = m.text("authorization_metadata_key")
			}
		})
		if err != nil {
			return provider{}, noLogin(err)
		}
	}
	if p.header == "" {
		p.header = "authorization" // what flyteadmin's clients do then
	}
	return p, nil
}

// checkTokenURL refuses to carry the secret to where it is not protected.
func (l *login) checkTokenURL(tokenURL string) error {
	e := &Error{Op: "GetOAuth2Metadata", Path: "/.well-known/oauth-authorization-server", Status: http.StatusOK, Kind: planewright.ErrDenied, Hint: "give the token URL yourself"}
	switch {
	case !isWebURL(tokenURL):
		e.Message = fmt.Sprintf("it names no usable token endpoint: %q", redactedURL(tokenURL))
	case l.client.endpoint.Scheme == "https" && !strings.HasPrefix(strings.ToLower(tokenURL), "https:"):
		e.Message = fmt.Sprintf("its token endpoint %s is not on TLS, though flyteadmin is", redactedURL(tokenURL))
	default:
		return nil
	}
	return e
}

// authStyle is how to present the secret: in the header unless the provider
// only takes it in the body; tried out if it does not say.
func authStyle(methods []string) oauth2.AuthStyle {
	switch {
	case slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	case slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

// noLogin explains an answer that means that flyteadmin runs without logins.
func noLogin(err error) error {
	var e *Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusNotImplemented) {
		explained := *e
		explained.Kind = planewright.ErrUnsupported
		explained.Hint = "this flyteadmin tells nothing of logins: leave the client credentials out if its auth is off, or give token URL, scopes and header"
		return &explained
	}
	return err
}

// once makes a call without retries: whoever needs it retries as a whole.
func (c *Client) once(ctx context.Context, call call, read func(message)) error {
	answer, _, failure := c.attempt(ctx, call, nil)
	if failure != nil {
		return failure
	}
	return readAnswer(call, answer, read)
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// redactedURL is a URL without its password and its query.
func redactedURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}
