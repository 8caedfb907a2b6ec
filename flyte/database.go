package flyte

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/planewright/planewright"
	"k8s.io/apimachinery/pkg/util/validation"
)

// TLSMode says how Flyte's connection to its database is protected. The modes
// are those of PostgreSQL's sslmode.
type TLSMode string

// The TLS modes.
const (
	// TLSRequire encrypts, and does not check the server's certificate. It is the default.
	TLSRequire TLSMode = "require"
	// TLSVerifyCA encrypts and checks that the certificate comes from a trusted authority.
	TLSVerifyCA TLSMode = "verify-ca"
	// TLSVerifyFull also checks that the certificate is the host's.
	TLSVerifyFull TLSMode = "verify-full"
	// TLSDisable does not encrypt.
	TLSDisable TLSMode = "disable"
)

// Database is the PostgreSQL database that Flyte keeps its state in. It must
// exist and be reachable from the cluster; Flyte makes its tables itself.
// Make one with [Postgres].
type Database struct {
	set              bool
	host, name, user string
	port             int
	tls              TLSMode
	rootCA           string
	password         planewright.Secret
}

// The defaults of a [Database].
const (
	// DefaultDatabaseUser is the user of a database that names none.
	DefaultDatabaseUser = "flyteadmin"
	// DefaultDatabasePort is PostgreSQL's usual port.
	DefaultDatabasePort = 5432
)

// Postgres is the database of the given name on a PostgreSQL server. Host is
// a DNS name or an IP address. The user is [DefaultDatabaseUser], the port
// [DefaultDatabasePort], the connection encrypted ([TLSRequire]).
func Postgres(host, database string) Database {
	return Database{set: true, host: host, name: database, user: DefaultDatabaseUser, port: DefaultDatabasePort, tls: TLSRequire}
}

// WithUser sets the user that Flyte connects as.
func (d Database) WithUser(user string) Database {
	d.user = user
	return d
}

// WithPort sets the server's port.
func (d Database) WithPort(port int) Database {
	d.port = port
	return d
}

// WithTLS sets how the connection is protected.
func (d Database) WithTLS(mode TLSMode) Database {
	d.tls = mode
	return d
}

// WithRootCA gives the certificate authorities (PEM) that the server's
// certificate is checked against with [TLSVerifyCA] and [TLSVerifyFull].
// Without it they are those of Flyte's image, which know no private
// authority and not those of most managed databases.
func (d Database) WithRootCA(pem string) Database {
	d.rootCA = pem
	return d
}

// WithPassword sets the password. Its text goes into a Secret object that
// Flyte mounts, quoted where PostgreSQL's connection strings need it, never into
// Helm values; when it changes, Flyte's pods are restarted.
//
// Line breaks at its end are not part of it.
//
// A [planewright.SecretInCluster] is mounted as it is: its key must hold the
// password as it stands in a connection string, and pods do not restart when it changes.
func (d Database) WithPassword(password planewright.Secret) Database {
	d.password = password
	return d
}

// String describes the database without its password.
func (d Database) String() string {
	if !d.set {
		return "no database"
	}
	s := fmt.Sprintf("postgres://%s@%s:%d/%s, TLS %s", d.user, d.host, d.port, d.name, d.tls)
	if !d.password.IsZero() {
		s += ", password from " + d.password.Source()
	}
	return s
}

// GoString is String, so that no verb prints the password.
func (d Database) GoString() string { return "flyte.Database(" + d.String() + ")" }

// options are the rest of the connection string.
func (d Database) options() string { return d.optionsAt(databaseMount) }

// optionsAt is options where the authorities are in another folder.
func (d Database) optionsAt(mount string) string {
	options := "sslmode=" + string(d.tls)
	if d.rootCA != "" {
		options += " sslrootcert=" + mount + "/" + rootCAKey
	}
	return options
}

// owned reports whether a Secret of ours holds something for the database.
func (d Database) owned() bool {
	_, inCluster := d.password.InCluster()
	return d.rootCA != "" || !d.password.IsZero() && !inCluster
}

// postgresName matches the names of users and databases that need no quotes,
// neither in PostgreSQL's connection strings nor in the YAML and the shell command
// that the chart writes them into. The '@' is Azure's.
var postgresName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.@-]*$`)

func (d Database) validate(p *planewright.Problems) {
	if !d.set {
		p.Add("database", "", "a deployment needs a PostgreSQL database", "use WithDatabase(flyte.Postgres(host, database))")
		return
	}
	if !isHost(d.host) || !plainYAML(d.host) {
		p.Add("database.host", d.host, "a host is a DNS name or an IP address", "use the server's name without a scheme or port; WithPort sets the port")
	}
	for _, n := range []struct{ path, value string }{{"database.name", d.name}, {"database.user", d.user}} {
		if !postgresName.MatchString(n.value) || len(n.value) > 63 || !plainYAML(n.value) {
			p.Add(n.path, n.value, "the name goes into YAML, a shell command and a connection string without quotes: at most 63 letters, digits and any of _ . @ -, beginning with a letter or _, and no word that YAML reads as something else", "rename it, for example to flyteadmin")
		}
	}
	if errs := validation.IsValidPortNum(d.port); len(errs) > 0 {
		p.Add("database.port", fmt.Sprint(d.port), "a port is a number from 1 to 65535", "leave it out to use 5432")
	}
	d.validateTLS(p)
}

func (d Database) validateTLS(p *planewright.Problems) {
	switch d.tls {
	case TLSDisable, TLSRequire:
		if d.rootCA != "" {
			p.Add("database.rootCA", "", fmt.Sprintf("TLS mode %s checks no certificate, so an authority would do nothing", d.tls), "use WithTLS(flyte.TLSVerifyFull)")
		}
	case TLSVerifyCA, TLSVerifyFull:
		if d.rootCA != "" && !isCertificates(d.rootCA) {
			p.Add("database.rootCA", "", "an authority is one or more certificates in PEM form", "give the content of a file that begins with -----BEGIN CERTIFICATE-----")
		}
	default:
		p.Add("database.tls", string(d.tls), "a TLS mode is disable, require, verify-ca or verify-full", "use one of the TLS constants")
	}
	if d.password.IsZero() && d.tls != TLSDisable {
		p.Add("database.password", "", "without a password Flyte ignores the TLS mode and connects unencrypted", "use WithPassword, or say WithTLS(flyte.TLSDisable)")
	}
	if ref, ok := d.password.InCluster(); ok {
		validateSecretRef(p, "database.password", ref)
	}
}

// validateSecretRef checks a reference to a key of an existing Secret.
func validateSecretRef(p *planewright.Problems, path string, ref planewright.SecretRef) {
	if errs := validation.IsDNS1123Subdomain(ref.SecretName); len(errs) > 0 {
		p.Add(path, ref.SecretName, "a Secret's name is a DNS subdomain", "use the name of a Secret in the deployment's namespace")
	}
	if errs := validation.IsConfigMapKey(ref.Key); len(errs) > 0 {
		p.Add(path, ref.Key, "a key of a Secret is letters, digits and any of - _ .", "use the key that holds the password")
	}
}

// connectionString quotes a password the way PostgreSQL's connection strings
// want it. Flyte puts it there as it is, where a space ends it and a quote or
// backslash has a meaning.
func connectionString(password string) string {
	password = strings.TrimRight(password, "\r\n")
	if password != "" && !strings.ContainsAny(password, " \t\n\r\v\f'\\") {
		return password
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password) + "'"
}
