package pipes

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/nettest"
)

// TestPipeIsAConnection: what package nettest asks of a net.Conn.
func TestPipeIsAConnection(t *testing.T) {
	nettest.TestConn(t, func() (near, far net.Conn, stop func(), err error) {
		near, far = Pipe()
		return near, far, func() { near.Close(); far.Close() }, nil
	})
}

func TestWhatWasWrittenBeforeCloseIsRead(t *testing.T) {
	near, far := Pipe()
	_, err := near.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, near.Close())
	got, err := io.ReadAll(far)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
	_, err = far.Write([]byte("nobody reads it"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = near.Write([]byte("closed"))
	require.ErrorIs(t, err, net.ErrClosed)
}

// TestWhoDoesNotReadStopsWhoWrites, and memory is bounded.
func TestWhoDoesNotReadStopsWhoWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := Pipe()
		defer far.Close()
		require.NoError(t, near.SetWriteDeadline(time.Now().Add(time.Second)))
		began := time.Now()
		n, err := near.Write(make([]byte, 2*size))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, size, n)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, near.SetWriteDeadline(time.Time{}))
		written := make(chan error)
		go func() {
			_, err := near.Write(make([]byte, size))
			near.Close()
			written <- err
		}()
		got, err := io.ReadAll(far)
		require.NoError(t, err)
		require.NoError(t, <-written)
		require.Len(t, got, 2*size)
	})
}

// TestJoin: a listener accepts from both, and goes on after a failure of the other.
func TestJoin(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	fails := errors.New("too many open files")
	l := Join(&once{Listener: tcp, err: fails})
	require.Equal(t, tcp.Addr(), l.Addr())
	_, err = l.Accept()
	require.ErrorIs(t, err, fails)
	for _, dial := range []func() (net.Conn, error){
		func() (net.Conn, error) { return l.Dial(t.Context(), "") },
		func() (net.Conn, error) { return net.Dial("tcp", tcp.Addr().String()) },
	} {
		accepted := make(chan net.Conn)
		go func() {
			conn, _ := l.Accept()
			accepted <- conn
		}()
		near, err := dial()
		require.NoError(t, err)
		far := <-accepted
		_, err = near.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(far, make([]byte, 1))
		require.NoError(t, err)
		near.Close()
		far.Close()
	}
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = l.Dial(t.Context(), "")
	require.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = net.Dial("tcp", tcp.Addr().String())
	require.Error(t, err)
}

func TestDialDoesNotWaitForever(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Listen().Dial(ctx, "")
	require.ErrorIs(t, err, context.Canceled)
}

// once fails the first time.
type once struct {
	net.Listener
	err error
}

func (o *once) Accept() (net.Conn, error) {
	if err := o.err; err != nil {
		o.err = nil
		return nil, err
	}
	return o.Listener.Accept()
}
