package adminfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind is what a field holds.
type kind int

const (
	text kind = iota
	boolean
	integer // 64 bits: a string in JSON
	number  // 32 bits: a number in JSON
	enum
	object
	texts   // a map of strings
	objects // a map of objects
	instant // a timestamp
	opaque  // what does not matter here, whatever it is
)

// schema is a message of the protocol, as far as it matters here.
type schema []field

// field is one of its fields.
type field struct {
	name     string
	kind     kind
	of       schema
	values   []string // of an enumeration, by number
	repeated bool
	oneof    bool // of the message's one oneof: left out where it is not set
}

// camel is the field's name in the spelling of protocol buffers' JSON.
func (f field) camel() string {
	words := strings.Split(f.name, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// fields are the values of a message that are set, by the fields' own names.
type fields = map[string]any

// parse reads a message. Both spellings of the names are taken; names that the
// schema does not have, and values that an enumeration does not have, are
// errors, as they are for the media type application/json, or passed over.
func (s schema) parse(data []byte, strict bool) (fields, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var raw any
	if err := decoder.Decode(&raw); err != nil {
		return nil, fmt.Errorf("proto: syntax error: %w", err)
	}
	return s.read("", raw, strict)
}

func (s schema) read(path string, raw any, strict bool) (fields, error) {
	given, ok := raw.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("proto: syntax error: unexpected value for %s", path)
	}
	set, oneof := fields{}, ""
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(s, func(f field) bool { return f.name == name || f.camel() == name })
		if i < 0 {
			if strict {
				return nil, fmt.Errorf("proto: unknown field %q", path+name)
			}
			continue
		}
		f := s[i]
		if _, twice := set[f.name]; twice {
			return nil, fmt.Errorf("proto: duplicate field %q", path+name)
		}
		if given[name] == nil {
			continue
		}
		if f.oneof {
			if oneof != "" {
				return nil, fmt.Errorf("proto: error parsing %q, oneof is already set by %q", path+name, path+oneof)
			}
			oneof = name
		}
		value, err := f.read(path+name, given[name], strict)
		if err != nil {
			return nil, err
		}
		if value != nil { // or an enumeration's value that is passed over
			set[f.name] = value
		}
	}
	return set, nil
}

func (f field) read(path string, raw any, strict bool) (any, error) {
	if !f.repeated {
		return f.readOne(path, raw, strict)
	}
	items, ok := raw.([]any)
	if !ok {
		return nil, fmt.Errorf("proto: syntax error: field %q is no list", path)
	}
	list := make([]any, len(items))
	for i, item := range items {
		var err error
		if list[i], err = f.readOne(path, item, strict); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (f field) readOne(path string, raw any, strict bool) (any, error) {
	wrong := fmt.Errorf("proto: invalid value for field %q", path)
	switch f.kind {
	case text, instant:
		if s, ok := raw.(string); ok {
			return s, nil
		}
	case boolean:
		if b, ok := raw.(bool); ok {
			return b, nil
		}
	case integer:
		if n, err := strconv.ParseInt(fmt.Sprint(raw), 10, 64); err == nil {
			return strconv.FormatInt(n, 10), nil
		}
	case number:
		if n, err := strconv.ParseInt(fmt.Sprint(raw), 10, 32); err == nil {
			return json.Number(strconv.FormatInt(n, 10)), nil
		}
	case enum:
		value, ok := enumValue(f.values, fmt.Sprint(raw))
		if ok {
			return value, nil
		}
		if _, named := raw.(string); named && !strict {
			return nil, nil
		}
	case object:
		return f.of.read(path+".", raw, strict)
	case opaque:
		return raw, nil
	case texts, objects:
		entries, ok := raw.(map[string]any)
		if !ok {
			return nil, wrong
		}
		read := fields{}
		for key, entry := range entries {
			element := field{name: key, kind: text, of: f.of}
			if f.kind == objects {
				element.kind = object
			}
			value, err := element.readOne(path+"["+key+"]", entry, strict)
			if err != nil {
				return nil, err
			}
			read[key] = value
		}
		return read, nil
	}
	return nil, wrong
}

// enumValue reads the name or the number of a value.
func enumValue(values []string, given string) (string, bool) {
	if slices.Contains(values, given) {
		return given, true
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 0 || n >= len(values) {
		return "", false
	}
	return values[n], true
}

// render makes a message's JSON: zero values are written, but for a oneof.
func (s schema) render(set fields, camel bool) fields {
	out := fields{}
	for _, f := range s {
		value, ok := set[f.name]
		if !ok && f.oneof {
			continue
		}
		name := f.name
		if camel {
			name = f.camel()
		}
		out[name] = f.render(value, camel)
	}
	return out
}

func (f field) render(value any, camel bool) any {
	if f.repeated {
		items, _ := value.([]any)
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = f.renderOne(item, camel)
		}
		return list
	}
	return f.renderOne(value, camel)
}

func (f field) renderOne(value any, camel bool) any {
	switch f.kind {
	case object:
		if set, ok := value.(fields); ok {
			return f.of.render(set, camel)
		}
		return nil
	case objects:
		out := fields{}
		for key, entry := range asFields(value) {
			out[key] = f.of.render(asFields(entry), camel)
		}
		return out
	case texts:
		return asFields(value)
	default:
	}
	if value != nil {
		return value
	}
	switch f.kind {
	case text:
		return ""
	case boolean:
		return false
	case integer:
		return "0"
	case number:
		return 0
	case enum:
		return f.values[0]
	default:
		return nil
	}
}

// asFields returns an object's fields, none if there is no object.
func asFields(value any) fields {
	if set, ok := value.(fields); ok {
		return set
	}
	return fields{}
}

// asText returns a string's text, "" if there is none.
func asText(value any) string {
	s, _ := value.(string)
	return s
}
