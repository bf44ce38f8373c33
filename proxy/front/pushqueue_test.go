package front

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/proxy/route"
)

// TestPushQueue: whatever is pushed and dropped, the queue has the messages that a slice would have, knows their size, and is within its limits
// exactly if that says so.
func TestPushQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := OutputLimit{
			Hard:    rapid.SampledFrom([]int64{0, 3000, 6000}).Draw(t, "hard"),
			Soft:    rapid.SampledFrom([]int64{0, 500, 2000}).Draw(t, "soft"),
			SoftFor: rapid.SampledFrom([]time.Duration{0, 10, 100}).Draw(t, "softFor"),
		}
		q := pushQueue{limit: limit}
		var want [][]byte
		var now, since time.Time // since: of more than Soft
		var size int64
		now = now.Add(time.Hour)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				message := bytes.Repeat([]byte{byte(len(want))}, rapid.IntRange(0, 300).Draw(t, "bytes"))
				want = append(want, message)
				size += int64(len(message)) + messageCost
				over := limit.Soft > 0 && size > limit.Soft
				if over && since.IsZero() {
					since = now
				}
				within := (limit.Hard == 0 || size <= limit.Hard) && (!over || now.Sub(since) <= limit.SoftFor)
				require.Equal(t, within, q.push(message, now))
				require.LessOrEqual(t, len(q.messages), 2*len(want), "what was dropped makes room")
			},
			"drop": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("nothing waits")
				}
				size -= int64(len(want[0])) + messageCost
				want = want[1:]
				q.drop()
			},
			"wait": func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "for"))) },
			"": func(t *rapid.T) {
				if size <= limit.Soft {
					since = time.Time{}
				}
				require.Equal(t, len(want), q.len())
				require.Equal(t, size, q.bytes)
				if len(want) > 0 {
					require.Equal(t, want[0], q.first())
				} else {
					require.Nil(t, q.first())
				}
			},
		})
	})
}

// noCluster is asked for nothing.
type noCluster struct{ Executor }

func (noCluster) Working() bool { return false }

// scripted is a session that answers each command with a reply in several pieces, and has something pushed to its own client meanwhile.
type scripted struct {
	conn *Conn
	Session
	pushes int // for each command
	want   bytes.Buffer
}

func (s *scripted) Closed() {}

func (s *scripted) Run() {
	var pushed bytes.Buffer
	for ; s.conn.More(); s.conn.Skip() {
		name := s.conn.Peek()[0]
		for i := range s.pushes {
			message := fmt.Appendf(nil, "(%s.%d)", name, i)
			s.conn.Push(message)
			pushed.Write(message)
		}
		for piece := range 3 {
			reply := bytes.Repeat(name, 1+piece*len(name)*1000) // now and then more than flushSize
			s.conn.Write(reply)
			s.want.Write(reply)
		}
	}
	s.want.Write(pushed.Bytes())
}

// slowSession is a session whose commands take a second each.
type slowSession struct {
	conn *Conn
	Session
}

func (*slowSession) Closed() {}

func (s *slowSession) Run() {
	for ; s.conn.More(); s.conn.Skip() {
		s.conn.Execute(new(route.Batch))
		s.conn.Write([]byte("reply\n"))
	}
}

type slowCluster struct{ noCluster }

func (slowCluster) Execute(*route.Batch) { time.Sleep(time.Second) }

// TestPushInVirtualTime: who waits to write to a client whose command takes long does not keep a clock of tests from going on.
func TestPushInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var session slowSession
		server := New(Config{}, slowCluster{}, func(c *Conn) Session { session.conn = c; return &session })
		here, there := net.Pipe()
		server.accept(there, nil, false)
		_, err := here.Write([]byte("command\n"))
		require.NoError(t, err)
		synctest.Wait()
		require.True(t, session.conn.Push([]byte("push\n")))
		lines := bufio.NewScanner(here)
		for _, want := range []string{"reply", "push"} {
			require.True(t, lines.Scan())
			require.Equal(t, want, lines.Text())
		}
		require.NoError(t, here.Close())
		require.NoError(t, server.Shutdown(t.Context()))
	})
}

// TestPushesLeaveBetweenReplies: what was pushed before commands were read leaves before their replies, what is pushed meanwhile behind them.
func TestPushesLeaveBetweenReplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		session := new(scripted)
		server := New(Config{}, noCluster{}, func(c *Conn) Session { session.conn = c; return session })
		defer server.cancel()
		in, out := new(bytes.Buffer), new(bytes.Buffer)
		conn := newConn(server, &memoryConn{in: in, out: out}, nil, 1, false)
		for step := range rapid.IntRange(1, 20).Draw(t, "steps") {
			for i := range rapid.IntRange(0, 5).Draw(t, "pushes") {
				message := fmt.Appendf(nil, "[%d.%d]", step, i)
				require.True(t, conn.Push(message))
				session.want.Write(message)
			}
			session.pushes = rapid.IntRange(0, 3).Draw(t, "pushes meanwhile")
			for i := range rapid.IntRange(1, 5).Draw(t, "commands") {
				fmt.Fprintf(in, "c%d-%d\r\n", step, i)
			}
			require.True(t, conn.ServeOnce())
		}
		require.Equal(t, session.want.String(), out.String())
		messages, _ := conn.Waiting()
		require.Zero(t, messages)
		conn.outbox.close(conn)
		server.running.Wait() // for the writer, who finds the connection owned
	})
}
