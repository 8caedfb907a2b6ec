package flyte

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/planewright/planewright/cloud"
)

// reach is a way through an ingress to Flyte: connections go to the load
// balancer's address, whatever the host resolves to.
type reach struct {
	host, address string
	port          int
	dialer        cloud.Dialer
}

func (r reach) dial(ctx context.Context) (net.Conn, error) {
	return r.dialer.DialContext(ctx, "tcp", net.JoinHostPort(r.address, strconv.Itoa(r.port)))
}

// tlsConfig takes any certificate: whether it is good is a finding of its own,
// and no secret goes over these connections.
func (r reach) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: r.host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} //nolint:gosec // see above
}

// certificates are those that the ingress shows for the host, its own first.
func (r reach) certificates(ctx context.Context) ([]*x509.Certificate, error) {
	conn, err := r.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	secure := tls.Client(conn, r.tlsConfig())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secure.ConnectionState().PeerCertificates, nil
}

// client speaks HTTP/2, and HTTP/1.1 where the ingress does not.
func (r reach) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return r.dial(ctx) },
			TLSClientConfig:   r.tlsConfig(),
			ForceAttemptHTTP2: true,
			DisableKeepAlives: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (r reach) url(path string) string {
	return "https://" + Ingress{securePort: r.port}.at(r.host) + path
}

// http asks for Flyte's health through the ingress.
func (r reach) http(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url("/healthcheck"), nil)
	if err != nil {
		return err
	}
	response, err := r.client().Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /healthcheck answered %s", response.Status)
	}
	return nil
}

const (
	grpcHealthPath = "/grpc.health.v1.Health/Check"
	grpcContent    = "application/grpc"
	// emptyMessage is an empty message in gRPC's framing: not compressed, no bytes.
	emptyMessage = "\x00\x00\x00\x00\x00"
	// grpcOK is the status of a call that succeeded.
	grpcOK = "0"
	// notServing is the message of a server that answers and does not serve: its field
	// status, which is 1 if it does, is 2.
	notServing = "\x08\x02"
)

// errNoGRPC says that what answered was not gRPC.
var errNoGRPC = errors.New("what answered does not speak gRPC")

// grpc asks for Flyte's health by gRPC through the ingress. It returns the
// status of the call, which any gRPC server gives, one that wants a login too. The
// protocol is so small here that its library, which every importer would compile, is not needed.
func (r reach) grpc(ctx context.Context) (status string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url(grpcHealthPath), strings.NewReader(emptyMessage))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", grpcContent)
	request.Header.Set("TE", "trailers")
	response, err := r.client().Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return "", err
	}
	if response.ProtoMajor != 2 {
		return "", fmt.Errorf("it speaks %s to clients, and gRPC needs HTTP/2: %w", response.Proto, errNoGRPC)
	}
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), grpcContent) {
		return "", fmt.Errorf("%s answered %s with content of type %q: %w", grpcHealthPath, response.Status, response.Header.Get("Content-Type"), errNoGRPC)
	}
	status = response.Trailer.Get("Grpc-Status")
	if status == "" {
		// A call that fails at once has it among its headers.
		status = response.Header.Get("Grpc-Status")
	}
	if status == grpcOK && bytes.Contains(body, []byte(notServing)) {
		return status, errors.New("flyteadmin answers that it does not serve")
	}
	return status, nil
}

// hostProblem says what is wrong with a certificate for a host, empty if
// nothing is. Ending reports that it is good and ends soon.
func hostProblem(certificate *x509.Certificate, host string, now time.Time) (problem string, ending bool) {
	until := certificate.NotAfter.UTC().Format(time.DateOnly)
	switch {
	case certificate.VerifyHostname(host) != nil:
		return fmt.Sprintf("it is for %s, and not for %s", orNobody(certificate.DNSNames), host), false
	case now.Before(certificate.NotBefore):
		return "it does not hold before " + certificate.NotBefore.UTC().Format(time.DateOnly), false
	case now.After(certificate.NotAfter):
		return "it ended on " + until, false
	case now.Add(certificateNotice).After(certificate.NotAfter):
		return "it ends on " + until, true
	}
	return "", false
}

func orNobody(names []string) string {
	if len(names) == 0 {
		return "no host"
	}
	return joinAnd(names)
}

// trusted reports whether this machine knows who signed a certificate.
func trusted(chain []*x509.Certificate, now time.Time) bool {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Intermediates: between, CurrentTime: now})
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return !unknown
}
