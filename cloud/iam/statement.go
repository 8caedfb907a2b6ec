package iam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Statement is one statement of a document.
type Statement struct {
	// raw is the statement as it was read, or as it was made here.
	raw string

	sid, effect string
	// principals and notPrincipals hold values by type: "AWS", "Federated", "Service". Any
	// principal ("*") is the type "*" with the value "*".
	principals, notPrincipals map[string][]string
	actions, notActions       []string
	resources, notResources   []string
	conditions                []condition
	// elements are the names that the statement has; unknown those that no statement has.
	elements, unknown []string
	// bound is what the statement binds, nil if it is of another shape.
	bound *binding
}

// condition is one key of a statement's conditions. All must hold; of one
// key's values one is enough.
type condition struct {
	operator, key string
	values        []string
}

// Sid is the statement's name, empty if it has none.
func (s Statement) Sid() string { return s.sid }

// String is the statement as it was read.
func (s Statement) String() string { return s.raw }

func parseStatement(raw json.RawMessage) (Statement, error) {
	s := Statement{raw: string(bytes.TrimSpace(raw))}
	var elements map[string]json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil || elements == nil {
		return s, errors.New("it is no JSON object")
	}
	for name, value := range elements {
		var err error
		s.elements = append(s.elements, name)
		switch name {
		case "Sid":
			err = json.Unmarshal(value, &s.sid)
		case "Effect":
			err = json.Unmarshal(value, &s.effect)
		case "Principal":
			s.principals, err = parsePrincipals(value)
		case "NotPrincipal":
			s.notPrincipals, err = parsePrincipals(value)
		case "Action":
			s.actions, err = parseStrings(value)
		case "NotAction":
			s.notActions, err = parseStrings(value)
		case "Resource":
			s.resources, err = parseStrings(value)
		case "NotResource":
			s.notResources, err = parseStrings(value)
		case "Condition":
			s.conditions, err = parseConditions(value)
		default:
			s.unknown = append(s.unknown, name)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
	}
	slices.Sort(s.elements)
	slices.Sort(s.unknown)
	if s.effect != "Allow" && s.effect != "Deny" {
		return s, fmt.Errorf("Effect is %q; it is Allow or Deny", s.effect) //nolint:staticcheck // the element's name
	}
	if b, ok := s.findBinding(); ok {
		s.bound = &b
	}
	return s, nil
}

// parseStrings reads a string or a list of strings. Numbers and booleans,
// which conditions may hold, are read as their text.
func parseStrings(raw json.RawMessage) ([]string, error) {
	list := []json.RawMessage{raw}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
	}
	values := make([]string, len(list))
	for i, one := range list {
		switch text := string(bytes.TrimSpace(one)); {
		case strings.HasPrefix(text, `"`):
			if err := json.Unmarshal(one, &values[i]); err != nil {
				return nil, err
			}
		case text == "null" || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
			return nil, fmt.Errorf("%s is no value", text)
		default:
			values[i] = text
		}
	}
	return values, nil
}

func parsePrincipals(raw json.RawMessage) (map[string][]string, error) {
	text := string(bytes.TrimSpace(raw))
	if text == `"*"` {
		return map[string][]string{"*": {"*"}}, nil
	}
	if !strings.HasPrefix(text, "{") {
		return nil, fmt.Errorf(`%s is neither "*" nor an object`, text)
	}
	return parseStringLists(raw)
}

// parseStringLists reads an object whose values are strings or lists.
func parseStringLists(raw json.RawMessage) (map[string][]string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	lists := make(map[string][]string, len(object))
	for key, value := range object {
		values, err := parseStrings(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		lists[key] = values
	}
	return lists, nil
}

func parseConditions(raw json.RawMessage) ([]condition, error) {
	var operators map[string]json.RawMessage
	if err := json.Unmarshal(raw, &operators); err != nil {
		return nil, err
	}
	var conditions []condition
	for operator, keys := range operators {
		lists, err := parseStringLists(keys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", operator, err)
		}
		for key, values := range lists {
			conditions = append(conditions, condition{operator, key, values})
		}
	}
	slices.SortFunc(conditions, func(a, b condition) int {
		return strings.Compare(a.operator+"\x00"+a.key, b.operator+"\x00"+b.key)
	})
	return conditions, nil
}
