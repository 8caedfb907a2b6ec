package iam_test

import (
	"testing"

	"github.com/planewright/planewright/cloud/iam"
	"github.com/stretchr/testify/assert"
)

func TestWhoMayAssumeARole(t *testing.T) {
	d := merge(t, iam.Document{}, controlPlane().Merge(dataPlane(dp1ID)).WithPodIdentity(iam.PodIdentity{Namespaces: []string{"flyte"}})).Document
	dp1 := provider(dp1ID)
	for name, c := range map[string]struct {
		request iam.Request
		want    iam.Decision
	}{
		"flyteadmin": {iam.WebIdentityRequest(provider(mainID), iam.ServiceAccount("flyte", "flyteadmin")), iam.Decision{Allowed: true, Statement: 3,
			Condition: "StringEquals " + mainID + ":sub",
			Reason:    "statement 3 allows it: StringEquals on " + mainID + ":sub wants system:serviceaccount:flyte:datacatalog or system:serviceaccount:flyte:flyteadmin, and it is system:serviceaccount:flyte:flyteadmin"}},
		"user code of a data plane": {iam.WebIdentityRequest(dp1, iam.ServiceAccount("team1-production", "default")), iam.Decision{Allowed: true, Statement: 2,
			Condition: "StringLike " + dp1ID + ":sub",
			Reason:    "statement 2 allows it: StringLike on " + dp1ID + ":sub wants system:serviceaccount:*:default or system:serviceaccount:flyte:flytepropeller, and it is system:serviceaccount:team1-production:default"}},
		"another ServiceAccount": {iam.WebIdentityRequest(provider(mainID), iam.ServiceAccount("flyte", "flytepropeller")), iam.Decision{Statement: 3,
			Condition: "StringEquals " + mainID + ":sub",
			Reason:    "statement 3 does not: StringEquals on " + mainID + ":sub wants system:serviceaccount:flyte:datacatalog or system:serviceaccount:flyte:flyteadmin, and it is system:serviceaccount:flyte:flytepropeller"}},
		"another cluster": {iam.WebIdentityRequest(provider(dp2ID), iam.ServiceAccount("flyte", "flyteadmin")),
			iam.Decision{Reason: "no statement trusts arn:aws:iam::123456789012:oidc-provider/" + dp2ID}},
		"Pod Identity": {iam.PodIdentityRequest("arn:aws:eks:us-east-1:123456789012:cluster/dp-1", iam.ServiceAccount("flyte", "flyteadmin")), iam.Decision{Allowed: true, Statement: 1,
			Condition: "StringEquals aws:RequestTag/kubernetes-namespace",
			Reason:    "statement 1 allows it: StringEquals on aws:RequestTag/kubernetes-namespace wants flyte, and it is flyte"}},
		"Pod Identity of another namespace": {iam.PodIdentityRequest("arn:aws:eks:us-east-1:123456789012:cluster/dp-1", iam.ServiceAccount("other", "flyteadmin")), iam.Decision{Statement: 1,
			Condition: "StringEquals aws:RequestTag/kubernetes-namespace",
			Reason:    "statement 1 does not: StringEquals on aws:RequestTag/kubernetes-namespace wants flyte, and it is other"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, iam.Evaluate(d, c.request))
		})
	}
}

func TestOperators(t *testing.T) {
	for condition, want := range map[string]bool{
		`"StringEquals":{"k":"v"}`:                                    true,
		`"StringEquals":{"K":["x","v"]}`:                              true,
		`"StringEquals":{"k":"V"}`:                                    false,
		`"StringEquals":{"k":"*"}`:                                    false,
		`"StringEqualsIgnoreCase":{"k":"V"}`:                          true,
		`"StringNotEquals":{"k":"v"}`:                                 false,
		`"StringNotEquals":{"k":["x","v"]}`:                           false,
		`"StringNotEquals":{"gone":"v"}`:                              true,
		`"StringLike":{"k":"?"}`:                                      true,
		`"StringLike":{"k":"??"}`:                                     false,
		`"StringLike":{"k":"*v*"}`:                                    true,
		`"StringNotLike":{"k":"v*"}`:                                  false,
		`"StringEquals":{"gone":"v"}`:                                 false,
		`"StringEqualsIfExists":{"gone":"v"}`:                         true,
		`"StringEqualsIfExists":{"k":"x"}`:                            false,
		`"ForAllValues:StringEquals":{"gone":"v"}`:                    true,
		`"ForAnyValue:StringEquals":{"gone":"v"}`:                     false,
		`"ForAllValues:StringEquals":{"list":["a","b"]}`:              true,
		`"ForAllValues:StringEquals":{"list":["a"]}`:                  false,
		`"ForAnyValue:StringLike":{"list":["b*"]}`:                    true,
		`"Null":{"gone":"true"}`:                                      true,
		`"Null":{"k":true}`:                                           false,
		`"Null":{"k":"false"}`:                                        true,
		`"Bool":{"yes":"True"}`:                                       true,
		`"ArnLike":{"arn":"arn:aws:eks:*:123456789012:cluster/*"}`:    true,
		`"ArnEquals":{"arn":"arn:aws:eks:*:cluster/*"}`:               false,
		`"ArnNotLike":{"arn":"arn:aws:eks:*:123456789012:cluster/*"}`: false,
		`"DateGreaterThan":{"k":"2020-01-01"}`:                        false,
		`"StringEquals":{"k":"v"},"StringLike":{"k":"x"}`:             false,
	} {
		d := parse(t, `{"Statement":{"Effect":"Allow","Principal":"*","Action":"sts:Assume*","Condition":{`+condition+`}}}`)
		r := iam.Request{Action: "sts:AssumeRole", PrincipalType: "AWS", Principal: "arn:aws:iam::123456789012:role/x", Context: map[string][]string{
			"k": {"v"}, "list": {"a", "b"}, "yes": {"true"}, "arn": {"arn:aws:eks:us-east-1:123456789012:cluster/main"}}}
		assert.Equal(t, want, iam.Evaluate(d, r).Allowed, condition)
	}
}

func TestPrincipalsAndDenials(t *testing.T) {
	request := iam.Request{Action: "sts:AssumeRole", PrincipalType: "AWS", Principal: "arn:aws:iam::123456789012:role/x"}
	for statements, want := range map[string]bool{
		`{"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}`:                                                                                  true,
		`{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:*"}`:                                                                         true,
		`{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/x"},"Action":"STS:assumerole"}`:                                                              true,
		`{"Effect":"Allow","Principal":{"AWS":"999999999999"},"Action":"sts:AssumeRole"}`:                                                                                  false,
		`{"Effect":"Allow","Principal":{"Service":"*"},"Action":"sts:AssumeRole"}`:                                                                                         false,
		`{"Effect":"Allow","NotPrincipal":{"AWS":"999999999999"},"Action":"sts:AssumeRole"}`:                                                                               false,
		`{"Effect":"Allow","Principal":"*","NotAction":"sts:TagSession"}`:                                                                                                  true,
		`{"Effect":"Allow","Principal":"*","NotAction":"sts:*"}`:                                                                                                           false,
		`{"Effect":"Allow","Principal":"*","Action":"sts:*","Future":1}`:                                                                                                   false,
		`{"Effect":"Allow","Principal":"*","Action":"sts:*"},{"Effect":"Deny","Principal":"*","Action":"sts:AssumeRole"}`:                                                  false,
		`{"Effect":"Allow","Principal":"*","Action":"sts:*"},{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"2020-01-01"}}}`: false,
		`{"Effect":"Allow","Principal":"*","Action":"sts:*"},{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"Bool":{"aws:x":"true"}}}`:                         true,
		`{"Effect":"Allow","Principal":"*","Action":"sts:*"},{"Effect":"Deny","NotPrincipal":{"AWS":"arn:aws:iam::123456789012:role/x"},"Action":"*"}`:                     true,
	} {
		assert.Equal(t, want, iam.Evaluate(parse(t, `{"Statement":[`+statements+`]}`), request).Allowed, statements)
	}
}
