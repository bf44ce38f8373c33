package front

import (
	"bufio"
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/route"
)

// parkingSession parks its connection at each command WAIT until it is told to go on. Other commands are answered with their name.
type parkingSession struct {
	conn    *Conn
	waits   atomic.Bool
	goOn    atomic.Bool
	runs    atomic.Int64
	closed  chan struct{}
	Session // what is not called
}

func (s *parkingSession) Plan(int) ([]route.Op, bool) { return nil, false }
func (s *parkingSession) Closed()                     { close(s.closed) }

func (s *parkingSession) Run() {
	s.runs.Add(1)
	if s.waits.Load() {
		if !s.goOn.CompareAndSwap(true, false) {
			s.conn.Park()
			return
		}
		s.waits.Store(false)
		s.conn.Write([]byte("waited\n"))
	}
	for s.conn.More() {
		name := s.conn.Peek()[0]
		s.conn.Skip()
		if string(name) == "WAIT" {
			s.waits.Store(true)
			s.conn.Park()
			return
		}
		s.conn.Write(append(append([]byte(nil), name...), '\n'))
	}
}

// park starts a server, and a client of it whose session parks; by the loop, or with a goroutine of its own.
func park(t *testing.T, dedicated bool) (*Server, *parkingSession, net.Conn, *bufio.Scanner) {
	t.Helper()
	session := &parkingSession{closed: make(chan struct{})}
	server := New(Config{}, noCluster{}, func(c *Conn) Session { session.conn = c; return session })
	var here net.Conn
	if dedicated {
		var there net.Conn
		here, there = net.Pipe()
		server.accept(there, nil, false)
	} else {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go server.Serve(listener)
		here, err = net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		here.Close()
		_ = server.Shutdown(context.Background())
	})
	return server, session, here, bufio.NewScanner(here)
}

func eachWay(t *testing.T, test func(t *testing.T, dedicated bool)) {
	t.Run("loop", func(t *testing.T) { test(t, false) })
	t.Run("dedicated", func(t *testing.T) { test(t, true) })
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	_, err := conn.Write([]byte(text))
	require.NoError(t, err)
}

func line(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	require.True(t, lines.Scan(), "%v", lines.Err())
	require.Equal(t, want, lines.Text())
}

func waits(t *testing.T, s *parkingSession) {
	t.Helper()
	require.Eventually(t, s.waits.Load, 5*time.Second, time.Millisecond)
}

// TestWhoIsParkedGoesOn: what a client sends meanwhile is executed afterwards, in order, and what is pushed to it comes at once.
func TestWhoIsParkedGoesOn(t *testing.T) {
	eachWay(t, func(t *testing.T, dedicated bool) {
		_, session, conn, lines := park(t, dedicated)
		for range 50 {
			send(t, conn, "one\nWAIT\ntwo\n")
			line(t, lines, "one")
			waits(t, session)
			if !dedicated { // a pipe takes nothing that nobody reads
				send(t, conn, "three\n")
			}
			require.True(t, session.conn.Push([]byte("push\n")))
			line(t, lines, "push")
			session.conn.Resume() // for nothing
			session.goOn.Store(true)
			session.conn.Resume()
			line(t, lines, "waited")
			line(t, lines, "two")
			if !dedicated {
				line(t, lines, "three")
			}
		}
	})
}

// TestWhoIsParkedTakesNoTurns: a client that waits, and sends a lot meanwhile, is left alone.
func TestWhoIsParkedTakesNoTurns(t *testing.T) {
	_, session, conn, lines := park(t, false)
	send(t, conn, "WAIT\n")
	waits(t, session)
	for range 20 {
		send(t, conn, "more\n")
	}
	require.True(t, session.conn.Push([]byte("push\n"))) // it comes when all that was noticed
	line(t, lines, "push")
	require.LessOrEqual(t, session.runs.Load(), int64(1))
	session.goOn.Store(true)
	session.conn.Resume()
	line(t, lines, "waited")
	for range 20 {
		line(t, lines, "more")
	}
}

// TestWhoIsParkedMayLeave: a client that goes away, even with commands behind the one that waits, is noticed.
func TestWhoIsParkedMayLeave(t *testing.T) {
	for _, behind := range []string{"", "more\n"} {
		_, session, conn, _ := park(t, false)
		send(t, conn, "WAIT\n")
		waits(t, session)
		if behind != "" {
			send(t, conn, behind)
		}
		conn.Close()
		<-session.closed
	}
}

// TestWhoIsParkedCanBeEnded: by a person, and by the server's end.
func TestWhoIsParkedCanBeEnded(t *testing.T) {
	eachWay(t, func(t *testing.T, dedicated bool) {
		_, session, conn, _ := park(t, dedicated)
		send(t, conn, "WAIT\n")
		waits(t, session)
		session.conn.HangUp()
		<-session.closed

		server, session, conn, _ := park(t, dedicated)
		send(t, conn, "WAIT\n")
		waits(t, session)
		require.NoError(t, server.Shutdown(t.Context()))
		<-session.closed
	})
}
