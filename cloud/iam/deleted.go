package iam

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// deletedID matches what IAM puts in the place of a principal that was deleted.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
var deletedID = regexp.MustCompile(`^A(ROA|IDA)[A-Z0-9]{10,}$`)

// DeletedPrincipal is a principal of a statement that no longer exists. IAM
// shows its id instead of its name, and refuses a document that holds one.
type DeletedPrincipal struct {
	// Statement is the statement's number, from 1; Sid its name, if it has one.
	Statement int
	Sid       string
	// ID is the principal's: "AROA…" was a role, "AIDA…" a user.
	ID string
}

// DeletedPrincipals returns the principals that no longer exist. While there
// are any the document cannot be written back, and what they were for is not known here.
func (d Document) DeletedPrincipals() []DeletedPrincipal {
	var deleted []DeletedPrincipal
	for i, s := range d.statements {
		for _, principals := range []map[string][]string{s.principals, s.notPrincipals} {
			for _, v := range principals["AWS"] {
				if deletedID.MatchString(v) {
					deleted = append(deleted, DeletedPrincipal{i + 1, s.sid, v})
				}
			}
		}
	}
	return deleted
}

// DeletedPrincipalError says that a document cannot be written, since it names
// principals that no longer exist. It matches planewright.ErrInvalid.
type DeletedPrincipalError struct {
	// Principals are those that do not exist; there is at least one.
	Principals []DeletedPrincipal
}

// Error implements error: where the first one stands, and what to do.
func (e *DeletedPrincipalError) Error() string {
	first := e.Principals[0]
	more := ""
	if n := len(e.Principals); n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	return fmt.Sprintf("%s of the trust policy names %s%s, a principal that was deleted; IAM takes no document that names it. Take it out of the statement, or make its principal again",
		Decision{Statement: first.Statement, Sid: first.Sid}.name(), first.ID, more)
}

// Is matches planewright.ErrInvalid.
func (e *DeletedPrincipalError) Is(target error) bool { return target == planewright.ErrInvalid }

// DroppingDeletedPrincipals is the opt-in to take principals that no longer
// exist out of the statements of others, without which such a document cannot
// be changed at all. A statement that names nobody else goes with them; the
// rest of a statement stays byte for byte. Principals under NotPrincipal stay,
// and so does the refusal: whom a statement is about without them is another question.
func DroppingDeletedPrincipals() MergeOption {
	return func(m *merger) { m.dropDeleted = true }
}

// withoutDeleted returns the statements without the principals that no longer exist.
func withoutDeleted(statements []Statement) []Statement {
	var left []Statement
	for _, s := range statements {
		kept, ok := s.withoutDeleted()
		if ok {
			left = append(left, kept)
		}
	}
	return left
}

// withoutDeleted returns the statement without the principals that no longer
// exist, and false if it names nobody else.
func (s Statement) withoutDeleted() (Statement, bool) {
	if !slices.ContainsFunc(s.principals["AWS"], deletedID.MatchString) {
		return s, true
	}
	rest := maps.Clone(s.principals)
	rest["AWS"] = slices.DeleteFunc(slices.Clone(s.principals["AWS"]), deletedID.MatchString)
	if len(rest["AWS"]) == 0 {
		delete(rest, "AWS")
	}
	if len(rest) == 0 {
		return s, false
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(rest)) {
		parts = append(parts, quote(kind)+":"+inOrder(rest[kind]))
	}
	from, to := valueOf(s.raw, "Principal")
	kept, err := parseStatement(json.RawMessage(s.raw[:from] + "{" + strings.Join(parts, ",") + "}" + s.raw[to:]))
	if err != nil {
		return s, true // cannot be: it was parsed before; and it is refused further on
	}
	return kept, true
}

// inOrder writes values as they come, a single one without a list.
func inOrder(values []string) string {
	if len(values) == 1 {
		return quote(values[0])
	}
	return "[" + strings.Join(quoted(values), ",") + "]"
}

// valueOf finds where the value of a key stands in a JSON object that was
// checked before: the text's part from one offset to the other.
func valueOf(object, key string) (from, to int) {
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil { // the opening brace
		return 0, 0
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return 0, 0
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return 0, 0
		}
		if name == key {
			to = int(d.InputOffset())
			return to - len(value), to
		}
	}
	return 0, 0
}
