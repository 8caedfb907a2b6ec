package iam_test

import (
	"errors"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeletedPrincipalsAreFound(t *testing.T) {
	d := parse(t, `{"Statement":[{"Sid":"Old","Effect":"Allow","Principal":{"AWS":["AIDAEXAMPLEEXAMPLE123","123456789012"]},"Action":"sts:AssumeRole"}]}`)
	assert.Equal(t, []iam.DeletedPrincipal{{Statement: 1, Sid: "Old", ID: "AIDAEXAMPLEEXAMPLE123"}}, d.DeletedPrincipals())
}

func TestADocumentThatNamesADeletedPrincipalIsNotChanged(t *testing.T) {
	d := parse(t, `{"Version":"2012-10-17","Statement":[{"Sid":"Old","Effect":"Allow","Principal":{"AWS":"AROAEXAMPLEEXAMPLE123"},"Action":"sts:AssumeRole"}]}`)
	_, err := d.MergeTrust(controlPlane())
	require.ErrorIs(t, err, planewright.ErrInvalid)
	deleted, ok := errors.AsType[*iam.DeletedPrincipalError](err)
	require.True(t, ok)
	assert.Equal(t, d.DeletedPrincipals(), deleted.Principals)
	require.EqualError(t, err, "statement 1 (Old) of the trust policy names AROAEXAMPLEEXAMPLE123, a principal that was deleted; IAM takes no document that names it. Take it out of the statement, or make its principal again")

	m, err := d.MergeTrust(iam.NewTrustPolicy())
	require.NoError(t, err, "what is not written may name whom it likes")
	assert.False(t, m.Changed)
}

func TestDeletedPrincipalsAreDroppedOnRequest(t *testing.T) {
	const gone, too = "AROAEXAMPLEEXAMPLE123", "AIDAEXAMPLEEXAMPLE123"
	for name, c := range map[string]struct{ before, after string }{
		"one of several, and the rest of the statement stays byte for byte": {
			`{ "Sid" : "Mixed" ,"Effect":"Allow", "Principal": {"AWS": ["999999999999", "` + gone + `", "` + too + `"], "Service": "ec2.amazonaws.com"} , "Action": [ "sts:AssumeRole" ],"Future":"<&>"}`,
			`{ "Sid" : "Mixed" ,"Effect":"Allow", "Principal": {"AWS":"999999999999","Service":"ec2.amazonaws.com"} , "Action": [ "sts:AssumeRole" ],"Future":"<&>"}`},
		"the order of the others":                         {`{"Effect":"Allow","Principal":{"AWS":["b","` + gone + `","a"]},"Action":"sts:AssumeRole"}`, `{"Effect":"Allow","Principal":{"AWS":["b","a"]},"Action":"sts:AssumeRole"}`},
		"the last of its type":                            {`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com","AWS":"` + gone + `"},"Action":"sts:AssumeRole"}`, `{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`},
		"a statement about nobody else goes":              {`{"Effect":"Allow","Principal":{"AWS":["` + gone + `"]},"Action":"sts:AssumeRole"}`, ""},
		"a denial of nobody else goes":                    {`{"Effect":"Deny","Principal":{"AWS":"` + too + `"},"Action":"sts:*"}`, ""},
		"a value called Principal elsewhere is no such":   {`{"Condition":{"StringEquals":{"Principal":"` + gone + `"}},"Effect":"Allow","Principal":{"AWS":["` + gone + `","1"]},"Action":"a:b"}`, `{"Condition":{"StringEquals":{"Principal":"` + gone + `"}},"Effect":"Allow","Principal":{"AWS":"1"},"Action":"a:b"}`},
		"one whose name only looks so is somebody's role": {`{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/` + gone + `"},"Action":"sts:AssumeRole"}`, `{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/` + gone + `"},"Action":"sts:AssumeRole"}`},
	} {
		t.Run(name, func(t *testing.T) {
			const theirs = `{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}`
			m := merge(t, parse(t, `{"Version":"2012-10-17","Statement":[`+c.before+`,`+theirs+`]}`), iam.NewTrustPolicy(), iam.DroppingDeletedPrincipals())
			want := `{"Version":"2012-10-17","Statement":[`
			if c.after != "" {
				want += c.after + ","
			}
			assert.Equal(t, want+theirs+`]}`, m.Document.String())
			assert.Equal(t, c.before != c.after, m.Changed)
			assert.Equal(t, m.Changed, len(m.Diff) > 0)
			assert.False(t, merge(t, m.Document, iam.NewTrustPolicy(), iam.DroppingDeletedPrincipals()).Changed)
		})
	}
	t.Run("but not from those that a statement spares", func(t *testing.T) {
		d := parse(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","NotPrincipal":{"AWS":"`+gone+`"},"Action":"sts:*"}]}`)
		_, err := d.MergeTrust(controlPlane(), iam.DroppingDeletedPrincipals())
		var deleted *iam.DeletedPrincipalError
		require.ErrorAs(t, err, &deleted)
	})
}

func FuzzDroppingDeletedPrincipals(f *testing.F) {
	f.Add(guide)
	f.Add(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":["AROAEXAMPLEEXAMPLE123","1"]},"Action":"a:b"},{"Effect":"Deny","Principal":"*","Action":"a:b"}]}`)
	f.Add(`{"Statement":{ "Princip\u0061l" : {"AWS":"AIDAEXAMPLEEXAMPLE123","Service":[]} ,"Effect":"Allow","NotPrincipal":{"AWS":"AROAEXAMPLEEXAMPLE123"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := iam.ParseDocument(text)
		if err != nil {
			return
		}
		m, err := d.MergeTrust(iam.NewTrustPolicy(), iam.DroppingDeletedPrincipals())
		if err != nil {
			var deleted *iam.DeletedPrincipalError
			require.ErrorAs(t, err, &deleted)
			return
		}
		again := parse(t, m.Document.String())
		assert.Equal(t, m.Document.String(), again.String())
		kept := map[string]bool{}
		for _, s := range d.Statements() {
			kept[s.String()] = true
		}
		changed := 0
		for _, s := range m.Document.Statements() {
			if !kept[s.String()] {
				changed++
			}
		}
		assert.LessOrEqual(t, changed, len(d.DeletedPrincipals()), "only statements that named one are written anew")
		assert.False(t, merge(t, again, iam.NewTrustPolicy(), iam.DroppingDeletedPrincipals()).Changed)
	})
}
