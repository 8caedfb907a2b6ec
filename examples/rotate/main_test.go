package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

func TestTheOldTokenEndsLast(t *testing.T) {
	var out, errs bytes.Buffer
	code := new(demo).example().Run(t.Context(), nil, &out, &errs)
	assert.Equal(t, program.ExitOK, code, errs.String())
	text := out.String()
	order := []string{
		"create   flyte/ml/dataplanes/dp-1/access",
		"update   flyte/ml/controlplane/credentials",
		"update   flyte/ml/controlplane/release",
		"delete   flyte/ml/dataplanes/dp-1/access/pruned",
		"second install: no changes",
	}
	at := 0
	for _, line := range order {
		i := strings.Index(text[at:], line)
		if assert.GreaterOrEqual(t, i, 0, "%s, after\n%s\nin\n%s", line, text[:at], text) {
			at += i
		}
	}
	assert.NotContains(t, text, "flyte/ml/dataplanes/dp-2/access\n", "the other data plane keeps its token")
}
