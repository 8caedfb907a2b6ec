package admintest

import (
	"context"
	"testing"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contextOf is a test's context for its cleanup, when the test's own has ended.
func contextOf(t *testing.T) context.Context {
	t.Helper()
	return context.WithoutCancel(t.Context())
}

// fails asserts that an error is an *admin.Error of a sentinel, with the
// status and the code that flyteadmin answers with.
func (s *scene) fails(err, sentinel error, status int, code admin.Code) {
	s.Helper()
	require.ErrorIs(s, err, sentinel)
	var failure *admin.Error
	require.ErrorAs(s, err, &failure)
	assert.Equal(s, status, failure.Status)
	assert.Equal(s, code, failure.Code)
	assert.NotEmpty(s, failure.Message)
	assert.False(s, failure.Retryable())
}
