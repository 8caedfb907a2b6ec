package admintest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/planewright/planewright"
	"github.com/planewright/planewright/flyte/admin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ending bounds how long an execution may take to end.
const ending = 2 * time.Minute

func (s *suite) executions(t *testing.T) {
	plan := s.launchPlan
	s.test(t, "what does not exist is not found", func(s *scene) {
		s.register()
		id := admin.ExecutionID{Project: s.project, Domain: s.domain, Name: "no-such-execution"}
		_, err := s.client.Execution(s.Context(), id)
		s.fails(err, planewright.ErrNotFound, 404, admin.CodeNotFound)
		s.fails(s.client.Terminate(s.Context(), id, "test"), planewright.ErrNotFound, 404, admin.CodeNotFound)
		_, err = s.client.LaunchPlan(s.Context(), s.project, s.domain, "no.such.plan")
		require.ErrorIs(s, err, planewright.ErrNotFound)
		_, err = s.client.CreateExecution(s.Context(), admin.ExecutionRequest{
			LaunchPlan: admin.LaunchPlanID{Project: s.project, Domain: s.domain, Name: "no.such.plan", Version: "v1"},
		})
		s.fails(err, planewright.ErrNotFound, 404, admin.CodeNotFound)
		running, err := s.client.Running(s.Context(), s.project, s.domain)
		require.NoError(s, err)
		assert.Empty(s, running)
	})
	if plan == (admin.LaunchPlanID{}) {
		t.Log("no launch plan is given: executions are not created")
		return
	}
	s.test(t, "a launch plan is launched, watched and terminated", func(s *scene) { s.launching(plan) })
}

func (s *scene) launching(plan admin.LaunchPlanID) {
	latest, err := s.client.LaunchPlan(s.Context(), plan.Project, plan.Domain, plan.Name)
	require.NoError(s, err)
	assert.NotEmpty(s, latest.ID.Version)
	assert.NotEmpty(s, latest.Workflow)

	name := s.project // which is a valid name of an execution, and nobody else's
	request := admin.ExecutionRequest{LaunchPlan: plan, Name: name}
	id, err := s.client.CreateExecution(s.Context(), request)
	require.NoError(s, err)
	assert.Equal(s, admin.ExecutionID{Project: plan.Project, Domain: plan.Domain, Name: name}, id)
	_, err = s.client.CreateExecution(s.Context(), request)
	s.fails(err, planewright.ErrAlreadyExists, 409, admin.CodeAlreadyExists)
	request.Name, request.Inputs = "", map[string]admin.Literal{"no-such-input": admin.StringLiteral("x")}
	_, err = s.client.CreateExecution(s.Context(), request)
	s.fails(err, planewright.ErrInvalid, 400, admin.CodeInvalidArgument)

	running, err := s.client.Running(s.Context(), plan.Project, plan.Domain)
	require.NoError(s, err)
	assert.True(s, slices.ContainsFunc(running, func(e admin.Execution) bool { return e.ID == id }))
	require.NoError(s, s.client.Terminate(s.Context(), id, "the test is over"))

	ctx, cancel := context.WithTimeout(s.Context(), ending)
	defer cancel()
	var told []string
	ended, err := s.client.AwaitExecution(ctx, id, func(text string) { told = append(told, text) })
	require.NoError(s, err)
	assert.Equal(s, admin.PhaseAborted, ended.Phase)
	assert.Equal(s, "the test is over", ended.AbortCause)
	assert.Equal(s, plan, ended.LaunchPlan)
	assert.NotEmpty(s, told)
	err = s.client.Terminate(s.Context(), id, "again")
	s.fails(err, planewright.ErrConflict, 400, admin.CodeFailedPrecondition)
	running, err = s.client.Running(s.Context(), plan.Project, plan.Domain)
	require.NoError(s, err)
	assert.False(s, slices.ContainsFunc(running, func(e admin.Execution) bool { return e.ID == id }))
}
