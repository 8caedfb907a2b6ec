package flyte

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
)

// token makes a token of a text that is its claims.
func token(claims string) string {
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

func TestATokensFormIsChecked(t *testing.T) {
	const subject = "system:serviceaccount:flyte:flyteadmin"
	good := token(`{"sub":"` + subject + `"}`)
	assert.Empty(t, tokenProblem([]byte(good), subject))
	for name, c := range map[string]struct{ token, want string }{
		"a line break at its end":   {good + "\n", "begins or ends with white space, which flyteadmin would send on"},
		"encoded twice":             {base64.StdEncoding.EncodeToString([]byte(good)), "looks like a token that was base64-encoded twice"},
		"no token at all":           {"hunter2", "is no token: it does not have three parts"},
		"a token that says nothing": {"a.b.c", "is no token: what it says cannot be read"},
		"somebody else's": {token(`{"sub":"system:serviceaccount:flyte:default"}`),
			"is one of system:serviceaccount:flyte:default, and that of " + subject + " is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tokenProblem([]byte(c.token), subject)
			assert.Equal(t, c.want, got)
			assert.NotContains(t, got, c.token)
		})
	}
}

func TestAuthoritiesAreTheSameWhateverIsAroundThem(t *testing.T) {
	want, ok := normalPEM([]byte(testCertificate))
	assert.True(t, ok)
	chain, ok := normalPEM([]byte(testCertificate + "\n\n" + testCertificate))
	assert.True(t, ok)
	assert.Equal(t, string(want)+string(want), string(chain), "a chain keeps its order")
	for name, text := range map[string]string{
		"more line breaks":    testCertificate + "\n\n\n",
		"none at the end":     testCertificate[:len(testCertificate)-1],
		"a comment before it": "# the authority\n" + testCertificate,
	} {
		got, ok := normalPEM([]byte(text))
		assert.True(t, ok, name)
		assert.Equal(t, string(want), string(got), name)
	}
	for name, text := range map[string]string{
		"nothing":             "",
		"base64":              base64.StdEncoding.EncodeToString([]byte(testCertificate)),
		"indented":            "  " + testCertificate,
		"something behind it": testCertificate + "and more",
	} {
		_, ok := normalPEM([]byte(text))
		assert.False(t, ok, name)
	}
}

func FuzzNormalPEM(f *testing.F) {
	f.Add(testCertificate)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		once, ok := normalPEM([]byte(text))
		if !ok {
			return
		}
		twice, ok := normalPEM(once)
		if !ok || string(once) != string(twice) {
			t.Errorf("%q is not normal yet", once)
		}
	})
}
