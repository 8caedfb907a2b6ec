package kubestack

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestReservedPort(t *testing.T) {
	port, err := reservePort()
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port.number))

	_, err = net.Listen("tcp", address)
	require.ErrorIs(t, err, syscall.EADDRINUSE, "somebody else must not get the port")

	// The server that the port is for.
	sharing := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var option error
		err := c.Control(func(fd uintptr) {
			option = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return option
	}}
	listener, err := sharing.Listen(context.Background(), "tcp", address)
	require.NoError(t, err)
	defer listener.Close()
	// With two listeners on the port, some of these would go to the other one.
	for range 20 {
		client, err := net.Dial("tcp", address)
		require.NoError(t, err)
		server, err := listener.Accept()
		require.NoError(t, err)
		require.Equal(t, client.LocalAddr().String(), server.RemoteAddr().String())
		require.NoError(t, server.Close())
		require.NoError(t, client.Close())
	}
	require.NoError(t, port.release())
}

func TestReservedPortsDiffer(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		port, err := reservePort()
		require.NoError(t, err)
		defer port.release()
		require.False(t, seen[port.number], "port %d was given twice", port.number)
		seen[port.number] = true
	}
}
