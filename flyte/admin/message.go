package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// message reads a JSON object of the gateway. Fields are asked for by the
// names of the protocol (execution_cluster) and found in either spelling. A
// field that is missing or null is zero; one of another type is noted, and the
// first of these is the error of the whole answer.
type message struct {
	fields map[string]json.RawMessage
	path   string
	wrong  *error
}

// errNotAnObject says that an answer is no JSON object.
var errNotAnObject = errors.New("it is no JSON object")

// parseMessage reads an answer.
func parseMessage(data []byte) (message, error) {
	m := message{wrong: new(error)}
	if err := json.Unmarshal(data, &m.fields); err != nil || m.fields == nil {
		return message{}, errNotAnObject
	}
	return m, nil
}

// err is the first thing that was wrong in the whole answer.
func (m message) err() error { return *m.wrong }

// raw returns a field as it is, nil if it is missing or null.
func (m message) raw(name string) json.RawMessage {
	v, ok := m.fields[name]
	if !ok {
		v = m.fields[camelCase(name)]
	}
	if string(v) == "null" {
		return nil
	}
	return v
}

// has reports whether a field is there and not null.
func (m message) has(name string) bool { return m.raw(name) != nil }

// into reads a field into a value, which stays as it is if the field is missing.
func (m message) into(name string, value any) {
	raw := m.raw(name)
	if raw == nil {
		return
	}
	if err := json.Unmarshal(raw, value); err != nil && *m.wrong == nil {
		*m.wrong = fmt.Errorf("field %s is of another type than expected", m.at(name))
	}
}

// at names a field from the root of the answer.
func (m message) at(name string) string {
	if m.path == "" {
		return name
	}
	return m.path + "." + name
}

// text reads a string.
func (m message) text(name string) string {
	var s string
	m.into(name, &s)
	return s
}

// enum reads an enumeration: its name, or the number of a value that the
// server itself does not know by name.
func (m message) enum(name string) string {
	if raw := m.raw(name); raw != nil {
		if n, err := strconv.Atoi(string(raw)); err == nil {
			return strconv.Itoa(n)
		}
	}
	return m.text(name)
}

// texts reads a map of strings. Its keys are users' and not respelt.
func (m message) texts(name string) map[string]string {
	var t map[string]string
	m.into(name, &t)
	return t
}

// list reads a list of strings.
func (m message) list(name string) []string {
	var l []string
	m.into(name, &l)
	return l
}

// time reads a timestamp, zero if there is none.
func (m message) time(name string) time.Time {
	var t time.Time
	m.into(name, &t)
	return t
}

// message reads an object, an empty one if there is none.
func (m message) message(name string) message {
	inner := message{path: m.at(name), wrong: m.wrong}
	m.into(name, &inner.fields)
	return inner
}

// messages reads a list of objects.
func (m message) messages(name string) []message {
	var items []map[string]json.RawMessage
	m.into(name, &items)
	list := make([]message, len(items))
	for i, fields := range items {
		list[i] = message{fields: fields, path: fmt.Sprintf("%s[%d]", m.at(name), i), wrong: m.wrong}
	}
	return list
}

// camelCase is the name of a field as protocol buffers spell it in JSON by default.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		if words[i] != "" {
			words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
		}
	}
	return strings.Join(words, "")
}

// fail notes that an answer lacks what it must hold.
func (m message) fail(err error) {
	if *m.wrong == nil {
		*m.wrong = err
	}
}
