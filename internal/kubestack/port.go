package kubestack

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reservedPort is a TCP port of 127.0.0.1 that nobody else is given while it is held.
//
// Asking for a free port, closing it and handing its number to a server leaves
// a gap in which another process can get the same number. Here the socket stays
// bound; it never listens, so it takes no connection away, and the server binds the
// same port next to it with SO_REUSEPORT.
type reservedPort struct {
	number int
	socket *os.File
}

// reservePort reserves a free port.
func reservePort() (*reservedPort, error) {
	// A process that is started between the two calls would inherit the socket.
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", os.NewSyscallError("socket", err))
	}
	socket := os.NewFile(uintptr(fd), "reserved port")
	number, err := bindLoopback(fd)
	if err != nil {
		_ = socket.Close() // the first error says more
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	return &reservedPort{number: number, socket: socket}, nil
}

// bindLoopback binds a socket to a free port of 127.0.0.1 that others who ask for
// it by number may share.
func bindLoopback(fd int) (int, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	inet, ok := address.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("the socket is bound to %T", address)
	}
	return inet.Port, nil
}

// release gives the port back.
func (p *reservedPort) release() error { return p.socket.Close() }
