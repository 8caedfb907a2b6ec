//go:build unix && !linux

package kubestack

import "syscall"

// endWithParent does nothing: only Linux ties a process' life to its parent's.
func endWithParent(*syscall.SysProcAttr) {}

// awaitStopped does nothing: the process stops within moments.
func awaitStopped(int) error { return nil }
