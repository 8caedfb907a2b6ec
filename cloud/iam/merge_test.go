package iam_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guide is the trust policy that the manual guide makes with eksctl: one
// subject, as a string.
const guide = `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Principal": {"Federated": "arn:aws:iam::123456789012:oidc-provider/` + mainID + `"},
      "Action": "sts:AssumeRoleWithWebIdentity",
      "Condition": {
        "StringEquals": {
          "` + mainID + `:aud": "sts.amazonaws.com",
          "` + mainID + `:sub": "system:serviceaccount:flyte:flyteadmin"
        }
      }
    }
  ]
}`

func TestASubjectIsAddedToTheGuidesStatement(t *testing.T) {
	m := merge(t, parse(t, guide), controlPlane())
	assert.True(t, m.Changed)
	assert.Equal(t, []planewright.FieldDiff{{Path: "trust[" + mainID + "][flyte:datacatalog]", After: "StringEquals"}}, m.Diff)
	require.Len(t, m.Document.Statements(), 1)
	assert.Contains(t, m.Document.String(), `:sub":["system:serviceaccount:flyte:datacatalog","system:serviceaccount:flyte:flyteadmin"]`)

	again := merge(t, m.Document, controlPlane())
	assert.False(t, again.Changed)
	assert.Empty(t, again.Diff)
	assert.Equal(t, m.Document.String(), again.Document.String())
}

func TestAnotherClusterIsAStatementOfItsOwn(t *testing.T) {
	m := merge(t, parse(t, guide), dataPlane(dp1ID))
	require.Len(t, m.Document.Statements(), 2)
	assert.Equal(t, parse(t, guide).Statements()[0].String(), m.Document.Statements()[1].String(), "the first stays byte for byte")
}

func TestTrustInPodIdentityStaysBesideOurs(t *testing.T) {
	const podIdentity = `{"Sid": "AllowEksAuthToAssumeRoleForPodIdentity", "Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": ["sts:AssumeRole", "sts:TagSession"]}`
	d := parse(t, `{"Version":"2012-10-17","Statement":`+podIdentity+`}`)
	assert.Empty(t, d.Findings())
	m := merge(t, d, controlPlane())
	require.Len(t, m.Document.Statements(), 2)
	assert.Equal(t, podIdentity, m.Document.Statements()[0].String())

	unnamed := parse(t, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:TagSession","sts:AssumeRole"]}}`)
	assert.False(t, merge(t, unnamed, iam.NewTrustPolicy().WithPodIdentity()).Changed, "it says the same already")
	assert.False(t, merge(t, unnamed, iam.NewTrustPolicy().WithPodIdentity(iam.PodIdentity{Namespaces: []string{"flyte"}})).Changed, "and more")
}

func TestForeignStatements(t *testing.T) {
	statement := func(sid, operator, subject string) iam.Document {
		return parse(t, `{"Version":"2012-10-17","Statement":[{"Sid":"`+sid+`","Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/`+mainID+`"},`+
			`"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"`+mainID+`:aud":"sts.amazonaws.com"},"`+operator+`":{"`+mainID+`:sub":"`+subject+`"}}}]}`)
	}
	t.Run("that let in more are enough", func(t *testing.T) {
		assert.False(t, merge(t, statement("Theirs", "StringLike", "system:serviceaccount:flyte:*"), controlPlane()).Changed)
	})
	t.Run("that let in less stay, and ours comes beside", func(t *testing.T) {
		d := statement("Theirs", "StringLike", "system:serviceaccount:flyte:flyteadmin")
		m := merge(t, d, controlPlane())
		require.Len(t, m.Document.Statements(), 2)
		assert.Equal(t, d.Statements()[0].String(), m.Document.Statements()[0].String())
		assert.Contains(t, m.Document.Statements()[1].String(), `:sub":"system:serviceaccount:flyte:datacatalog"`)
	})
	t.Run("with a wildcard that is literal are not widened", func(t *testing.T) {
		d := parse(t, strings.Replace(guide, "flyte:flyteadmin", "*:flyteadmin", 1))
		m := merge(t, d, controlPlane())
		require.Len(t, m.Document.Statements(), 2)
		assert.Equal(t, d.Statements()[0].String(), m.Document.Statements()[0].String())
	})
	t.Run("without a version keep the language they are in", func(t *testing.T) {
		d := parse(t, strings.Replace(guide, `"Version": "2012-10-17",`, "", 1))
		m := merge(t, d, dataPlane(dp1ID))
		assert.NotContains(t, m.Document.String(), "Version", "it would change what their variables mean")
	})
}

func TestOursAloneTrustsExactlyWhomThePolicyNames(t *testing.T) {
	d := merge(t, merge(t, parse(t, guide), dataPlane(dp1ID)).Document, dataPlane(dp2ID)).Document
	ours := iam.Replacing(func(arn string) bool { return arn == provider(dp1ID).ARN() || arn == provider(dp2ID).ARN() })

	m := merge(t, d, iam.NewTrustPolicy().WithServiceAccounts(provider(dp1ID), iam.ServiceAccount("flyte", "flytepropeller")), ours)
	assert.Equal(t, []planewright.FieldDiff{
		{Path: "trust[" + dp1ID + "][*:default]", Before: "StringLike"},
		{Path: "trust[" + dp1ID + "][flyte:flytepropeller]", Before: "StringLike", After: "StringEquals"},
		{Path: "trust[" + dp2ID + "][*:default]", Before: "StringLike"},
		{Path: "trust[" + dp2ID + "][flyte:flytepropeller]", Before: "StringLike"},
	}, m.Diff, "dp-2 is no longer named, and main is not ours to take out")
	assert.Len(t, m.Document.Statements(), 2)
	assert.False(t, merge(t, m.Document, iam.NewTrustPolicy().WithServiceAccounts(provider(dp1ID), iam.ServiceAccount("flyte", "flytepropeller")), ours).Changed)
}

func TestRemovingTrust(t *testing.T) {
	d := merge(t, parse(t, guide), controlPlane().Merge(dataPlane(dp1ID)).WithPodIdentity()).Document
	m := d.RemoveTrust(dataPlane(dp1ID).WithPodIdentity())
	assert.True(t, m.Changed)
	require.Len(t, m.Document.Statements(), 1)
	m = m.Document.RemoveTrust(iam.NewTrustPolicy().WithServiceAccounts(provider(mainID), iam.ServiceAccount("flyte", "datacatalog")))
	assert.True(t, m.Document.Equal(parse(t, guide)))
	assert.False(t, m.Document.RemoveTrust(dataPlane(dp2ID)).Changed)
	assert.True(t, m.Document.RemoveTrust(controlPlane()).Document.IsEmpty())
}

func TestAPatternMakesTheSubjectsItCoversNeedless(t *testing.T) {
	exact := iam.NewTrustPolicy().WithServiceAccounts(provider(mainID), iam.ServiceAccount("team1-development", "default"))
	pattern := iam.NewTrustPolicy().WithServiceAccounts(provider(mainID), iam.ServiceAccountPattern("*-development", "default"))
	wider := iam.NewTrustPolicy().WithServiceAccounts(provider(mainID), iam.ServiceAccountPattern("*-d?velopment", "default"))
	one := merge(t, merge(t, merge(t, iam.Document{}, exact).Document, pattern).Document, wider).Document
	two := merge(t, merge(t, merge(t, iam.Document{}, wider).Document, pattern).Document, exact).Document
	assert.Equal(t, one.String(), two.String())
	assert.Contains(t, one.String(), `:sub":"system:serviceaccount:*-d?velopment:default"`)
}

// foreign are statements that others write, with all that may be odd about them.
var foreign = []string{
	`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}`,
	`{ "Sid" : "Named" ,"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::123456789012:root","999999999999"]},"Action":["sts:AssumeRole"],"Condition":{"Bool":{"aws:MultiFactorAuthPresent":true}}}`,
	`{"Effect":"Deny","Principal":"*","Action":"sts:*","Condition":{"StringNotEquals":{"aws:PrincipalOrgID":"o-1"}}}`,
	"{\n  \"Effect\": \"Allow\",\n  \"Principal\": {\"Federated\": \"cognito-identity.amazonaws.com\"},\n  \"Action\": \"sts:AssumeRoleWithWebIdentity\"\n}",
	`{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:saml-provider/x"},"Action":"sts:AssumeRoleWithSAML","Condition":{"StringEquals":{"SAML:aud":"https://signin.aws.amazon.com/saml"}}}`,
	`{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/` + dp1ID + `"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringLike":{"` + dp1ID + `:sub":"system:serviceaccount:other:*"}}}`,
	`{"Future":"element <&> é","Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}`,
	`{"Effect":"Allow","NotPrincipal":{"AWS":"123456789012"},"NotAction":"iam:*"}`,
}

func TestForeignStatementsSurviveEverything(t *testing.T) {
	sequences := 10_000
	if testing.Short() {
		sequences = 300
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range sequences {
		kept := slices.Clone(foreign)
		random.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
		kept = kept[:1+random.IntN(len(kept))]
		d := parse(t, `{"Version":"2012-10-17","Statement":[`+strings.Join(kept, ",")+`]}`)
		for range 1 + random.IntN(12) {
			trust := randomTrust(random)
			if random.IntN(3) == 0 {
				d = d.RemoveTrust(trust).Document
			} else {
				d = merge(t, d, trust).Document
				require.False(t, merge(t, d, trust).Changed, "sequence %d: merging is idempotent", n)
			}
		}
		var left []string
		for _, s := range d.Statements() {
			if slices.Contains(kept, s.String()) {
				left = append(left, s.String())
			}
		}
		require.Equal(t, kept, left, "sequence %d: byte for byte, and in their order", n)
		require.Equal(t, d.String(), parse(t, d.String()).String())
	}
}

func TestTheOrderOfMergesDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 500 {
		d := parse(t, `{"Version":"2012-10-17","Statement":[`+strings.Join(foreign[:random.IntN(len(foreign))+1], ",")+`]}`)
		trusts := make([]iam.TrustPolicy, 2+random.IntN(4))
		for i := range trusts {
			trusts[i] = randomTrust(random)
		}
		one := d
		for _, trust := range trusts {
			one = merge(t, one, trust).Document
		}
		random.Shuffle(len(trusts), func(i, j int) { trusts[i], trusts[j] = trusts[j], trusts[i] })
		other := d
		for _, trust := range trusts {
			other = merge(t, other, trust).Document
		}
		require.Equal(t, one.String(), other.String(), "try %d", n)
	}
}

func randomTrust(random *rand.Rand) iam.TrustPolicy {
	trust := iam.NewTrustPolicy().AllowingAnyNamespace()
	for range 1 + random.IntN(3) {
		p := provider([]string{mainID, dp1ID, dp2ID}[random.IntN(3)])
		name := fmt.Sprintf("sa%d", random.IntN(3))
		switch random.IntN(5) {
		case 0:
			trust = trust.WithServiceAccounts(p, iam.ServiceAccountPattern([]string{"*", "*-development", "flyte"}[random.IntN(3)], []string{"default", "sa?"}[random.IntN(2)]))
		case 1:
			trust = trust.WithPodIdentity()
		default:
			trust = trust.WithServiceAccounts(p, iam.ServiceAccount([]string{"flyte", "team1-development"}[random.IntN(2)], name))
		}
	}
	return trust
}

func BenchmarkMerge(b *testing.B) {
	d := iam.Document{}
	for i := range 100 {
		d = merge(b, d, dataPlane(fmt.Sprintf("oidc.eks.us-east-1.amazonaws.com/id/%032d", i))).Document
	}
	trust := dataPlane(mainID)
	b.ResetTimer()
	for b.Loop() {
		merge(b, d, trust)
	}
}

// What is ours alone is made exactly what the policy says, also where an
// earlier policy had another audience, or somebody has written a statement twice.
func TestOursAloneLeavesNothingOfEarlierPolicies(t *testing.T) {
	one := iam.NewTrustPolicy().WithServiceAccounts(provider(mainID), iam.ServiceAccount("flyte", "flyteadmin"))
	ours := iam.Replacing(func(arn string) bool { return arn == provider(mainID).ARN() })
	want := merge(t, iam.Document{}, one.WithAudience("flyte")).Document

	before := merge(t, iam.Document{}, one).Document
	m := merge(t, before, one.WithAudience("flyte"), ours)
	assert.Equal(t, want.String(), m.Document.String(), "tokens of the earlier audience are let in no longer")
	assert.Equal(t, []planewright.FieldDiff{
		{Path: "trust[" + mainID + "][flyte:flyteadmin]", Before: "StringEquals"},
		{Path: "trust[" + mainID + "][flyte:flyteadmin] for flyte", After: "StringEquals"},
	}, m.Diff)

	twice := parse(t, strings.Replace(want.String(), `"Statement":[`, `"Statement":[`+strings.ReplaceAll(want.Statements()[0].String(), "flyteadmin", "earlier")+",", 1))
	m = merge(t, twice, one.WithAudience("flyte"), ours)
	assert.Equal(t, want.String(), m.Document.String())
	assert.Len(t, merge(t, twice, one.WithAudience("flyte")).Document.Statements(), 2, "without the option both stay")
	assert.True(t, merge(t, twice, iam.NewTrustPolicy(), ours).Document.IsEmpty())
}
