package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

func TestWhatWasInstalledByHandIsTakenOver(t *testing.T) {
	var out, errs bytes.Buffer
	code := example().Run(t.Context(), nil, &out, &errs)
	assert.Equal(t, program.ExitOK, code, errs.String())
	text := out.String()
	for _, line := range []string{
		"& release          adopt    Helm release flyte/flyte of flyte-core v1.16.8",
		"& release          adopt    Helm release flyte/flyte-core-data of flyte-core v1.16.8",
		"adopting the release itself",
		`data["db.yaml"].database.options: + sslmode=require`,
	} {
		assert.Contains(t, text, line)
	}
	assert.True(t, strings.HasSuffix(text, "second install: no changes\n"), text)
	assert.NotContains(t, text, "made-up")
}
