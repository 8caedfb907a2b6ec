package kubestack

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent makes the kernel kill the process when the thread that starts it
// ends: nothing outlives a test that is killed or panics.
func endWithParent(attributes *syscall.SysProcAttr) {
	attributes.Pdeathsig = syscall.SIGKILL
}

// awaitStopped waits until every thread of a child that got SIGSTOP has stopped. The
// signal only asks for it: without the wait a request could still be answered.
func awaitStopped(pid int) error {
	for {
		// WNOWAIT leaves the child's state to be read by others.
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
