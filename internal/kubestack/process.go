package kubestack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ProcessError says that a process of a stack ended, or did not do in time what
// was waited for.
type ProcessError struct {
	// Process names the program and its cluster.
	Process string
	// LogFile is where the process' output went. It is left in place when a start fails.
	LogFile string
	// Tail is the end of that output.
	Tail string
	// Err is the exit status, or what was waited for in vain.
	Err error
}

// Error names the process, the reason, the log file and the log's last lines.
func (e *ProcessError) Error() string {
	return fmt.Sprintf("%s: %v; the end of %s:\n%s", e.Process, e.Err, e.LogFile, e.Tail)
}

// Unwrap returns the reason.
func (e *ProcessError) Unwrap() error { return e.Err }

// command describes a process to start.
type command struct {
	name    string // for people
	path    string
	args    []string
	dir     string
	logFile string
}

// process is a running command.
type process struct {
	command
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// startProcess starts a command whose output goes to its log file.
func startProcess(c command) (*process, error) {
	log, err := os.Create(c.logFile)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	// The process has a copy of its own.
	defer log.Close()

	cmd := exec.Command(c.path, c.args...)
	cmd.Dir = c.dir
	// Nothing of the caller's surroundings may change what runs: a KUBECONFIG, a
	// proxy, a configuration file in the home folder.
	cmd.Env = []string{"HOME=" + c.dir, "TMPDIR=" + c.dir}
	cmd.Stdout = log
	cmd.Stderr = log
	// A group of its own keeps an interrupt from the terminal away, so that Stop
	// decides when and how the process ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	return &process{command: c, cmd: cmd, done: make(chan struct{})}, nil
}

// wait waits for the process to end and says how it did. It is called once.
func (p *process) wait() error {
	defer close(p.done)
	err := p.cmd.Wait()
	if err == nil {
		err = fmt.Errorf("ended by itself")
	}
	return p.failure(err)
}

// signal sends a signal to the process. None of the programs starts others.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// pause stops the process from running until it gets SIGCONT.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := awaitStopped(p.cmd.Process.Pid); err != nil {
		return fmt.Errorf("wait for %s to stop running: %w", p.name, err)
	}
	return nil
}

// failure returns an error with the end of the process' log.
func (p *process) failure(err error) *ProcessError {
	return &ProcessError{Process: p.name, LogFile: p.logFile, Tail: tailFile(p.logFile), Err: err}
}

// await polls until the condition holds, and blames the process if the context
// ends before. The condition returns nil when it holds, or what is missing.
func (p *process) await(ctx context.Context, condition func(context.Context) error) error {
	if err := poll(ctx, condition); err != nil {
		return p.failure(err)
	}
	return nil
}
