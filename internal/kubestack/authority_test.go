package kubestack

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAuthorityClient(t *testing.T) {
	a, err := newAuthority("a")
	require.NoError(t, err)
	pair, err := a.client("ann", "developers", "admins")
	require.NoError(t, err)

	certificate := parse(t, pair)
	require.Equal(t, "ann", certificate.Subject.CommonName)
	require.ElementsMatch(t, []string{"developers", "admins"}, certificate.Subject.Organization)
	require.NoError(t, verify(a, certificate, x509.ExtKeyUsageClientAuth))
	require.Error(t, verify(a, certificate, x509.ExtKeyUsageServerAuth), "a client must not pass for a server")

	other, err := newAuthority("a")
	require.NoError(t, err)
	require.Error(t, verify(other, certificate, x509.ExtKeyUsageClientAuth), "an authority of the same name must not vouch for it")
}

func TestAuthorityServer(t *testing.T) {
	a, err := newAuthority("a")
	require.NoError(t, err)
	pair, err := a.server([]string{"kubernetes", "localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)

	certificate := parse(t, pair)
	require.NoError(t, verify(a, certificate, x509.ExtKeyUsageServerAuth))
	require.NoError(t, certificate.VerifyHostname("localhost"))
	require.NoError(t, certificate.VerifyHostname("127.0.0.1"))
	require.Error(t, certificate.VerifyHostname("example.com"))
}

func TestCredentialsShareNothing(t *testing.T) {
	a, err := newCredentials("a")
	require.NoError(t, err)
	b, err := newCredentials("b")
	require.NoError(t, err)
	require.NotEqual(t, a.ca, b.ca)
	require.NotEqual(t, a.serviceAccountKey, b.serviceAccountKey)
}

// parse returns the certificate of a pair whose key belongs to it.
func parse(t *testing.T, pair keyPair) *x509.Certificate {
	t.Helper()
	both, err := tls.X509KeyPair(pair.certificate, pair.key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(both.Certificate[0])
	require.NoError(t, err)
	return certificate
}

// verify checks a certificate against an authority.
func verify(a *authority, certificate *x509.Certificate, usage x509.ExtKeyUsage) error {
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	_, err := certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}
