package kubestack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// killed is in the environment of the process that TestStackEndsWithItsProcess kills.
const killed = "KUBESTACK_TEST_KILLED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killed); dir != "" {
		startAndPrint(dir)
	}
	os.Exit(m.Run())
}

// TestStackEndsWithItsProcess kills a process that runs a stack: the stack's
// processes end as well, and the next start removes its folder.
func TestStackEndsWithItsProcess(t *testing.T) {
	builtBinaries(t)
	dir, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	defer os.RemoveAll(dir)

	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), killed+"="+dir)
	child.Stderr = t.Output()
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pids := strings.Fields(line)
	require.Len(t, pids, 5)

	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	for _, field := range pids {
		pid, err := strconv.Atoi(field)
		require.NoError(t, err)
		eventually(t, func(context.Context) error { return ended(pid) })
	}

	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	next, err := newFolder(dir, "")
	require.NoError(t, err)
	require.NoDirExists(t, dir+"/"+left[0].Name())
	require.NoError(t, next.remove())
}

// startAndPrint starts a stack, prints the ids of its processes and waits to be killed.
func startAndPrint(dir string) {
	stack, err := Start(context.Background(), Config{Clusters: Named("alpha"), Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, p := range stack.processes.running {
		fmt.Print(p.cmd.Process.Pid, " ")
	}
	fmt.Println()
	select {}
}

// ended returns nil if there is no such process, or only what is left of one whose
// new parent has not asked for its exit status.
func ended(pid int) error {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && strings.Contains(string(stat), ") Z ") {
		return nil
	}
	return fmt.Errorf("process %d still runs", pid)
}
