package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	_, inUse := net.Listen("tcp", taken.Addr().String())
	_, foreign := net.Listen("tcp", "192.0.2.1:0")
	denied := &net.OpError{Op: "listen", Addr: &net.TCPAddr{IP: net.IPv4zero, Port: 80}, Err: os.NewSyscallError("bind", syscall.EACCES)}

	for _, tc := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("node a: %w", inUse), "cannot listen on " + taken.Addr().String() + ": it is in use, maybe by another quoll or a redis-server; stop that one or choose another address"},
		{syscall.EADDRINUSE, "cannot listen on the address: it is in use, maybe by another quoll or a redis-server; stop that one or choose another address"},
		{foreign, "cannot listen on 192.0.2.1:0: it is not an address of this machine"},
		{denied, "cannot listen on 0.0.0.0:80: not permitted; choose a port above 1023 or allow this one"},
		{fmt.Errorf("accept: %w", syscall.EMFILE), "too many open files: raise the limit (ulimit -n, or LimitNOFILE= in systemd): accept: too many open files"},
		{fmt.Errorf("write: %w", syscall.ENOSPC), "the disk is full: free some space and start again: write: no space left on device"},
		{errors.New("anything else"), "anything else"},
	} {
		require.Equal(t, tc.want, explain(tc.err))
	}
}
