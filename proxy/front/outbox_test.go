package front_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// message is a push of RESP3.
func message(text string) []byte {
	return resp.AppendBulk(resp.AppendBulk([]byte(">2\r\n"), "message"), text)
}

// dialed returns a client, and the server's side of its connection.
func dialed(t *testing.T, server interface{ Conns() []*front.Conn }, addr string) (*proxytest.Client, *front.Conn) {
	t.Helper()
	client := proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", client.Do("PING"))
	for _, c := range server.Conns() {
		if c.RemoteAddr().String() == client.LocalAddr().String() {
			return client, c
		}
	}
	t.Fatal("the server does not know its client")
	return nil, nil
}

// TestPush: who waits hears what is pushed, in its order, and can go on.
func TestPush(t *testing.T) { proxytest.EachWay(t, testPush) }

func testPush(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{}, proxytest.NewCluster())
	client, conn := dialed(t, server, addr)
	for round := range 50 {
		for i := range 1 + round%3 {
			require.True(t, conn.Push(message(fmt.Sprint(round, i))))
		}
		for i := range 1 + round%3 {
			require.Equal(t, string(message(fmt.Sprint(round, i))), client.Reply())
		}
		if round%5 == 0 {
			require.Equal(t, "+PONG\r\n", client.Do("PING"))
		}
	}
	client.Close()
	eventually(t, func() bool { return !conn.Push(message("too late")) }, "it is not gone")
}

// TestPushBeforeAReply: what was pushed before a command is sent leaves before its reply, what is pushed while it is executed behind it.
func TestPushBeforeAReply(t *testing.T) { proxytest.EachWay(t, testPushBeforeAReply) }

func testPushBeforeAReply(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	var conn *front.Conn
	cluster.Before = func(*route.Batch) { conn.Push(message("meanwhile")) }
	server, addr := serve(t, w, front.Config{}, cluster)
	var client *proxytest.Client
	client, conn = dialed(t, server, addr)
	for range 100 {
		conn.Push(message("before"))
		client.Send("MGET a b", "GET c")
		for _, want := range []string{string(message("before")), "*2\r\n$-1\r\n$-1\r\n", "$-1\r\n", string(message("meanwhile"))} {
			require.Equal(t, want, client.Reply())
		}
	}
}

// TestPushBetweenBatches: what is pushed while the first part of a long pipeline is executed does not wait for the rest.
func TestPushBetweenBatches(t *testing.T) { proxytest.EachWay(t, testPushBetweenBatches) }

func testPushBetweenBatches(t *testing.T, w proxytest.Way) {
	const commands = 100
	cluster := proxytest.NewCluster()
	var conn *front.Conn
	var sizes []int
	cluster.Before = func(b *route.Batch) {
		sizes = append(sizes, len(b.Ops))
		conn.Push(message("after the batch"))
	}
	server, addr := serve(t, w, front.Config{}, cluster)
	var client *proxytest.Client
	client, conn = dialed(t, server, addr)
	client.Send(slices.Repeat([]string{"GET a"}, commands)...)
	var want, got []string
	for len(got) < commands+2 {
		got = append(got, client.Reply())
	}
	require.Len(t, sizes, 2, "not one batch")
	for _, n := range sizes {
		want = append(append(want, slices.Repeat([]string{"$-1\r\n"}, n)...), string(message("after the batch")))
	}
	require.Equal(t, want, got)
}

// TestPushesOfMany: several goroutines push to a client that sends pipelines, with replies of all sizes. Replies and messages come whole, the replies
// in the order of the commands, the messages of each goroutine in theirs.
func TestPushesOfMany(t *testing.T) { proxytest.EachWay(t, testPushesOfMany) }

func testPushesOfMany(t *testing.T, w proxytest.Way) {
	const pushers, each, rounds = 4, 500, 60
	cluster := proxytest.NewCluster()
	cluster.Data["small"], cluster.Data["large"] = "s", strings.Repeat("l", 100<<10)
	server, addr := serve(t, w, front.Config{}, cluster)
	client, conn := dialed(t, server, addr)
	var running sync.WaitGroup
	defer running.Wait()
	for pusher := range pushers {
		running.Go(func() {
			for i := range each {
				if !conn.Push(message(fmt.Sprintf("%d %d", pusher, i))) {
					t.Error("the client is gone")
				}
				if i%10 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	running.Go(func() {
		for range rounds {
			client.Send("MGET small large small", "PING", "GET large", "GET small")
		}
	})
	small, large := proxytest.Bulk("s", true), proxytest.Bulk(cluster.Data["large"], true)
	replies := []string{"*3\r\n" + small + large + small, "+PONG\r\n", large, small}
	next := [pushers]int{}
	for got, left := 0, pushers*each; got < rounds*len(replies) || left > 0; {
		reply := client.Reply()
		if !strings.HasPrefix(reply, ">") {
			if want := replies[got%len(replies)]; reply != want {
				t.Fatalf("reply %d is %.80q, not %.80q", got, reply, want)
			}
			got++
			continue
		}
		var pusher, i int
		_, err := fmt.Sscanf(strings.Split(reply, "\r\n")[4], "%d %d", &pusher, &i)
		require.NoError(t, err)
		require.Equal(t, next[pusher], i, "of pusher %d", pusher)
		next[pusher]++
		left--
	}
}

// TestPushToManyWhoWait: they are not served by a goroutine each.
func TestPushToManyWhoWait(t *testing.T) {
	server, addr := serve(t, proxytest.ByFront, front.Config{}, proxytest.NewCluster())
	var clients []*proxytest.Client
	for range 200 {
		client, _ := dialed(t, server, addr)
		clients = append(clients, client)
	}
	before := runtime.NumGoroutine()
	var most atomic.Int64
	for range 20 {
		for _, c := range server.Conns() {
			require.True(t, c.Push(message("to all")))
			most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
		}
		for _, client := range clients {
			require.Equal(t, string(message("to all")), client.Reply())
		}
	}
	if runtime.GOOS == "linux" {
		require.Less(t, most.Load(), int64(before+20))
	}
}

// TestWhoTakesNoPushesIsDisconnected, which is logged and counted, and the memory is given back.
func TestWhoTakesNoPushesIsDisconnected(t *testing.T) {
	proxytest.EachWay(t, testWhoTakesNoPushesIsDisconnected)
}

func testWhoTakesNoPushesIsDisconnected(t *testing.T, w proxytest.Way) {
	const limit = 4 << 20
	var log lockedBuffer
	server, addr := serve(t, w, front.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, proxytest.NewCluster())
	_, conn := dialed(t, server, addr)
	good, _ := dialed(t, server, addr)
	conn.LimitOutput(front.OutputLimit{Hard: limit})
	most, text := int64(0), message(strings.Repeat("x", 1000))
	for conn.Push(text) {
		_, bytes := conn.Waiting()
		most = max(most, bytes)
	}
	require.LessOrEqual(t, most, int64(limit))
	require.Greater(t, most, int64(limit*9/10), "it was not too early")
	require.EqualValues(t, 1, server.Stats().OutputExceeded.Load())
	require.Equal(t, 1, strings.Count(log.String(), "does not take what is sent to it"))
	require.False(t, conn.Push(text), "it is gone")
	eventually(t, func() bool { return server.Stats().Clients.Load() == 1 }, "it stays")
	require.Zero(t, server.Held())
	require.Equal(t, "+PONG\r\n", good.Do("PING"))
}

// TestPushesCountAsMemoryOfClients: the one with the most goes when all together have too much.
func TestPushesCountAsMemoryOfClients(t *testing.T) {
	proxytest.EachWay(t, testPushesCountAsMemoryOfClients)
}

func testPushesCountAsMemoryOfClients(t *testing.T, w proxytest.Way) {
	const limit = 8 << 20
	server, addr := serve(t, w, front.Config{ClientMemory: limit}, proxytest.NewCluster())
	_, little := dialed(t, server, addr)
	_, much := dialed(t, server, addr)
	text := message(strings.Repeat("x", 10000))
	for held := int64(0); held < limit/4; _, held = little.Waiting() {
		require.True(t, little.Push(text))
	}
	for server.Stats().Evicted.Load() == 0 {
		require.LessOrEqual(t, server.Held(), int64(limit))
		much.Push(text)
	}
	eventually(t, func() bool { return server.Stats().Clients.Load() == 1 }, "it stays")
	require.True(t, little.Push(text))
	require.LessOrEqual(t, server.Held(), int64(limit))
}

// TestPushWhileConnectionsEnd: clients go, are hung up, and the server ends, while messages are pushed to all of them.
func TestPushWhileConnectionsEnd(t *testing.T) { proxytest.EachWay(t, testPushWhileConnectionsEnd) }

func testPushWhileConnectionsEnd(t *testing.T, w proxytest.Way) {
	server := newServer(front.Config{}, proxytest.NewCluster())
	listener := w.Listen(t)
	served := w.ServeOn(t, server, listener)
	var ended atomic.Bool
	var pushing, playing sync.WaitGroup
	for range 3 {
		pushing.Go(func() {
			var all []*front.Conn
			for i := 0; !ended.Load(); i++ {
				for _, c := range all { // some have ended
					c.Push(message("to all"))
				}
				if all = server.Conns(); i%7 == 0 && len(all) > 0 {
					all[0].HangUp()
				}
				runtime.Gosched()
			}
		})
	}
	for range 8 {
		playing.Go(func() {
			for range 20 {
				conn, err := proxytest.DialConn(listener.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintf(conn, "PING\r\nGET a\r\n")
				_, _ = conn.Read(make([]byte, 100))
				conn.Close()
			}
		})
	}
	playing.Wait()
	last := proxytest.Dial(t, listener.Addr().String())
	last.Send("PING")
	require.NoError(t, server.Shutdown(t.Context()))
	ended.Store(true)
	pushing.Wait()
	require.ErrorIs(t, <-served, front.ErrServerClosed)
	require.Zero(t, server.Held())
	require.Zero(t, server.Stats().Panics.Load())
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// BenchmarkPush is a message for each of so many clients that wait.
func BenchmarkPush(b *testing.B) {
	for _, clients := range []int{1, 100} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			server, addr := startServer(b, front.Config{}, proxytest.NewCluster())
			var readers sync.WaitGroup
			text := message(strings.Repeat("x", 64))
			for range clients {
				client := proxytest.Dial(b, addr)
				_ = client.SetDeadline(time.Time{})
				readers.Go(func() {
					buf := make([]byte, 64<<10)
					for left := b.N * len(text); left > 0; {
						n, err := client.Read(buf)
						if err != nil {
							b.Error(err)
							return
						}
						left -= n
					}
				})
			}
			for server.Stats().Clients.Load() < int64(clients) {
				runtime.Gosched()
			}
			conns := server.Conns()
			b.ReportAllocs()
			for range b.N {
				for _, c := range conns {
					for !c.Push(text) {
						b.Fatal("a client is gone")
					}
				}
			}
			readers.Wait()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*clients), "ns/message")
		})
	}
}
