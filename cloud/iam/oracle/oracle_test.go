// Package oracle compares this project's comparison of policy documents with
// one that somebody else wrote. It is a module of its own, so that users of the
// library do not inherit the other one.
package oracle

import (
	"testing"

	awspolicy "github.com/hashicorp/awspolicyequivalence"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func allow(rest string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` + rest + `}]}`
}

func equal(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := iam.ParseDocument(a)
	require.NoError(t, err)
	other, err := iam.ParseDocument(b)
	require.NoError(t, err)
	return one.Equal(other)
}

func TestBothAgree(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"list of one":      {allow(`"Principal":{"AWS":"*"},"Action":"sts:AssumeRole"`), allow(`"Principal":{"AWS":["*"]},"Action":["sts:AssumeRole"]`), true},
		"order":            {allow(`"Action":["s3:GetObject","s3:PutObject"],"Resource":"*"`), allow(`"Resource":"*","Action":["s3:PutObject","s3:GetObject"]`), true},
		"account and root": {allow(`"Principal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"`), allow(`"Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:AssumeRole"`), true},
		"true and text":    {allow(`"Principal":{"AWS":"*"},"Action":"a:b","Condition":{"Bool":{"x":true}}`), allow(`"Principal":{"AWS":"*"},"Action":"a:b","Condition":{"Bool":{"x":"true"}}`), true},
		"other action":     {allow(`"Action":"s3:GetObject","Resource":"*"`), allow(`"Action":"s3:PutObject","Resource":"*"`), false},
		"other operator":   {allow(`"Action":"a:b","Resource":"*","Condition":{"StringLike":{"k":"v"}}`), allow(`"Action":"a:b","Resource":"*","Condition":{"StringEquals":{"k":"v"}}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, err := awspolicy.PoliciesAreEquivalent(c.a, c.b)
			require.NoError(t, err)
			assert.Equal(t, c.want, theirs)
			assert.Equal(t, c.want, equal(t, c.a, c.b))
		})
	}
}

// What the other one gets wrong, and why it is no more than an oracle. Should
// one of these change, that is good news.
func TestKnownGapsOfTheOracle(t *testing.T) {
	for name, c := range map[string]struct {
		a, b         string
		theirs, ours bool
	}{
		"an element that is not known is dropped":    {allow(`"Action":"a:b","Resorce":"x"`), allow(`"Action":"a:b"`), true, false},
		"anybody equals no principal":                {allow(`"Principal":"*","Action":"a:b"`), allow(`"Action":"a:b"`), true, false},
		"anybody equals an empty list of principals": {allow(`"Principal":"*","Action":"a:b"`), allow(`"Principal":{"AWS":[]},"Action":"a:b"`), true, false},
		"anybody in its other spelling":              {allow(`"Principal":"*","Action":"a:b"`), allow(`"Principal":{"AWS":"*"},"Action":"a:b"`), false, true},
		"the case of an action":                      {allow(`"Action":"s3:getobject","Resource":"*"`), allow(`"Action":"s3:GetObject","Resource":"*"`), false, true},
		"the case of a condition key":                {allow(`"Action":"a:b","Condition":{"Bool":{"aws:X":"true"}}`), allow(`"Action":"a:b","Condition":{"Bool":{"aws:x":"true"}}`), false, true},
		"no conditions":                              {allow(`"Action":"a:b","Condition":{}`), allow(`"Action":"a:b"`), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, err := awspolicy.PoliciesAreEquivalent(c.a, c.b)
			require.NoError(t, err)
			assert.Equal(t, c.theirs, theirs)
			assert.Equal(t, c.ours, equal(t, c.a, c.b))
		})
	}
	t.Run("a key that occurs twice", func(t *testing.T) {
		twice := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Effect":"Deny","Action":"a:b"}]}`
		theirs, err := awspolicy.PoliciesAreEquivalent(twice, `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"a:b"}]}`)
		require.NoError(t, err)
		assert.True(t, theirs)
		_, err = iam.ParseDocument(twice)
		require.Error(t, err)
	})
}
