package flyte

import (
	"strconv"
	"strings"
)

// joinAnd joins words as in a sentence: "a, b and c".
func joinAnd(words []string) string { return join(words, " and ") }

// joinOr joins words as in a sentence: "a, b or c".
func joinOr(words []string) string { return join(words, " or ") }

func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + last + words[len(words)-1]
}

// counted is a number of things: "1 project", "2 projects".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
