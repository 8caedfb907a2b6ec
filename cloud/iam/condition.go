package iam

import (
	"fmt"
	"slices"
	"strings"
)

// operatorParts are an operator's parts: "ForAnyValue:StringLikeIfExists".
type operatorParts struct {
	base               string
	forAll, forAny     bool
	ifExists, negative bool
}

func (c condition) parts() operatorParts {
	var o operatorParts
	name := c.operator
	if rest, ok := strings.CutPrefix(name, "ForAllValues:"); ok {
		o.forAll, name = true, rest
	} else if rest, ok := strings.CutPrefix(name, "ForAnyValue:"); ok {
		o.forAny, name = true, rest
	}
	if rest, ok := strings.CutSuffix(name, "IfExists"); ok && rest != "" {
		o.ifExists, name = true, rest
	}
	o.base = strings.Replace(name, "Not", "", 1)
	o.negative = o.base != name
	return o
}

// same returns how a value of a request is compared with one of a policy, nil
// if the operator is not known.
func (o operatorParts) same() func(policy, request string) bool {
	switch o.base {
	case "StringEquals":
		return func(policy, request string) bool { return policy == request }
	case "StringEqualsIgnoreCase":
		return strings.EqualFold
	case "StringLike":
		return matches
	case "ArnEquals", "ArnLike":
		return arnMatches
	case "Bool":
		if o.negative {
			return nil
		}
		return strings.EqualFold
	case "Null":
		if o.negative || o.forAll || o.forAny || o.ifExists {
			return nil
		}
		return strings.EqualFold
	}
	return nil
}

// unknown reports whether the condition cannot be evaluated here.
func (c condition) unknown() bool { return c.parts().same() == nil }

// holds reports whether the condition holds in a request, and says why or why not.
func (c condition) holds(context map[string][]string) (met bool, because string) {
	o := c.parts()
	same := o.same()
	if same == nil {
		return false, fmt.Sprintf("the operator %s on %s cannot be evaluated here", c.operator, c.key)
	}
	values, there := context[strings.ToLower(c.key)]
	wants := fmt.Sprintf("%s on %s wants %s", c.operator, c.key, strings.Join(c.values, " or "))
	if o.base == "Null" {
		met = slices.ContainsFunc(c.values, func(v string) bool { return strings.EqualFold(v, "true") != there })
		return met, wants
	}
	if !there {
		// A key that is not there equals nothing, and differs from everything.
		return o.ifExists || o.forAll || o.negative && !o.forAny, wants + ", and the request has no such key"
	}
	found := fmt.Sprintf("%s, and it is %s", wants, strings.Join(values, ", "))
	one := func(request string) bool {
		hit := slices.ContainsFunc(c.values, func(policy string) bool { return same(policy, request) })
		return hit != o.negative
	}
	if o.forAny {
		return slices.ContainsFunc(values, one), found
	}
	return !slices.ContainsFunc(values, func(v string) bool { return !one(v) }), found
}

// arnMatches compares ARNs part by part: a star does not reach over a colon,
// but in the last part.
func arnMatches(policy, request string) bool {
	p, r := strings.SplitN(policy, ":", 6), strings.SplitN(request, ":", 6)
	if len(p) != 6 || len(r) != 6 {
		return false
	}
	for i := range p {
		if !matches(p[i], r[i]) {
			return false
		}
	}
	return true
}
