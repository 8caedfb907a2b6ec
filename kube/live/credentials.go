package live

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"time"
)

// host is the API server's host and port, as hints name it.
func (c *connection) host() string {
	_, host, _ := strings.Cut(c.config.Host, "://")
	host, _, _ = strings.Cut(host, "/")
	return host
}

// credentials says what this connection authenticates with, and whether that
// has run out. It never shows the credentials themselves.
func (c *connection) credentials() string {
	o := c.original
	switch {
	case o.ExecProvider != nil:
		return fmt.Sprintf("the credentials come from the program %q; run it by hand, or log in again", o.ExecProvider.Command)
	case len(o.CertData) > 0, o.CertFile != "":
		data := o.CertData
		if len(data) == 0 {
			data, _ = os.ReadFile(o.CertFile)
		}
		return "the client certificate" + certificateAge(data)
	case o.BearerToken != "", o.BearerTokenFile != "":
		token := o.BearerToken
		if o.BearerTokenFile != "" {
			if data, err := os.ReadFile(o.BearerTokenFile); err == nil {
				token = string(data)
			}
		}
		return "the bearer token" + tokenAge(token)
	case o.WrapTransport != nil:
		return "the bearer token is not accepted; may its identity use this cluster?"
	case o.Username != "":
		return fmt.Sprintf("user name %q and its password are not accepted", o.Username)
	}
	return "no credentials are configured"
}

func certificateAge(data []byte) string {
	block, _ := pem.Decode(data)
	if block == nil {
		return " is not accepted"
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return " is not accepted"
	}
	if time.Now().After(cert.NotAfter) {
		return fmt.Sprintf(" of %q expired at %s", cert.Subject.CommonName, cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf(" of %q is not accepted; is it signed by this cluster's CA?", cert.Subject.CommonName)
}

// tokenAge looks into a token that is a JWT. It does not verify anything: it
// only words a hint.
func tokenAge(token string) string {
	const refused = " is not accepted; is it one of this cluster?"
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return refused
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return refused
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires == 0 {
		return refused
	}
	expires := time.Unix(claims.Expires, 0)
	if time.Now().After(expires) {
		return " expired at " + expires.UTC().Format(time.RFC3339)
	}
	return refused
}
