package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/planewright/planewright/examples/internal/program"
	"github.com/stretchr/testify/assert"
)

func TestThePlanTouchesNothingOld(t *testing.T) {
	var out, errs bytes.Buffer
	code := new(demo).example().Run(t.Context(), nil, &out, &errs)
	assert.Equal(t, program.ExitOK, code, errs.String())
	text := out.String()
	plan := text[:strings.Index(text, "== install")]
	for _, line := range []string{
		"+ dp-2          create   OIDC provider of cluster dp-2",
		"~ role          update   IAM role flyte-ml-dataplane",
		`data["clusters.yaml"].clusters.clusterConfigs[name=dp-2].enabled: + true`,
		`data["clusters.yaml"].clusters.labelClusterMap.gpu[0].id: + dp-2`,
		"plan: 5 to create, 2 to update, 1 unknown until others have run, 12 unchanged",
	} {
		assert.Contains(t, plan, line)
	}
	for line := range strings.Lines(plan) {
		if strings.HasSuffix(strings.TrimSpace(line), " dp-1") {
			assert.NotContains(t, line, "update", "%s", line)
			assert.NotContains(t, line, "create", "%s", line)
		}
	}
	assert.True(t, strings.HasSuffix(text, "second install: no changes\n"), text)
}
