package planewright

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
)

// redacted is what a secret shows of itself, everywhere.
const redacted = "[redacted]"

// Secret is a secret value, or a reference to one that is resolved in memory
// when it is needed. However it is printed, formatted, logged or marshalled,
// it shows "[redacted]". The zero value is no secret; see [Secret.IsZero].
type Secret struct {
	source SecretSource
}

// SecretSource finds a secret somewhere: in a vault, a cloud's secret store.
// Implement it to keep secrets where yours are, and wrap it with [SecretFrom].
type SecretSource interface {
	// Secret returns the secret's bytes. Its errors must not hold the secret.
	Secret(ctx context.Context) ([]byte, error)
	// Name says where the secret comes from, for errors: "environment variable FLYTE_DB".
	Name() string
}

// SecretValue makes a secret of a value in memory.
func SecretValue(value string) Secret { return Secret{source: valueSource{&value}} }

// SecretFromEnv takes the secret from an environment variable, read when the
// secret is needed. An unset or empty variable is an error that matches [ErrNotFound].
func SecretFromEnv(variable string) Secret { return Secret{source: envSource(variable)} }

// SecretFromFile takes the secret from a file, read when the secret is needed.
// One newline at the end of the file is not part of the secret.
func SecretFromFile(path string) Secret { return Secret{source: fileSource(path)} }

// SecretFrom takes the secret from a source of the caller's.
func SecretFrom(source SecretSource) Secret { return Secret{source: source} }

// SecretInCluster refers to the given key of a Kubernetes Secret that exists
// in the namespace of whatever uses it. It is never read: what needs it is
// pointed at it, and only its existence is checked. Resolving it is an error
// that matches [ErrUnsupported].
func SecretInCluster(name, key string) Secret { return Secret{source: SecretRef{name, key}} }

// SecretRef is the source of [SecretInCluster].
type SecretRef struct {
	// SecretName is the name of the Secret object, Key the key in its data.
	SecretName, Key string
}

// Secret implements [SecretSource] by refusing: the Secret stays in its cluster.
func (r SecretRef) Secret(context.Context) ([]byte, error) {
	return nil, fmt.Errorf("%s is not read by this program: %w", r.Name(), ErrUnsupported)
}

// Name implements [SecretSource].
func (r SecretRef) Name() string { return "key " + r.Key + " of Secret " + r.SecretName }

// InCluster returns the reference if the secret was made by [SecretInCluster].
func (s Secret) InCluster() (SecretRef, bool) {
	r, ok := s.source.(SecretRef)
	return r, ok
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.source == nil }

// Resolve returns the secret's bytes. The caller keeps them in memory only,
// and never in an error. Errors name the source.
func (s Secret) Resolve(ctx context.Context) ([]byte, error) {
	if s.source == nil {
		return nil, fmt.Errorf("no secret is set: %w", ErrNotFound)
	}
	v, err := s.source.Secret(ctx)
	if err != nil {
		return nil, fmt.Errorf("secret from %s: %w", s.source.Name(), err)
	}
	if len(v) == 0 {
		return nil, fmt.Errorf("secret from %s is empty: %w", s.source.Name(), ErrNotFound)
	}
	return v, nil
}

// Source says where the secret comes from, without the secret; empty for no secret.
func (s Secret) Source() string {
	if s.source == nil {
		return ""
	}
	return s.source.Name()
}

// String returns "[redacted]".
func (s Secret) String() string { return redacted }

// GoString returns "[redacted]", also for %#v.
func (s Secret) GoString() string { return redacted }

// Format prints "[redacted]" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

// MarshalText marshals as "[redacted]", in JSON, YAML and XML alike.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue logs "[redacted]".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// valueSource keeps its value behind a pointer: package fmt calls no methods on
// what lies in unexported fields, and would print a value that it can reach.
type valueSource struct{ value *string }

func (v valueSource) Secret(context.Context) ([]byte, error) { return []byte(*v.value), nil }
func (v valueSource) Name() string                           { return "a value in memory" }

type envSource string

func (e envSource) Secret(context.Context) ([]byte, error) {
	v, ok := os.LookupEnv(string(e))
	if !ok {
		return nil, fmt.Errorf("it is not set: %w", ErrNotFound)
	}
	return []byte(v), nil
}
func (e envSource) Name() string { return "environment variable " + string(e) }

type fileSource string

func (f fileSource) Secret(context.Context) ([]byte, error) {
	b, err := os.ReadFile(string(f))
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("it does not exist: %w", ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r")), nil
}
func (f fileSource) Name() string { return "file " + string(f) }
