package kubestack

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shell returns a command that runs a script.
func shell(t *testing.T, script string) command {
	t.Helper()
	dir := t.TempDir()
	return command{name: "script", path: "/bin/sh", args: []string{"-c", script}, dir: dir, logFile: filepath.Join(dir, "log")}
}

func TestProcessThatEndsIsReported(t *testing.T) {
	failures := make(chan error, 1)
	ps := newProcesses(func(err error) { failures <- err })
	c := shell(t, "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo line $i; done; exit 3")
	_, err := ps.start(c)
	require.NoError(t, err)

	err = <-failures
	var failure *ProcessError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "script", failure.Process)
	require.Equal(t, c.logFile, failure.LogFile)
	require.ErrorContains(t, err, "exit status 3")
	require.True(t, strings.HasPrefix(failure.Tail, "line 2\n"), failure.Tail)
	require.True(t, strings.HasSuffix(failure.Tail, "\nline 16"), failure.Tail)
	require.NoError(t, ps.killAll())
}

func TestKillAll(t *testing.T) {
	ps := newProcesses(func(err error) { t.Errorf("a process that is killed has not failed: %v", err) })
	running, err := ps.start(shell(t, "exec /bin/sleep 600"))
	require.NoError(t, err)
	paused, err := ps.start(shell(t, "exec /bin/sleep 600"))
	require.NoError(t, err)
	require.NoError(t, paused.pause())

	require.NoError(t, ps.killAll())
	for _, p := range []*process{running, paused} {
		select {
		case <-p.done:
		default:
			t.Errorf("process %d still runs", p.cmd.Process.Pid)
		}
	}
	_, err = ps.start(shell(t, "exit"))
	require.ErrorIs(t, err, errStopped)
	require.NoError(t, ps.killAll(), "killing twice is fine")
}

func TestAwaitSaysWhatIsMissing(t *testing.T) {
	ps := newProcesses(func(error) {})
	p, err := ps.start(shell(t, "echo starting; exec /bin/sleep 600"))
	require.NoError(t, err)
	defer ps.killAll()
	missing := errors.New("no such table")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()

	err = p.await(ctx, func(ctx context.Context) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return missing
	})
	require.ErrorIs(t, err, missing)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "script")
}
