package admin_test

import (
	"net/http"
	"testing"

	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/assert"
)

// Whatever answers, a call ends with a value or with an *Error that can be printed.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `null`, `{"id":{"name":1}}`, `{"code":5,"message":"x"}`, `<html>`, "\xff", `{"projects":[null,{"id":"a"}],"token":7}`,
		`{"id":"team1","labels":{"values":{"a":null}},"state":1}`, `{"attributes":{"matching_attributes":{"plugin_overrides":{"overrides":[{}]}}}}`,
		`{"configurations":[{"attributes":{"executionClusterLabel":{"value":"x"}},"project":"p"}]}`, `{"executions":[{"id":{"name":"x"},"closure":{"createdAt":"yesterday"}}]}`,
		`{"launch_plans":[{"id":{"version":"v"},"closure":{"state":"ACTIVE","created_at":"2026-12-01T10:00:00Z"}}]}`, `{"control_plane_version":{"Version":"v1"}}`,
	} {
		f.Add(http.StatusOK, seed)
		f.Add(http.StatusBadRequest, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		client := answering(t, status, body)
		id := admin.ExecutionID{Project: "p", Domain: "d", Name: "n"}
		plan := admin.LaunchPlanID{Project: "p", Domain: "d", Name: "n", Version: "v"}
		for _, call := range []func() error{
			func() error { _, err := client.Version(t.Context()); return err },
			func() error { _, err := client.Domains(t.Context()); return err },
			func() error { _, err := client.Project(t.Context(), "p"); return err },
			func() error { _, err := client.Projects(t.Context()); return err },
			func() error { _, err := client.Execution(t.Context(), id); return err },
			func() error { _, err := client.Running(t.Context(), "p", "d"); return err },
			func() error { _, err := client.LaunchPlan(t.Context(), "p", "d", "n"); return err },
			func() error {
				_, err := client.CreateExecution(t.Context(), admin.ExecutionRequest{LaunchPlan: plan})
				return err
			},
			func() error { _, err := client.Attributes(t.Context(), admin.KindPluginOverride); return err },
			func() error {
				_, err := client.GetAttributes(t.Context(), admin.ProjectScope("p"), admin.KindTaskResource)
				return err
			},
			func() error {
				return client.PutAttributes(t.Context(), admin.ProjectScope("p"), admin.ExecutionClusterLabel("x"))
			},
		} {
			err := call()
			if err == nil {
				continue
			}
			var failure *admin.Error
			if assert.ErrorAs(t, err, &failure) {
				assert.LessOrEqual(t, len(failure.Message), admin.MaxMessage)
				assert.NotContains(t, failure.Message, "\n")
			}
		}
	})
}
