package iam_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDocumentsAreReadAsIAMReturnsThem(t *testing.T) {
	plain := parse(t, guide)
	encoded := strings.ReplaceAll(url.QueryEscape(guide), "+", "%20")
	assert.Equal(t, plain.String(), parse(t, encoded).String(), "percent-encoded")
	assert.Equal(t, plain.String(), parse(t, "\n\t "+guide+"\n").String())
	single := parse(t, strings.NewReplacer("[\n", "\n", "\n  ]", "\n").Replace(guide))
	assert.True(t, plain.Equal(single), "a single statement is a list of one")
	plus := parse(t, `{"Version":"2012-10-17","Statement":[{"Sid":"a+b c","Effect":"Allow","Principal":"*","Action":"sts:*"}]}`)
	assert.Equal(t, "a+b c", plus.Statements()[0].Sid(), "a plus is a plus")
	assert.Equal(t, "a+b c", parse(t, strings.ReplaceAll(url.PathEscape(plus.String()), "+", "%2B")).Statements()[0].Sid())
}

func TestDocumentsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "it is no JSON object",
		"null":                               "it is no JSON object",
		"%7":                                 "invalid URL escape",
		`{"Statement":[]`:                    "the document ends in the middle",
		`{"Statement":[]} {}`:                "something follows the document",
		`{"Statement":[],"Statement":[]}`:    `the key "Statement" occurs twice`,
		`{"Statemnt":[]}`:                    `a document has no element "Statemnt"`,
		`{"Statement":["x"]}`:                "statement 1: it is no JSON object",
		`{"Statement":[{"Effect":"allow"}]}`: `Effect is "allow"; it is Allow or Deny`,
		`{"Statement":[{"Effect":"Allow","Effect":"Deny"}]}`:                           `the key "Effect" occurs twice`,
		`{"Statement":[{"Effect":"Allow","Principal":"everybody"}]}`:                   `"everybody" is neither "*" nor an object`,
		`{"Statement":[{"Effect":"Allow","Action":{}}]}`:                               "Action: {} is no value",
		`{"Statement":[{"Effect":"Allow","Condition":{"StringEquals":"x"}}]}`:          "Condition: StringEquals",
		`{"Statement":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`:    "it is nested too deep",
		`{"Statement":[{"Effect":"Allow","Principal":{"AWS":[null]}}]}`:                "null is no value",
		`{"Version":20121017,"Statement":[]}`:                                          "policy document",
		`{"Statement":[{"Effect":"Allow","Condition":{"Bool":{"a:b":true,"a:b":1}}}]}`: `the key "a:b" occurs twice`,
	} {
		_, err := iam.ParseDocument(text)
		require.ErrorIs(t, err, planewright.ErrInvalid, text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestEqualFailsClosed(t *testing.T) {
	allow := func(rest string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` + rest + `}]}`
	}
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"a list of one":                          {allow(`"Principal":{"AWS":"*"},"Action":"sts:AssumeRole"`), allow(`"Principal":{"AWS":["*"]},"Action":["sts:AssumeRole"]`), true},
		"the order of elements and values":       {allow(`"Principal":"*","Action":["a:B","a:C"]`), allow(`"Action":["a:C","a:B"],"Principal":"*"`), true},
		"the case of actions":                    {allow(`"Principal":"*","Action":"sts:AssumeRole"`), allow(`"Principal":"*","Action":"STS:assumerole"`), true},
		"anybody in both spellings":              {allow(`"Principal":"*","Action":"a:b"`), allow(`"Principal":{"AWS":"*"},"Action":"a:b"`), true},
		"an account and its root":                {allow(`"Principal":{"AWS":"123456789012"},"Action":"a:b"`), allow(`"Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"a:b"`), true},
		"doubled values":                         {allow(`"Principal":"*","Action":["a:b","a:b"]`), allow(`"Principal":"*","Action":"a:b"`), true},
		"true and its text":                      {allow(`"Principal":"*","Action":"a:b","Condition":{"Bool":{"x":true}}`), allow(`"Principal":"*","Action":"a:b","Condition":{"Bool":{"x":"true"}}`), true},
		"the case of condition keys":             {allow(`"Principal":"*","Action":"a:b","Condition":{"Bool":{"aws:X":"true"}}`), allow(`"Principal":"*","Action":"a:b","Condition":{"Bool":{"AWS:x":"true"}}`), true},
		"no conditions":                          {allow(`"Principal":"*","Action":"a:b","Condition":{}`), allow(`"Principal":"*","Action":"a:b"`), true},
		"an empty Sid":                           {allow(`"Sid":"","Principal":"*","Action":"a:b"`), allow(`"Principal":"*","Action":"a:b"`), true},
		"an element that is not known":           {allow(`"Principal":"*","Action":"a:b","Resorce":"x"`), allow(`"Principal":"*","Action":"a:b"`), false},
		"the same unknown element":               {allow(`"Principal":"*","Action":"a:b","Resorce":"x"`), allow(`"Principal":"*","Action":"a:b","Resorce": "x"`), true},
		"anybody and nobody":                     {allow(`"Principal":"*","Action":"a:b"`), allow(`"Action":"a:b"`), false},
		"nobody in two spellings":                {allow(`"Principal":{},"Action":"a:b"`), allow(`"Action":"a:b"`), false},
		"an empty list of principals":            {allow(`"Principal":{"AWS":[]},"Action":"a:b"`), allow(`"Principal":"*","Action":"a:b"`), false},
		"the case of a resource":                 {allow(`"Action":"a:b","Resource":"x"`), allow(`"Action":"a:b","Resource":"X"`), false},
		"two languages":                          {allow(`"Action":"a:b","Resource":"x"`), strings.Replace(allow(`"Action":"a:b","Resource":"x"`), `"Version":"2012-10-17",`, "", 1), false},
		"one statement twice":                    {`{"Statement":[{"Effect":"Allow","Action":"a:b"},{"Effect":"Allow","Action":"a:b"}]}`, `{"Statement":[{"Effect":"Allow","Action":"a:b"}]}`, false},
		"no version and the version of 2008":     {`{"Version":"2008-10-17","Statement":[]}`, `{"Statement":[]}`, true},
		"two operators on one key":               {allow(`"Principal":"*","Action":"a:b","Condition":{"StringEquals":{"k":"v"}}`), allow(`"Principal":"*","Action":"a:b","Condition":{"StringLike":{"k":"v"}}`), false},
		"one key in two spellings is two":        {allow(`"Principal":"*","Action":"a:b","Condition":{"StringEquals":{"k":"v","K":"v"}}`), allow(`"Principal":"*","Action":"a:b","Condition":{"StringEquals":{"k":"v"}}`), false},
		"an action and everything but an action": {allow(`"Principal":"*","Action":"a:b"`), allow(`"Principal":"*","NotAction":"a:b"`), false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, parse(t, c.a).Equal(parse(t, c.b)))
			assert.Equal(t, c.want, parse(t, c.b).Equal(parse(t, c.a)))
		})
	}
}

func TestSizeCountsWhatIAMCounts(t *testing.T) {
	compact := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"a:b"}]}`
	spaced := parse(t, `{"Version":"2012-10-17","Statement":[{ "Effect" : "Allow",
		"Principal" : "*", "Action" : "a:b" }]}`)
	assert.Equal(t, len(compact), spaced.Size())
	assert.Equal(t, len(compact), parse(t, compact).Size())
	assert.Equal(t, 5, parse(t, strings.Replace(compact, "a:b", `a:b\"<é >`, 1)).Size()-len(compact)-1, `escaped quotes count twice, <>& and letters once, spaces in strings to be safe`)
}

func FuzzParseDocument(f *testing.F) {
	f.Add(guide)
	f.Add(url.PathEscape(guide))
	for _, s := range foreign {
		f.Add(`{"Statement":` + s + `}`)
	}
	f.Add(`{"Statement":{"Effect":"Allow","Principal":{"AWS":"AROAEXAMPLEEXAMPLE123"},"Action":"a:b"}}`)
	trust := controlPlane().Merge(dataPlane(dp1ID)).WithPodIdentity()
	f.Fuzz(func(t *testing.T, text string) {
		d, err := iam.ParseDocument(text)
		if err != nil {
			return
		}
		again := parse(t, d.String())
		require.Equal(t, d.String(), again.String())
		require.True(t, d.Equal(again))
		m, err := d.MergeTrust(trust)
		if err != nil {
			var deleted *iam.DeletedPrincipalError
			require.ErrorAs(t, err, &deleted)
			return
		}
		require.False(t, merge(t, m.Document, trust).Changed)
		require.Equal(t, m.Document.String(), parse(t, m.Document.String()).String())
		for _, s := range d.Statements() {
			_ = iam.Evaluate(d, iam.WebIdentityRequest(provider(mainID), iam.ServiceAccount("flyte", "flyteadmin")))
			_ = s.Sid()
		}
		_ = d.Findings()
	})
}
