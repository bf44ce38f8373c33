package rawio_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/rawio"
)

// pair returns both ends of a connection, the first of them made by Conn.
func pair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	theirs, err = net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	ours = rawio.Conn(accepted)
	require.NotSame(t, accepted, ours)
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// What is written arrives, however much it is and however slowly it is taken.
func TestBytesArrive(t *testing.T) {
	for _, size := range []int{1, rawio.Most, rawio.Most + 1, 32 << 20} {
		ours, theirs := pair(t)
		sent := bytes.Repeat([]byte("quoll. "), size/7+1)[:size]
		var echo sync.WaitGroup
		echo.Go(func() {
			_, err := io.CopyN(theirs, io.LimitReader(theirs, int64(size)), int64(size))
			require.NoError(t, err)
		})
		var write sync.WaitGroup
		write.Go(func() {
			n, err := ours.Write(sent)
			require.NoError(t, err)
			require.Equal(t, size, n)
		})
		got := make([]byte, size)
		_, err := io.ReadFull(ours, got)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sent, got), "%d bytes", size)
		echo.Wait()
		write.Wait()
	}
}

func TestReadOfNothing(t *testing.T) {
	ours, theirs := pair(t)
	n, err := ours.Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)

	require.NoError(t, theirs.Close())
	_, err = ours.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
}

func TestDeadline(t *testing.T) {
	ours, theirs := pair(t)
	require.NoError(t, ours.SetReadDeadline(time.Now().Add(time.Millisecond)))
	_, err := ours.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	const size = 64 << 20 // more than there is room for
	var write sync.WaitGroup
	write.Go(func() {
		n, err := ours.Write(make([]byte, size))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NotZero(t, n, "what was written is said")
		require.Less(t, n, size)
	})
	_, err = io.ReadFull(theirs, make([]byte, 1)) // so something was written, and nobody reads the rest
	require.NoError(t, err)
	require.NoError(t, ours.SetWriteDeadline(time.Now()))
	write.Wait()
}

// Closing ends whoever waits.
func TestClose(t *testing.T) {
	ours, _ := pair(t)
	var read sync.WaitGroup
	read.Go(func() {
		_, err := ours.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)
	})
	require.NoError(t, ours.Close())
	read.Wait()
	_, err := ours.Write([]byte("x"))
	require.ErrorIs(t, err, net.ErrClosed)
}

// The errors are those of package net, so that whoever looks into them finds what it expects.
func TestErrors(t *testing.T) {
	ours, theirs := pair(t)
	require.NoError(t, theirs.(*net.TCPConn).SetLinger(0))
	require.NoError(t, theirs.Close()) // with a reset
	_, err := ours.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	operation, is := errors.AsType[*net.OpError](err)
	require.True(t, is)
	require.Equal(t, "read", operation.Op)
	require.NotNil(t, operation.Addr)
}

// A connection that is no socket is left alone.
func TestNoSocket(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	require.Same(t, ours, rawio.Conn(ours))
}

// Nothing is allocated for a read or a write.
func TestAllocations(t *testing.T) {
	ours, theirs := pair(t)
	p := make([]byte, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, err := ours.Write(p)
		require.NoError(t, err)
		_, err = io.ReadFull(theirs, p)
		require.NoError(t, err)
		_, err = theirs.Write(p)
		require.NoError(t, err)
		_, err = io.ReadFull(ours, p)
		require.NoError(t, err)
	}))
}
