package planewright_test

import (
	"fmt"
	"testing"

	"github.com/planewright/planewright"
	"github.com/stretchr/testify/assert"
)

// TestASecretInAnUnexportedField: package fmt prints such a field without
// asking its methods.
func TestASecretInAnUnexportedField(t *testing.T) {
	type config struct {
		name     string
		password planewright.Secret
	}
	c := config{"db", planewright.SecretValue("hunter2")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		assert.NotContains(t, fmt.Sprintf(verb, c), "hunter2", verb)
		assert.NotContains(t, fmt.Sprintf(verb, &c), "hunter2", verb)
		assert.NotContains(t, fmt.Sprintf(verb, []config{c}), "hunter2", verb)
		assert.NotContains(t, fmt.Sprintf(verb, map[string]any{"a": c}), "hunter2", verb)
	}
}
