package iam

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/planewright/planewright"
)

// Document is a policy document: a trust policy, or what a managed policy
// allows. It keeps the statements that it was parsed from byte for byte. The
// zero value is a document without statements, which IAM does not take.
type Document struct {
	// version is empty if the document has none, which IAM reads as 2008-10-17.
	version    string
	id         string
	statements []Statement
}

// currentVersion is the policy language in which variables mean something.
// Documents made here are always in it; others stay in theirs, because it
// changes what their statements mean.
const currentVersion = "2012-10-17"

// ParseDocument reads a document as IAM returns it: percent-encoded or plain,
// its statements a list or a single one, single values or lists. What follows
// the document, keys that occur twice (of which other parsers keep the last one
// silently) and elements that no document has are errors that match
// planewright.ErrInvalid.
func ParseDocument(text string) (Document, error) {
	fail := func(err error) (Document, error) {
		return Document{}, fmt.Errorf("policy document: %w: %w", planewright.ErrInvalid, err)
	}
	plain := strings.TrimSpace(text)
	if !strings.HasPrefix(plain, "{") {
		// PathUnescape, since '+' stands for itself in what IAM returns.
		decoded, err := url.PathUnescape(plain)
		if err != nil {
			return fail(err)
		}
		plain = strings.TrimSpace(decoded)
	}
	if !strings.HasPrefix(plain, "{") {
		return fail(fmt.Errorf("it is no JSON object"))
	}
	if err := checkJSON([]byte(plain)); err != nil {
		return fail(err)
	}
	var elements map[string]json.RawMessage
	if err := json.Unmarshal([]byte(plain), &elements); err != nil {
		return fail(err)
	}
	var d Document
	for name, raw := range elements {
		var err error
		switch name {
		case "Version":
			err = json.Unmarshal(raw, &d.version)
		case "Id":
			err = json.Unmarshal(raw, &d.id)
		case "Statement":
			d.statements, err = parseStatements(raw)
		default:
			err = fmt.Errorf("a document has no element %q", name)
		}
		if err != nil {
			return fail(err)
		}
	}
	return d, nil
}

func parseStatements(raw json.RawMessage) ([]Statement, error) {
	list := []json.RawMessage{raw}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
	}
	statements := make([]Statement, len(list))
	for i, one := range list {
		s, err := parseStatement(one)
		if err != nil {
			return nil, fmt.Errorf("statement %d: %w", i+1, err)
		}
		statements[i] = s
	}
	return statements, nil
}

// newDocument is a document of our own statements.
func newDocument(statements ...Statement) Document {
	return Document{version: currentVersion, statements: statements}
}

// Statements returns the statements.
func (d Document) Statements() []Statement { return slices.Clone(d.statements) }

// IsEmpty reports whether the document has no statements; IAM takes none such.
func (d Document) IsEmpty() bool { return len(d.statements) == 0 }

// String is the document in its shortest form, in the order Version, Id,
// Statement, and with the statements of others as they were.
func (d Document) String() string {
	var b strings.Builder
	b.WriteByte('{')
	if d.version != "" {
		b.WriteString(`"Version":` + quote(d.version) + ",")
	}
	if d.id != "" {
		b.WriteString(`"Id":` + quote(d.id) + ",")
	}
	b.WriteString(`"Statement":[`)
	for i, s := range d.statements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.raw)
	}
	b.WriteString("]}")
	return b.String()
}

// Indented is the document for people.
func (d Document) Indented() string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(d.String()), "", "  "); err != nil {
		return d.String()
	}
	return b.String()
}

// Size is how many characters of the document IAM counts against its quotas:
// all but white space. White space inside of strings is counted here, to be
// on the safe side.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
func (d Document) Size() int {
	size, inString, escaped := 0, false, false
	for _, r := range d.String() {
		switch {
		case !inString && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			continue
		case escaped:
			escaped = false
		case inString && r == '\\':
			escaped = true
		case r == '"':
			inString = !inString
		}
		size++
	}
	return size
}

// Hash stands for the document as it is written, for seeing whether somebody
// else has written in between.
func (d Document) Hash() string {
	sum := sha256.Sum256([]byte(d.String()))
	return hex.EncodeToString(sum[:8])
}

// quote writes a string as JSON without escaping <, > and &, which would cost
// six characters each.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
