package flyte

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTemplateUses(t *testing.T) {
	for text, want := range map[string][]templateUse{
		"":                             nil,
		"nothing":                      nil,
		"a {{ b }} c":                  {{"b", "{{ b }}"}},
		"{{ a }}{{ b-1.c }}":           {{"a", "{{ a }}"}, {"b-1.c", "{{ b-1.c }}"}},
		"{{a}}":                        {{"", "{{a}}"}},
		"{{  a }}":                     {{"", "{{  a }}"}},
		"{{ a  }}":                     {{"", "{{ a  }}"}},
		"{{ a b }}":                    {{"", "{{ a b }}"}},
		"{{ 1a }}":                     {{"", "{{ 1a }}"}},
		"{{ }}":                        {{"", "{{ }}"}},
		"{{}}":                         {{"", "{{}}"}},
		"{{ a":                         {{"", "{{ a"}},
		"{{ a\nb":                      {{"", "{{ a"}},
		"}} {{ a }}":                   {{"a", "{{ a }}"}},
		"{{ {{ a }}":                   {{"", "{{"}, {"a", "{{ a }}"}},
		"{{{ a }}}":                    {{"", "{"}, {"a", "{{ a }}"}},
		"{{ .Values.x }}":              {{"", "{{ .Values.x }}"}},
		"'{{ namespace }}': {{ a }} #": {{"namespace", "{{ namespace }}"}, {"a", "{{ a }}"}},
	} {
		assert.Equal(t, want, templateUses(text), "%q", text)
	}
}

// FuzzTemplateUses holds the parser to what flyteadmin does, which is to
// replace texts: a variable is found exactly if replacing its text changes something.
func FuzzTemplateUses(f *testing.F) {
	for _, text := range []string{"{{ a }}", "{{{ a }}}", "{{ {{ a }} }}", "{{a}}", "{{ a }", "}}{{", "{{ a\n}}", "{{ ab }}{{ a }}", "{{ é }}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		uses := templateUses(text)
		found := map[string]bool{}
		for _, use := range uses {
			assert.NotEmpty(t, use.text)
			if use.name != "" {
				found[use.name] = true
				assert.Equal(t, "{{ "+use.name+" }}", use.text)
				assert.Contains(t, text, use.text)
			}
		}
		for _, name := range []string{"a", "ab", "namespace"} {
			assert.Equal(t, strings.Contains(text, "{{ "+name+" }}"), found[name], "%q in %q", name, text)
		}
		if len(uses) == 0 {
			assert.NotContains(t, text, "{{")
		}
	})
}

func TestAVariableIsCheckedInEveryDomain(t *testing.T) {
	d := minimal().
		WithDomains("development", "staging", "production").
		WithResourceTemplate("010_quota.yaml", quotaTemplate).
		WithTemplateVariable("quotaCPU", "32", "production")
	err := d.Validate()
	require.ErrorContains(t, err, `templates[0].text "{{ quotaCPU }}": the variable has no value in development and staging`)
	assert.NoError(t, d.WithTemplateVariable("quotaCPU", "4", "development", "staging").Validate())
	assert.NoError(t, d.WithTemplateVariable("quotaCPU", "4").Validate(), "for all domains")
}

func TestCustomDataIsListsInTheOrderOfTheDomains(t *testing.T) {
	d := minimal().
		WithDomains("production", "development").
		WithTemplateVariable("quotaCPU", "4").
		WithTemplateVariable("quotaCPU", "64", "production").
		WithTemplateVariable("aQuota", "1", "production").
		WithUserIdentity(AWSRole("arn:aws:iam::123456789012:role/flyte-user")).
		WithDomainIdentity("production", AWSRole("arn:aws:iam::123456789012:role/flyte-prod"))
	require.NoError(t, d.Validate())
	value := func(name, value string) any { return map[string]any{name: map[string]any{"value": value}} }
	assert.Equal(t, []any{
		map[string]any{"production": []any{value("aQuota", "1"), value("defaultIamRole", "arn:aws:iam::123456789012:role/flyte-prod"), value("quotaCPU", "64")}},
		map[string]any{"development": []any{value("defaultIamRole", "arn:aws:iam::123456789012:role/flyte-user"), value("quotaCPU", "4")}},
	}, d.customData())
}

func TestAnIdentityOfMoreAnnotations(t *testing.T) {
	identity := Annotations(map[string]string{
		"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/flyte-user",
		"eks.amazonaws.com/audience": "sts.amazonaws.com",
	})
	d := minimal().WithDomains("development").WithUserIdentity(identity)
	require.NoError(t, d.Validate())
	assert.Equal(t, `apiVersion: v1
kind: ServiceAccount
metadata:
  name: default
  namespace: '{{ namespace }}'
  annotations:
    eks.amazonaws.com/audience: '{{ userIdentity0 }}'
    eks.amazonaws.com/role-arn: '{{ defaultIamRole }}'
`, d.accountTemplateText())
	assert.Empty(t, checkTemplate(d.accountTemplateText(), d.Domains(), d.variablesByDomain()))
}

func TestTheRulesThatTemplatesNeed(t *testing.T) {
	limits := "apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: limits\n"
	policy := "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: deny\n"
	own := "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata:\n  name: keys\n"
	assert.Empty(t, minimal().WithResourceTemplate("010.yaml", quotaTemplate).allRules(), "the chart's own role allows quotas")

	d := minimal().WithResourceTemplate("010.yaml", limits).WithResourceTemplate("011.yaml", policy)
	require.NoError(t, d.Validate())
	assert.Equal(t, []Rule{
		{[]string{""}, []string{"limitranges"}, []string{"create", "get", "patch"}},
		{[]string{"networking.k8s.io"}, []string{"networkpolicies"}, []string{"create", "get", "patch"}},
	}, d.allRules())

	d = minimal().WithResourceTemplate("010.yaml", own)
	require.ErrorContains(t, d.Validate(), "the chart does not let Flyte make objects of kind ExternalSecret")
	rule := Rule{APIGroups: []string{"external-secrets.io"}, Resources: []string{"externalsecrets"}, Verbs: []string{"create", "get", "patch"}}
	require.NoError(t, d.WithRules(rule).Validate())
	rule.Verbs = []string{"get"}
	require.Error(t, d.WithRules(rule).Validate(), "a rule that does not allow to create")
	assert.NoError(t, d.WithRules(Rule{[]string{"*"}, []string{"*"}, []string{"*"}}).Validate())
}
