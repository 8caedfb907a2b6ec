package flyte

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/planewright/planewright"
)

// dialPatience is how long a connection to a data plane's API server may take.
const dialPatience = 10 * time.Second

// verifyEndpoint opens a connection as flyteadmin would, from here: the
// endpoint's certificate must be signed by the authority that flyteadmin is given.
func (s accessStep) verifyEndpoint(ctx context.Context, endpoint string, authority []byte) []planewright.Finding {
	if s.dialer == nil {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	patient, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	connection, err := s.dialer.DialContext(patient, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeEndpoint,
			Cause: fmt.Sprintf("the endpoint %s of data plane %s cannot be reached from here: %v", endpoint, s.plane.name, err)}}
	}
	defer connection.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := tls.Client(connection, &tls.Config{ServerName: u.Hostname(), RootCAs: roots, MinVersion: tls.VersionTLS12})
	err = client.HandshakeContext(patient)
	if _, wrong := errors.AsType[*tls.CertificateVerificationError](err); wrong {
		return []planewright.Finding{{Severity: planewright.SeverityError, Code: CodeEndpoint,
			Cause: fmt.Sprintf("the endpoint %s of data plane %s has a certificate that the authority which flyteadmin is given did not sign: %v", endpoint, s.plane.name, err),
			Fix:   "use Dataplane.WithEndpoint with the endpoint's own authority, see ClusterEndpoint.WithCA"}}
	}
	if err != nil {
		return []planewright.Finding{{Severity: planewright.SeverityUnprobed, Code: CodeEndpoint,
			Cause: fmt.Sprintf("the endpoint %s of data plane %s does not answer from here: %v", endpoint, s.plane.name, err)}}
	}
	return nil
}
