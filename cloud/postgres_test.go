package cloud_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/planewright/planewright/cloud"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// postgres is a server in memory: what it says before a password.
type postgres struct {
	certificate *tls.Certificate
	// after is what it sends for a start-up message.
	after []byte
	// silent servers take the connection and say nothing.
	silent bool
	// http servers are no PostgreSQL.
	http bool
	// down ones are not reached.
	down bool
	// user and database are what the client named.
	start []byte
}

func (p *postgres) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if p.down {
		return nil, errors.New("dial tcp 10.0.0.9:5432: i/o timeout")
	}
	if p.silent { // for a bubble, whose goroutines may not wait for a socket
		client, server := net.Pipe()
		go p.serve(server)
		return client, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		defer listener.Close()
		if server, err := listener.Accept(); err == nil {
			p.serve(server)
		}
	}()
	return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
}

func (p *postgres) serve(conn net.Conn) {
	defer conn.Close()
	var request [8]byte
	if _, err := io.ReadFull(conn, request[:]); err != nil || p.silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	if p.http {
		_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		return
	}
	if p.certificate == nil {
		_, _ = conn.Write([]byte{'N'})
	} else {
		_, _ = conn.Write([]byte{'S'})
		over := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*p.certificate}, MinVersion: tls.VersionTLS12})
		if over.Handshake() != nil {
			return
		}
		conn = over
	}
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	p.start = make([]byte, binary.BigEndian.Uint32(length[:])-4)
	_, _ = io.ReadFull(conn, p.start)
	_, _ = conn.Write(p.after)
	_, _ = io.Copy(io.Discard, conn)
}

func message(kind byte, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)+4)), payload...)
}

// certify makes a certificate for a host that is its own authority.
func certify(t *testing.T, host string, until time.Time) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestDatabaseIsPresupposed(t *testing.T) {
	soon := time.Now().Add(24 * time.Hour)
	valid, authority := certify(t, "db.acme.internal", soon)
	expired, expiredAuthority := certify(t, "db.acme.internal", time.Now().Add(-24*time.Hour))
	other, otherAuthority := certify(t, "other.acme.internal", soon)
	asksPassword := message('R', "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00")
	letsIn := func(version string) []byte {
		return append(append(message('R', "\x00\x00\x00\x00"), message('S', "application_name\x00\x00")...), message('S', "server_version\x00"+version+"\x00")...)
	}
	for name, test := range map[string]struct {
		server *postgres
		need   func(*cloud.PostgresNeed)
		want   []string
	}{
		"asks for a password over TLS": {server: &postgres{certificate: &valid, after: asksPassword}, want: []string{
			"unprobed [database-unprobed] Database db.acme.internal:5432: it answers and asks for a password; its version is told only after that"}},
		"lets the user in":    {server: &postgres{certificate: &valid, after: letsIn("16.4 (Debian 16.4-1)")}},
		"is a coming version": {server: &postgres{certificate: &valid, after: letsIn("19beta1")}},
		"is too old": {server: &postgres{certificate: &valid, after: letsIn("9.6.24")}, want: []string{
			"error [database] Database db.acme.internal:5432: the server is PostgreSQL 9.6.24; at least 12 is needed; fix: upgrade the server"}},
		"has no TLS": {server: &postgres{}, want: []string{
			"error [database-tls] Database db.acme.internal:5432: the server does not speak TLS; fix: switch TLS on at the server, or say that the database has none"}},
		"needs no TLS": {server: &postgres{after: letsIn("16.4")}, need: func(n *cloud.PostgresNeed) { n.TLS, n.Verify = false, false }},
		"has an expired certificate": {server: &postgres{certificate: &expired}, need: func(n *cloud.PostgresNeed) { n.Authorities = expiredAuthority }, want: []string{
			"error [database-tls] Database db.acme.internal:5432: the TLS handshake fails: *; fix: renew the server's certificate"}},
		"has a certificate for another host": {server: &postgres{certificate: &other}, need: func(n *cloud.PostgresNeed) { n.Authorities = otherAuthority }, want: []string{
			"error [database-tls] Database db.acme.internal:5432: the TLS handshake fails: *; fix: use a host name that the certificate is for"}},
		"is signed by nobody we know": {server: &postgres{certificate: &valid}, need: func(n *cloud.PostgresNeed) { n.Authorities = otherAuthority }, want: []string{
			"error [database-tls] Database db.acme.internal:5432: the TLS handshake fails: *; fix: give the database the authority that signed the certificate"}},
		"is not verified where the mode is require": {server: &postgres{certificate: &expired, after: letsIn("16.4")}, need: func(n *cloud.PostgresNeed) { n.Verify = false }},
		"has no such database": {server: &postgres{certificate: &valid, after: message('E', "SFATAL\x00C3D000\x00Mdatabase \"flyteadmin\" does not exist\x00\x00")}, want: []string{
			`error [database] Database db.acme.internal:5432: the server refuses: database "flyteadmin" does not exist; fix: create the database flyteadmin`}},
		"lets nobody in from here": {server: &postgres{certificate: &valid, after: message('E', "SFATAL\x00C28000\x00Mno pg_hba.conf entry for host\x00\x00")}, want: []string{
			"error [database] Database db.acme.internal:5432: the server refuses: no pg_hba.conf entry for host; fix: allow the user in pg_hba.conf, over TLS where it asks for that"}},
		"is starting": {server: &postgres{certificate: &valid, after: message('E', "SFATAL\x00C57P03\x00Mthe database system is starting up\x00\x00")}, want: []string{
			"warning [database] Database db.acme.internal:5432: the server refuses: the database system is starting up; fix: try again when the server is ready"}},
		"is no PostgreSQL": {server: &postgres{http: true}, want: []string{
			`error [database] Database db.acme.internal:5432: what listens there does not answer as a PostgreSQL does: answered 'H' to a request for TLS; fix: check host and port`}},
		"sends nonsense": {server: &postgres{certificate: &valid, after: []byte{'R', 0xff, 0xff, 0xff, 0xff}}, want: []string{
			"error [database] Database db.acme.internal:5432: the server ends the connection: a message says it has 4294967295 bytes; fix: check host and port"}},
		"cannot be reached from here": {server: &postgres{down: true}, want: []string{
			"unprobed [database-unprobed] Database db.acme.internal:5432: it cannot be reached from here, which proves nothing for the cluster: dial tcp 10.0.0.9:5432: i/o timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			need := cloud.PostgresNeed{Host: "db.acme.internal", TLS: true, Verify: true, Authorities: authority, User: "flyteadmin", Database: "flyteadmin"}
			if test.need != nil {
				test.need(&need)
			}
			got := look(t, cloud.ProbePostgres("p", test.server, need))
			require.Len(t, got, len(test.want), "%v", got)
			for i, want := range test.want {
				assert.Regexp(t, pattern(want), got[i])
			}
		})
	}
}
