package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/planewright/planewright"
)

// Dialer opens connections; a *net.Dialer is one. Tests give one that ends in memory.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// PostgresNeed is a database that an installation presupposes.
type PostgresNeed struct {
	// Host and Port are where it listens. Port 0 means 5432.
	Host string
	Port int
	// TLS says that it must speak TLS; Verify that its certificate must hold
	// for Host, by Authorities (PEM) or the system's.
	TLS, Verify bool
	Authorities []byte
	// User and Database are named in the start-up message. The password is
	// neither known nor asked for here.
	User, Database string
}

// MinimumPostgres is the oldest major version of PostgreSQL that Flyte is
// tested with upstream and that is still maintained by its own project.
const MinimumPostgres = 12

// postgresTimeout bounds one look.
const postgresTimeout = 10 * time.Second

// ProbePostgres asks whether a PostgreSQL answers, over TLS where it must. It
// goes as far as one gets without a password: a server tells its version only
// to whoever has logged in, except one that lets the user in without one. That
// this machine cannot reach it proves nothing about the cluster, so it is not
// an error but planewright.SeverityUnprobed.
func ProbePostgres(id string, dialer Dialer, need PostgresNeed) planewright.Probe {
	return planewright.Probe{ID: id, Run: func(ctx context.Context, _ *planewright.Run) ([]planewright.Finding, error) {
		ctx, cancel := context.WithTimeout(ctx, postgresTimeout)
		defer cancel()
		p := postgresProbe{need: need}
		return p.look(ctx, dialer), nil
	}}
}

type postgresProbe struct{ need PostgresNeed }

func (p postgresProbe) address() string {
	port := p.need.Port
	if port == 0 {
		port = 5432
	}
	return net.JoinHostPort(p.need.Host, strconv.Itoa(port))
}

func (p postgresProbe) finding(severity planewright.Severity, code, cause, fix string) []planewright.Finding {
	return []planewright.Finding{{Severity: severity, Code: code,
		Object: &planewright.Object{APIVersion: "postgresql", Kind: "Database", Name: p.address()}, Cause: cause, Fix: fix}}
}

func (p postgresProbe) look(ctx context.Context, dialer Dialer) []planewright.Finding {
	conn, err := dialer.DialContext(ctx, "tcp", p.address())
	if err != nil {
		return p.finding(planewright.SeverityUnprobed, CodeDatabaseUnprobed,
			"it cannot be reached from here, which proves nothing for the cluster: "+err.Error(), "")
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // a connection without deadlines ends with the context's caller
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	secure, err := askTLS(conn)
	switch {
	case err != nil:
		return p.finding(planewright.SeverityError, CodeDatabase, "what listens there does not answer as a PostgreSQL does: "+err.Error(), "check host and port")
	case !secure && p.need.TLS:
		return p.finding(planewright.SeverityError, CodeDatabaseTLS, "the server does not speak TLS", "switch TLS on at the server, or say that the database has none")
	case secure:
		over, findings := p.handshake(ctx, conn)
		if findings != nil {
			return findings
		}
		conn = over
	}
	return p.startUp(conn)
}

// askTLS sends an SSLRequest. The answer is one byte: 'S' or 'N'.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
func askTLS(conn net.Conn) (bool, error) {
	request := binary.BigEndian.AppendUint32(nil, 8)
	request = binary.BigEndian.AppendUint32(request, 80877103)
	if _, err := conn.Write(request); err != nil {
		return false, err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return false, err
	}
	switch answer[0] {
	case 'S':
		return true, nil
	case 'N':
		return false, nil
	}
	return false, fmt.Errorf("answered %q to a request for TLS", answer[0])
}

func (p postgresProbe) handshake(ctx context.Context, conn net.Conn) (net.Conn, []planewright.Finding) {
	config := &tls.Config{ServerName: p.need.Host, MinVersion: tls.VersionTLS12}
	if len(p.need.Authorities) > 0 {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(p.need.Authorities)
	}
	// Without Verify the certificate is not looked at: as the client of the
	// installation does in the modes "require" and below.
	config.InsecureSkipVerify = !p.need.Verify
	over := tls.Client(conn, config)
	err := over.HandshakeContext(ctx)
	if err == nil {
		return over, nil
	}
	fix := "check the server's TLS settings"
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		fix = "renew the server's certificate"
	case errors.As(err, &unknown):
		fix = "give the database the authority that signed the certificate"
	case errors.As(err, &host):
		fix = "use a host name that the certificate is for"
	}
	return nil, p.finding(planewright.SeverityError, CodeDatabaseTLS, "the TLS handshake fails: "+err.Error(), fix)
}

// startUp sends a start-up message and reads what a server tells before it
// wants a password.
func (p postgresProbe) startUp(conn net.Conn) []planewright.Finding {
	body := binary.BigEndian.AppendUint32(nil, 3<<16) // protocol 3.0
	for _, s := range []string{"user", p.need.User, "database", p.need.Database} {
		body = append(append(body, s...), 0)
	}
	body = append(body, 0)
	message := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	if _, err := conn.Write(message); err != nil {
		return p.finding(planewright.SeverityError, CodeDatabase, "the server ends the connection: "+err.Error(), "check host and port")
	}
	for {
		kind, payload, err := readMessage(conn)
		if err != nil {
			return p.finding(planewright.SeverityError, CodeDatabase, "the server ends the connection: "+err.Error(), "check host and port")
		}
		switch kind {
		case 'E':
			return p.refused(payload)
		case 'R':
			if len(payload) < 4 || binary.BigEndian.Uint32(payload) != 0 {
				return p.finding(planewright.SeverityUnprobed, CodeDatabaseUnprobed,
					"it answers and asks for a password; its version is told only after that", "")
			}
		case 'S':
			if name, value, ok := parameter(payload); ok && name == "server_version" {
				return p.version(value)
			}
		}
	}
}

// readMessage reads one message: a byte for its kind, a length, a payload.
func readMessage(r io.Reader) (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	const most = 64 << 10 // what comes before a login is short
	if length < 4 || length > most {
		return 0, nil, fmt.Errorf("a message says it has %d bytes", length)
	}
	payload := make([]byte, length-4)
	_, err := io.ReadFull(r, payload)
	return head[0], payload, err
}

func parameter(payload []byte) (name, value string, ok bool) {
	parts := strings.Split(string(payload), "\x00")
	if len(parts) < 2 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

// refused explains an ErrorResponse: fields of a letter and a text.
func (p postgresProbe) refused(payload []byte) []planewright.Finding {
	fields := map[byte]string{}
	for field := range strings.SplitSeq(string(payload), "\x00") {
		if field != "" {
			fields[field[0]] = field[1:]
		}
	}
	cause := "the server refuses: " + fields['M']
	switch fields['C'] {
	case "3D000": // invalid_catalog_name
		return p.finding(planewright.SeverityError, CodeDatabase, cause, "create the database "+p.need.Database)
	case "28000": // invalid_authorization_specification
		return p.finding(planewright.SeverityError, CodeDatabase, cause, "allow the user in pg_hba.conf, over TLS where it asks for that")
	case "57P03", "53300": // cannot_connect_now, too_many_connections
		return p.finding(planewright.SeverityWarning, CodeDatabase, cause, "try again when the server is ready")
	}
	return p.finding(planewright.SeverityError, CodeDatabase, cause, "check user and database")
}

func (p postgresProbe) version(text string) []planewright.Finding {
	digits := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = text[:i]
	}
	major, err := strconv.Atoi(digits)
	if err != nil {
		return p.finding(planewright.SeverityUnprobed, CodeDatabaseUnprobed, "it calls its version "+text, "")
	}
	if major < MinimumPostgres {
		return p.finding(planewright.SeverityError, CodeDatabase,
			fmt.Sprintf("the server is PostgreSQL %s; at least %d is needed", text, MinimumPostgres), "upgrade the server")
	}
	return nil
}
