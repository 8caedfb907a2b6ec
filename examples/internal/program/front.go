package program

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"
)

// Front is a load balancer of this machine's with a Flyte behind it that
// answers its health checks: what a host leads to where clusters are in memory. It
// looks names up and opens connections, as flyte.Env wants it.
type Front struct {
	server   *http.Server
	listener net.Listener
}

// frontAddress is what every name resolves to.
const frontAddress = "192.0.2.10"

// NewFront serves a host, until it is closed.
func NewFront(ctx context.Context, host string) (*Front, error) {
	certificate, err := selfSigned(host)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Front{listener: listener, server: &http.Server{
		Handler:           http.HandlerFunc(answer),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 10 * time.Second,
	}}
	go func() { _ = f.server.ServeTLS(listener, "", "") }()
	return f, nil
}

// Close ends it.
func (f *Front) Close() { _ = f.server.Close() }

// LookupHost resolves every name to the front.
func (f *Front) LookupHost(context.Context, string) ([]string, error) {
	return []string{frontAddress}, nil
}

// DialContext leads to the front, and nowhere else: there is no database here.
func (f *Front) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.HasSuffix(address, ":443") {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("nothing listens at " + address + " in memory")}
	}
	return (&net.Dialer{}).DialContext(ctx, network, f.listener.Addr().String())
}

// answer is Flyte's health, by HTTP and by gRPC.
func answer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthcheck":
	case "/grpc.health.v1.Health/Check":
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		// A message of two bytes: status SERVING.
		_, _ = w.Write([]byte("\x00\x00\x00\x00\x02\x08\x01"))
		w.Header().Set("Grpc-Status", "0")
	default:
		http.NotFound(w, r)
	}
}

func selfSigned(host string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("a key for %s: %w", host, err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("a certificate for %s: %w", host, err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
