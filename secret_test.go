package planewright_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/planewright/planewright"
)

func TestASecretNeverShowsItself(t *testing.T) {
	const value = "hunter2"
	secret := planewright.SecretValue(value)
	spec := struct {
		Password planewright.Secret
		Pointer  *planewright.Secret
		List     []planewright.Secret
		Map      map[string]planewright.Secret
	}{secret, &secret, []planewright.Secret{secret}, map[string]planewright.Secret{"k": secret}}

	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		out := fmt.Sprintf(verb, secret, secret)
		assert.NotContains(t, out, value, verb)
		assert.NotContains(t, out, "68756e74657232", verb)
		assert.NotContains(t, fmt.Sprintf(verb, spec, spec), value, verb)
	}
	out, err := json.Marshal(spec)
	require.NoError(t, err)
	assert.JSONEq(t, `{"Password":"[redacted]","Pointer":"[redacted]","List":["[redacted]"],"Map":{"k":"[redacted]"}}`, string(out))
	out, err = xml.Marshal(secret)
	require.NoError(t, err)
	assert.NotContains(t, string(out), value)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "spec", spec)
	assert.NotContains(t, log.String(), value)
}

func TestSecretsComeFromWhereTheyAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("from file\n"), 0o600))
	t.Setenv("PLANEWRIGHT_TEST_SECRET", "from env")
	for want, secret := range map[string]planewright.Secret{
		"from env":    planewright.SecretFromEnv("PLANEWRIGHT_TEST_SECRET"),
		"from file":   planewright.SecretFromFile(file),
		"from memory": planewright.SecretValue("from memory"),
		"from vault":  planewright.SecretFrom(vault{"from vault"}),
	} {
		got, err := secret.Resolve(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestASecretThatIsNotThereNamesItsSource(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nothing")
	for want, secret := range map[string]planewright.Secret{
		"secret from environment variable PLANEWRIGHT_UNSET: it is not set: not found": planewright.SecretFromEnv("PLANEWRIGHT_UNSET"),
		"secret from file " + missing + ": it does not exist: not found":               planewright.SecretFromFile(missing),
		"secret from a value in memory is empty: not found":                            planewright.SecretValue(""),
		"no secret is set: not found":                                                  {},
	} {
		_, err := secret.Resolve(t.Context())
		require.ErrorIs(t, err, planewright.ErrNotFound)
		require.EqualError(t, err, want)
	}
	_, err := planewright.SecretInCluster("db", "password").Resolve(t.Context())
	require.ErrorIs(t, err, planewright.ErrUnsupported)
	ref, ok := planewright.SecretInCluster("db", "password").InCluster()
	assert.True(t, ok)
	assert.Equal(t, planewright.SecretRef{SecretName: "db", Key: "password"}, ref)
}

func TestARunAsksASourceOnce(t *testing.T) {
	source := &countingSource{}
	run := planewright.NewRun()
	for range 3 {
		v, err := run.Resolve(t.Context(), planewright.SecretFrom(source))
		require.NoError(t, err)
		assert.Equal(t, "v", string(v))
	}
	assert.Equal(t, 1, source.asked)

	// A source that cannot be compared is asked each time, and nothing panics.
	_, err := run.Resolve(t.Context(), planewright.SecretFrom(listSource{"v"}))
	require.NoError(t, err)
}

type vault struct{ value string }

func (v vault) Secret(context.Context) ([]byte, error) { return []byte(v.value), nil }
func (vault) Name() string                             { return "vault" }

type countingSource struct{ asked int }

func (c *countingSource) Secret(context.Context) ([]byte, error) { c.asked++; return []byte("v"), nil }
func (*countingSource) Name() string                             { return "counter" }

type listSource []string

func (l listSource) Secret(context.Context) ([]byte, error) { return []byte(l[0]), nil }
func (listSource) Name() string                             { return "list" }
