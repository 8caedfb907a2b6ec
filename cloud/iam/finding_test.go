package iam_test

import (
	"strings"
	"testing"

	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
)

func TestWhatIsWrongInATrustPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		change *strings.Replacer
		want   []string
	}{
		"nothing": {strings.NewReplacer(), nil},
		"the guide's stray dots": {strings.NewReplacer(mainID+":aud", mainID+".:aud", mainID+":sub", mainID+".:sub"),
			[]string{iam.CodeForeignKey, iam.CodeForeignKey}},
		"another cluster's keys":      {strings.NewReplacer(mainID+":sub", dp1ID+":sub"), []string{iam.CodeForeignKey}},
		"no audience":                 {strings.NewReplacer(`"`+mainID+`:aud": "sts.amazonaws.com",`, ""), []string{iam.CodeNoAudience}},
		"no subject":                  {strings.NewReplacer(`"sts.amazonaws.com",`, `"sts.amazonaws.com"`, `"`+mainID+`:sub": "system:serviceaccount:flyte:flyteadmin"`, ""), []string{iam.CodeNoSubject}},
		"China's endpoint":            {strings.NewReplacer(`"sts.amazonaws.com"`, `"sts.amazonaws.com.cn"`), []string{iam.CodeAudience}},
		"a literal wildcard":          {strings.NewReplacer("flyte:flyteadmin", "*:flyteadmin"), []string{iam.CodeLiteralWildcard}},
		"every namespace":             {strings.NewReplacer("flyte:flyteadmin", "*:default", "StringEquals", "StringLike"), []string{iam.CodeTooWide}},
		"everybody":                   {strings.NewReplacer("flyte:flyteadmin", "*", "StringEquals", "StringLike"), []string{iam.CodeTooWide}},
		"a suffix is narrow enough":   {strings.NewReplacer("flyte:flyteadmin", "*-development:default", "StringEquals", "StringLike"), nil},
		"an operator for many values": {strings.NewReplacer(`"StringEquals"`, `"ForAllValues:StringEquals"`), []string{iam.CodeSetOperator, iam.CodeSetOperator}},
		"a role that was deleted": {strings.NewReplacer(`"Statement": [`, `"Statement": [{"Effect":"Allow","Principal":{"AWS":"AROAEXAMPLEEXAMPLE123"},"Action":"sts:AssumeRole"},`),
			[]string{iam.CodeDeletedPrincipal}},
		"the language of 2008": {strings.NewReplacer(`"Version": "2012-10-17",`, ""), []string{iam.CodeOldLanguage}},
	} {
		t.Run(name, func(t *testing.T) {
			var codes []string
			for _, f := range parse(t, c.change.Replace(guide)).Findings() {
				codes = append(codes, f.Code)
				assert.NotEmpty(t, f.Fix)
			}
			assert.Equal(t, c.want, codes)
		})
	}
	stray := parse(t, strings.ReplaceAll(guide, mainID+":sub", mainID+".:sub")).Findings()[0]
	assert.Equal(t, "warning [trust-key-of-other-provider] statement 1: the key "+mainID+".:sub is not of the provider "+mainID+", so the condition never holds; fix: use "+mainID+":sub", stray.String())
}

func TestADenialThatKeepsOursOutIsToldOf(t *testing.T) {
	denying := func(condition string) iam.Document {
		d := parse(t, `{"Version":"2012-10-17","Statement":[{"Sid":"Fence","Effect":"Deny","Principal":"*","Action":"sts:AssumeRoleWithWebIdentity","Condition":{`+condition+`}}]}`)
		return merge(t, d, controlPlane().Merge(dataPlane(dp1ID))).Document
	}
	trust := controlPlane().Merge(dataPlane(dp1ID))
	assert.Empty(t, denying(`"StringLike":{"`+mainID+`:sub":"system:serviceaccount:kube-system:*"}`).FindingsFor(trust))

	var causes []string
	for _, f := range denying(`"StringNotLike":{"` + dp1ID + `:sub":"system:serviceaccount:flyte:*"}`).FindingsFor(trust) {
		assert.Equal(t, iam.CodeKeptOut, f.Code)
		causes = append(causes, f.Cause)
	}
	assert.Equal(t, []string{
		"system:serviceaccount:x:default of " + dp1ID + " may not assume the role: statement 1 (Fence) denies it: StringNotLike on " + dp1ID + ":sub wants system:serviceaccount:flyte:*, and it is system:serviceaccount:x:default",
		"system:serviceaccount:flyte:flyteadmin of " + mainID + " may not assume the role: statement 1 (Fence) denies it: StringNotLike on " + dp1ID + ":sub wants system:serviceaccount:flyte:*, and the request has no such key",
		"system:serviceaccount:flyte:datacatalog of " + mainID + " may not assume the role: statement 1 (Fence) denies it: StringNotLike on " + dp1ID + ":sub wants system:serviceaccount:flyte:*, and the request has no such key",
	}, causes)
}
