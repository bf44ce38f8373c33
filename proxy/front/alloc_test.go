package front_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// The way of a command through the front allocates nothing.
func TestFrontAllocatesNothing(t *testing.T) {
	_, addr := startServer(t, front.Config{}, instantCluster{})
	conns := make([]net.Conn, 8)
	for i := range conns {
		conns[i] = proxytest.Dial(t, addr).Conn
	}
	request := []byte("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")
	reply := make([]byte, 2*len(instantReply))
	roundTrip := func() {
		for _, c := range conns {
			if _, err := c.Write(request); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range conns {
			if _, err := io.ReadFull(c, reply); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 { // buffers grow
		roundTrip()
	}
	require.LessOrEqual(t, testing.AllocsPerRun(500, roundTrip), 1.0, "for %d commands", 2*len(conns))
}

// pipe is a connection that delivers the same bytes again and again.
type pipe struct {
	net.Conn
	request []byte
}

func (p *pipe) Read(b []byte) (int, error) { return copy(b, p.request), nil }

func (p *pipe) Write(b []byte) (int, error) { return len(b), nil }

func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

func (p *pipe) Close() error { return nil }

// instantCluster answers without allocating.
type instantCluster struct{ route.Cluster }

var instantReply = []byte("$5\r\nvalue\r\n")

func (instantCluster) Loading() error { return nil }

func (instantCluster) Working() bool { return false }

func (instantCluster) EndWaiting() {}

func (instantCluster) Listen(func(*protocol.Message)) {}

func (instantCluster) ListenUsers(hear func(route.Users)) { hear(route.Users{}) }

// Placements implements route.Cluster.
func (instantCluster) Placements() (p database.Placements) { return p }

func (instantCluster) Execute(b *route.Batch) {
	for i := range b.Ops {
		b.Ops[i].Reply = instantReply
	}
}

func newPipeConn(depth int) *front.Conn {
	one := "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n"
	server := newServer(front.Config{}, instantCluster{})
	return server.ConnForTest(&pipe{request: []byte(strings.Repeat(one, depth))})
}

func TestNoAllocations(t *testing.T) {
	s := newPipeConn(16)
	s.ServeOnce()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if !s.ServeOnce() {
			t.Error("the session ended")
		}
	}))
}

func BenchmarkSession(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			s := newPipeConn(depth)
			b.ReportAllocs()
			for i := 0; i < b.N; i += 3 * depth {
				s.ServeOnce()
			}
		})
	}
}

// BenchmarkFront is the way of commands through the front, for eight clients at once.
func BenchmarkFront(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			_, addr := startServer(b, front.Config{}, instantCluster{})
			conns := make([]net.Conn, 8)
			for i := range conns {
				conns[i] = proxytest.Dial(b, addr).Conn
			}
			request := []byte(strings.Repeat("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n", depth))
			reply := make([]byte, depth*len(instantReply))
			b.ReportAllocs()
			for i := 0; i < b.N; i += depth * len(conns) {
				for _, c := range conns {
					_ = c.SetDeadline(time.Now().Add(time.Minute))
					if _, err := c.Write(request); err != nil {
						b.Fatal(err)
					}
				}
				for _, c := range conns {
					if _, err := io.ReadFull(c, reply); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
