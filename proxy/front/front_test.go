package front_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// Clients get exactly their replies, in order, however their commands are cut and mixed.
func TestManyClientsAtOnce(t *testing.T) { proxytest.EachWay(t, testManyClientsAtOnce) }

func testManyClientsAtOnce(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{}, proxytest.NewCluster())
	proxytest.PlayAll(t, addr, true)
	eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, "clients stay")
	requireNothingUnderWay(t, server)
}

// A command that comes byte by byte is one command.
func TestByteByByte(t *testing.T) { proxytest.EachWay(t, testByteByByte) }

func testByteByByte(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, front.Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for _, b := range []byte("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nvalue\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n") {
		_, err := c.Write([]byte{b})
		require.NoError(t, err)
	}
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, "$5\r\nvalue\r\n", c.Reply())
}

// A large command takes its time and keeps nobody else waiting.
func TestLargeCommand(t *testing.T) { proxytest.EachWay(t, testLargeCommand) }

func testLargeCommand(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, front.Config{}, proxytest.NewCluster())
	large, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	value := strings.Repeat("v", 16<<20)
	command := resp.AppendBulk(resp.AppendBulk(resp.AppendBulk(resp.AppendArray(nil, 3), "SET"), "a"), value)
	for len(command) > 0 {
		n := min(1<<20, len(command))
		_, err := large.Write(command[:n])
		require.NoError(t, err)
		command = command[n:]
		require.Equal(t, "+PONG\r\n", other.Do("PING"))
	}
	require.Equal(t, "+OK\r\n", large.Reply())
	large.Send("STRLEN a", "PING")
	require.Equal(t, fmt.Sprintf(":%d\r\n", len(value)), large.Reply())
	require.Equal(t, "+PONG\r\n", large.Reply())
}

// A client that sends all it has and closes its side gets all replies, and the end.
func TestHalfClosed(t *testing.T) { proxytest.EachWay(t, testHalfClosed) }

func testHalfClosed(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{}, proxytest.NewCluster())
	for range 50 {
		c := proxytest.Dial(t, addr)
		c.Send("SET a 1", "GET a", "PING")
		require.NoError(t, c.Conn.(interface{ CloseWrite() error }).CloseWrite())
		require.Equal(t, "+OK\r\n$1\r\n1\r\n+PONG\r\n", c.Rest())
	}
	eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, "clients stay")
}

// stuckCluster does not answer operations on the key "stuck" until it is released.
func stuckCluster() (cluster *proxytest.Cluster, stuck chan struct{}, release func()) {
	cluster, stuck = proxytest.NewCluster(), make(chan struct{}, 1000)
	released := make(chan struct{})
	cluster.Before = func(b *route.Batch) {
		for i := range b.Ops {
			if string(b.Ops[i].Req.Args[1]) == "stuck" {
				stuck <- struct{}{}
				<-released
				return
			}
		}
	}
	return cluster, stuck, sync.OnceFunc(func() { close(released) })
}

// Rounds that the cluster does not answer keep nobody else waiting, however many they are.
func TestStuckRounds(t *testing.T) { proxytest.EachWay(t, testStuckRounds) }

func testStuckRounds(t *testing.T, w proxytest.Way) {
	cluster, stuck, release := stuckCluster()
	_, addr := serve(t, w, front.Config{}, cluster)
	defer release()
	var waiting []*proxytest.Client
	for range 50 {
		c := proxytest.Dial(t, addr)
		c.Send("GET stuck")
		<-stuck
		waiting = append(waiting, c)
		require.Equal(t, "$-1\r\n", proxytest.Dial(t, addr).Do("GET fine"))
	}
	release()
	for _, c := range waiting {
		require.Equal(t, "$-1\r\n", c.Reply())
	}
}

// Clients that go away, or are killed, while their commands are executed are gone
// afterwards; those that wait for nothing are gone at once.
func TestGoneDuringARound(t *testing.T) { proxytest.EachWay(t, testGoneDuringARound) }

func testGoneDuringARound(t *testing.T, w proxytest.Way) {
	cluster, stuck, release := stuckCluster()
	server, addr := serve(t, w, front.Config{}, cluster)
	defer release()
	killer, gone, killed, idle := proxytest.Dial(t, addr), proxytest.Dial(t, addr), proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", idle.Do("PING"))
	for _, c := range []*proxytest.Client{gone, killed} {
		c.Send("GET stuck")
		<-stuck
	}
	gone.Close()
	for _, c := range []*proxytest.Client{killed, idle} {
		require.Equal(t, ":1\r\n", killer.Do("CLIENT KILL ADDR "+c.LocalAddr().String()))
		_, err := c.In.ReadByte()
		require.Error(t, err)
	}
	eventually(t, func() bool { return server.Stats().Clients.Load() == 3 }, "the idle client was killed")
	require.Equal(t, "+PONG\r\n", killer.Do("PING"))
	release()
	eventually(t, func() bool { return server.Stats().Clients.Load() == 1 }, "the others go with their round")
	require.Equal(t, "$-1\r\n", killer.Do("GET stuck"))
}

// A client that does not take its replies for a while gets them all, and keeps nobody
// else waiting.
func TestStubbornReader(t *testing.T) { proxytest.EachWay(t, testStubbornReader) }

func testStubbornReader(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	cluster.Data["big"] = strings.Repeat("v", 1<<20)
	_, addr := serve(t, w, front.Config{}, cluster)
	slow, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	const times = 32
	for i := range times {
		slow.Send("GET big", fmt.Sprint("ECHO ", i))
		require.Equal(t, "$-1\r\n", other.Do("GET none"))
	}
	for i := range times {
		require.Len(t, slow.Reply(), 1<<20+len("$1048576\r\n\r\n"))
		require.Equal(t, proxytest.Bulk(fmt.Sprint(i), true), slow.Reply())
	}
	require.Equal(t, "+PONG\r\n", slow.Do("PING"))
}

// Clients that are silent cost no goroutine.
func TestIdleClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no front on this system")
	}
	server, addr := startServer(t, front.Config{}, proxytest.NewCluster())
	const n = 2000
	clients := make([]*proxytest.Client, n)
	before := runtime.NumGoroutine()
	for i := range clients {
		clients[i] = proxytest.Dial(t, addr)
		require.Equal(t, "$-1\r\n", clients[i].Do("GET a"))
	}
	require.EqualValues(t, n, server.Stats().Clients.Load())
	eventually(t, func() bool { return runtime.NumGoroutine() < before+20 }, "goroutines stay")
	for _, c := range clients {
		require.Equal(t, "+PONG\r\n", c.Do("PING"))
	}
}

// A bug that a round runs into ends the connections of those who are part of it, and
// nothing else.
func TestPanicInARound(t *testing.T) { proxytest.EachWay(t, testPanicInARound) }

func testPanicInARound(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	cluster.Before = func(b *route.Batch) {
		for i := range b.Ops {
			if string(b.Ops[i].Req.Args[1]) == "bug" {
				panic("a bug")
			}
		}
	}
	server, addr := serve(t, w, front.Config{}, cluster)
	failed := string(route.AppendReply(nil, front.ErrInternal))
	var clients []*proxytest.Client
	for range 20 {
		clients = append(clients, proxytest.Dial(t, addr))
	}
	for i, c := range clients {
		c.Send([]string{"GET fine", "GET fine", "GET fine", "GET bug"}[i%4])
	}
	ended := uint64(0)
	for i, c := range clients {
		reply := c.Reply()
		if i%4 == 3 || reply != "$-1\r\n" {
			require.Equal(t, failed, reply)
			require.Empty(t, c.Rest())
			ended++
			continue
		}
		require.Equal(t, "+PONG\r\n", c.Do("PING"))
	}
	require.Equal(t, ended, server.Stats().Panics.Load())
	require.Equal(t, "$-1\r\n", proxytest.Dial(t, addr).Do("GET fine"))
	requireNothingUnderWay(t, server)
}

// What was executed is answered, even while the server shuts down under load.
func TestShutdownUnderLoad(t *testing.T) { proxytest.EachWay(t, testShutdownUnderLoad) }

func testShutdownUnderLoad(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	server := newServer(front.Config{}, cluster)
	listener := w.Listen(t)
	addr := listener.Addr().String()
	served := w.ServeOn(t, server, listener)
	var clients sync.WaitGroup
	last := make([]string, 16)
	answered := make([]atomic.Int64, len(last))
	for i := range last {
		c := proxytest.Dial(t, addr)
		clients.Go(func() {
			for {
				if _, err := fmt.Fprintf(c, "INCR %d\r\nINCR %d\r\n", i, i); err != nil {
					return
				}
				for range 2 {
					reply, err := proxytest.ReadReply(c.In)
					if err != nil {
						return
					}
					last[i] = reply
				}
				answered[i].Add(1)
			}
		})
	}
	for i := range answered {
		eventually(t, func() bool { return answered[i].Load() > 50 }, "client %d is not answered", i)
	}
	require.NoError(t, server.Shutdown(context.Background()))
	require.ErrorIs(t, <-served, front.ErrServerClosed)
	clients.Wait()
	for i, reply := range last {
		require.Equal(t, ":"+cluster.Data[fmt.Sprint(i)]+"\r\n", reply)
	}
}

// A client with a deep pipeline is executed in batches of its own.
func TestDeepPipelines(t *testing.T) {
	cluster := proxytest.NewCluster()
	largest := 0
	cluster.Before = func(b *route.Batch) { largest = max(largest, len(b.Ops)) }
	_, addr := startServer(t, front.Config{}, cluster)
	deep := proxytest.Dial(t, addr)
	for range 5 {
		deep.Send(strings.Split(strings.TrimSuffix(strings.Repeat("GET k\n", 5000), "\n"), "\n")...)
		for range 5000 {
			require.Equal(t, "$-1\r\n", deep.Reply())
		}
	}
	require.LessOrEqual(t, largest, resp.MaxBatch)
	require.Greater(t, largest, front.PartOps)
}
