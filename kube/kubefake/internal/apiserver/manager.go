package apiserver

import (
	"strings"
	"unicode"
)

// maxManager is how long the name of a field manager may be.
const maxManager = 128

// manager is the name under which the request's fields are managed: the one
// that it gives, or the name of the client's program.
func (r *Request) manager() string {
	if m := r.query.Get("fieldManager"); m != "" {
		return m
	}
	program, _, _ := strings.Cut(r.http.UserAgent(), "/")
	program = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return -1
	}, program)
	if program == "" {
		return "unknown"
	}
	return program[:min(len(program), maxManager)]
}
