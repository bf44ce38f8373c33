package proxy

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/resp"
)

// script is what one client does: commands on keys of its own, and what they answer.
type script struct {
	name     string
	rand     *rand.Rand
	commands []byte
	replies  strings.Builder
	values   map[string]string
	local    bool // commands of the proxy, among the others
}

func newScript(name string, seed uint64, local bool) *script {
	return &script{name: name, rand: rand.New(rand.NewPCG(seed, 1)), values: map[string]string{}, local: local}
}

func (s *script) add(reply string, words ...string) {
	s.commands = resp.AppendArray(s.commands, len(words))
	for _, word := range words {
		s.commands = resp.AppendBulk(s.commands, word)
	}
	s.replies.WriteString(reply)
}

func bulk(value string, exists bool) string {
	if !exists {
		return "$-1\r\n"
	}
	return string(resp.AppendBulk(nil, value))
}

// step adds a command.
func (s *script) step() {
	key := func() string { return fmt.Sprintf("%s:%d", s.name, s.rand.IntN(5)) }
	a, b := key(), key()
	value := fmt.Sprint(s.rand.Uint64())
	if s.rand.IntN(50) == 0 {
		value = strings.Repeat("v", 1<<s.rand.IntN(19))
	}
	kinds := 4
	if s.local {
		kinds = 9
	}
	switch s.rand.IntN(kinds) {
	case 0:
		s.add("+OK\r\n", "SET", a, value)
		s.values[a] = value
	case 1, 2:
		have, exists := s.values[a]
		s.add(bulk(have, exists), "GET", a)
	case 3:
		first, one := s.values[a]
		second, two := s.values[b]
		s.add("*2\r\n"+bulk(first, one)+bulk(second, two), "MGET", a, b)
	case 4:
		s.add("+PONG\r\n", "PING")
	case 5:
		s.add(bulk(value, true), "ECHO", value)
	case 6:
		s.add("-ERR unknown command 'NOSUCH', with args beginning with: \r\n", "NOSUCH")
	case 7:
		s.add(bulk("", false), "CLIENT", "GETNAME")
	case 8:
		s.add("+OK\r\n", "CLIENT", "SETINFO", "LIB-NAME", "x")
	}
}

// play sends the commands, cut into random pieces, and compares what comes back.
func (s *script) play(t *testing.T, addr string) {
	conn, err := net.Dial("tcp", addr)
	if !assert.NoError(t, err) {
		return
	}
	defer conn.Close()
	var sender sync.WaitGroup
	defer sender.Wait()
	cut := rand.New(rand.NewPCG(s.rand.Uint64(), 2))
	sender.Go(func() {
		for rest := s.commands; len(rest) > 0; {
			n := min(len(rest), 1+cut.IntN(1<<cut.IntN(17)))
			if _, err := conn.Write(rest[:n]); err != nil {
				return // the reader says what is wrong
			}
			rest = rest[n:]
		}
	})
	got := make([]byte, s.replies.Len())
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	n, err := io.ReadFull(conn, got)
	if err != nil || string(got) != s.replies.String() {
		at := 0
		for want := s.replies.String(); at < n && got[at] == want[at]; at++ {
		}
		t.Errorf("%s: reply %d of %d bytes (%v) differs at %d: %q", s.name, n, len(got), err, at, got[max(0, at-50):min(n, at+50)])
	}
}

// Clients get exactly their replies, in order, however their commands are cut and mixed.
func TestManyClientsAtOnce(t *testing.T) { eachWay(t, testManyClientsAtOnce) }

func testManyClientsAtOnce(t *testing.T, w way) {
	server, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	seed := rand.Uint64()
	t.Log("seed", seed)
	playAll(t, addr, seed, true)
	eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, "clients stay")
}

// The same with the coordinator, to which rounds have parts.
func TestManyClientsOfACoordinator(t *testing.T) {
	f := startRing(t, 3)
	server, addr := startServer(t, ServerConfig{}, f.coordinator(patient))
	seed := rand.Uint64()
	t.Log("seed", seed)
	playAll(t, addr, seed, false)
	requireNothingUnderWay(t, server)
}

func playAll(t *testing.T, addr string, seed uint64, local bool) {
	var clients sync.WaitGroup
	for i := range 20 {
		s := newScript(fmt.Sprint("c", i), seed+uint64(i), local)
		for range 100 << (i % 4) {
			s.step()
		}
		clients.Go(func() { s.play(t, addr) })
	}
	clients.Wait()
}

// A command that comes byte by byte is one command.
func TestByteByByte(t *testing.T) { eachWay(t, testByteByByte) }

func testByteByByte(t *testing.T, w way) {
	cluster := newFakeCluster()
	_, addr := w.serve(t, ServerConfig{}, cluster)
	c := dial(t, addr)
	for _, b := range []byte("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nvalue\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n") {
		_, err := c.Write([]byte{b})
		require.NoError(t, err)
	}
	require.Equal(t, "+OK\r\n", c.reply())
	require.Equal(t, "$5\r\nvalue\r\n", c.reply())
}

// A large command takes its time and keeps nobody else waiting.
func TestLargeCommand(t *testing.T) { eachWay(t, testLargeCommand) }

func testLargeCommand(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	large, other := dial(t, addr), dial(t, addr)
	value := strings.Repeat("v", 16<<20)
	command := resp.AppendBulk(resp.AppendBulk(resp.AppendBulk(resp.AppendArray(nil, 3), "SET"), "a"), value)
	for len(command) > 0 {
		n := min(1<<20, len(command))
		_, err := large.Write(command[:n])
		require.NoError(t, err)
		command = command[n:]
		require.Equal(t, "+PONG\r\n", other.do("PING"))
	}
	require.Equal(t, "+OK\r\n", large.reply())
	large.send("STRLEN a", "PING")
	require.Equal(t, fmt.Sprintf(":%d\r\n", len(value)), large.reply())
	require.Equal(t, "+PONG\r\n", large.reply())
}

// A client that sends all it has and closes its side gets all replies, and the end.
func TestHalfClosed(t *testing.T) { eachWay(t, testHalfClosed) }

func testHalfClosed(t *testing.T, w way) {
	server, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	for range 50 {
		c := dial(t, addr)
		c.send("SET a 1", "GET a", "PING")
		require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
		require.Equal(t, "+OK\r\n$1\r\n1\r\n+PONG\r\n", c.rest())
	}
	eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, "clients stay")
}

// stuckCluster does not answer operations on the key "stuck" until it is released.
func stuckCluster() (cluster *fakeCluster, stuck chan struct{}, release func()) {
	cluster, stuck = newFakeCluster(), make(chan struct{}, 1000)
	released := make(chan struct{})
	cluster.before = func(b *Batch) {
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
func TestStuckRounds(t *testing.T) { eachWay(t, testStuckRounds) }

func testStuckRounds(t *testing.T, w way) {
	cluster, stuck, release := stuckCluster()
	_, addr := w.serve(t, ServerConfig{}, cluster)
	defer release()
	var waiting []*client
	for range 50 {
		c := dial(t, addr)
		c.send("GET stuck")
		<-stuck
		waiting = append(waiting, c)
		require.Equal(t, "$-1\r\n", dial(t, addr).do("GET fine"))
	}
	release()
	for _, c := range waiting {
		require.Equal(t, "$-1\r\n", c.reply())
	}
}

// Clients that go away, or are killed, while their commands are executed are gone
// afterwards; those that wait for nothing are gone at once.
func TestGoneDuringARound(t *testing.T) { eachWay(t, testGoneDuringARound) }

func testGoneDuringARound(t *testing.T, w way) {
	cluster, stuck, release := stuckCluster()
	server, addr := w.serve(t, ServerConfig{}, cluster)
	defer release()
	killer, gone, killed, idle := dial(t, addr), dial(t, addr), dial(t, addr), dial(t, addr)
	require.Equal(t, "+PONG\r\n", idle.do("PING"))
	for _, c := range []*client{gone, killed} {
		c.send("GET stuck")
		<-stuck
	}
	gone.Close()
	for _, c := range []*client{killed, idle} {
		require.Equal(t, ":1\r\n", killer.do("CLIENT KILL ADDR "+c.LocalAddr().String()))
		_, err := c.in.ReadByte()
		require.Error(t, err)
	}
	eventually(t, func() bool { return server.Stats().Clients.Load() == 3 }, "the idle client was killed")
	require.Equal(t, "+PONG\r\n", killer.do("PING"))
	release()
	eventually(t, func() bool { return server.Stats().Clients.Load() == 1 }, "the others go with their round")
	require.Equal(t, "$-1\r\n", killer.do("GET stuck"))
}

// A client that does not take its replies for a while gets them all, and keeps nobody
// else waiting.
func TestStubbornReader(t *testing.T) { eachWay(t, testStubbornReader) }

func testStubbornReader(t *testing.T, w way) {
	cluster := newFakeCluster()
	cluster.data["big"] = strings.Repeat("v", 1<<20)
	_, addr := w.serve(t, ServerConfig{}, cluster)
	slow, other := dial(t, addr), dial(t, addr)
	const times = 32
	for i := range times {
		slow.send("GET big", fmt.Sprint("ECHO ", i))
		require.Equal(t, "$-1\r\n", other.do("GET none"))
	}
	for i := range times {
		require.Len(t, slow.reply(), 1<<20+len("$1048576\r\n\r\n"))
		require.Equal(t, bulk(fmt.Sprint(i), true), slow.reply())
	}
	require.Equal(t, "+PONG\r\n", slow.do("PING"))
}

// Clients that are silent cost no goroutine.
func TestIdleClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no front on this system")
	}
	server, addr := startServer(t, ServerConfig{}, newFakeCluster())
	const n = 2000
	clients := make([]*client, n)
	before := runtime.NumGoroutine()
	for i := range clients {
		clients[i] = dial(t, addr)
		require.Equal(t, "$-1\r\n", clients[i].do("GET a"))
	}
	require.EqualValues(t, n, server.Stats().Clients.Load())
	eventually(t, func() bool { return runtime.NumGoroutine() < before+20 }, "goroutines stay")
	for _, c := range clients {
		require.Equal(t, "+PONG\r\n", c.do("PING"))
	}
}

// A bug that a round runs into ends the connections of those who are part of it, and
// nothing else.
func TestPanicInARound(t *testing.T) { eachWay(t, testPanicInARound) }

func testPanicInARound(t *testing.T, w way) {
	cluster := newFakeCluster()
	cluster.before = func(b *Batch) {
		for i := range b.Ops {
			if string(b.Ops[i].Req.Args[1]) == "bug" {
				panic("a bug")
			}
		}
	}
	server, addr := w.serve(t, ServerConfig{}, cluster)
	failed := string(AppendReply(nil, errInternal))
	var clients []*client
	for range 20 {
		clients = append(clients, dial(t, addr))
	}
	for i, c := range clients {
		c.send([]string{"GET fine", "GET fine", "GET fine", "GET bug"}[i%4])
	}
	ended := uint64(0)
	for i, c := range clients {
		reply := c.reply()
		if i%4 == 3 || reply != "$-1\r\n" {
			require.Equal(t, failed, reply)
			require.Empty(t, c.rest())
			ended++
			continue
		}
		require.Equal(t, "+PONG\r\n", c.do("PING"))
	}
	require.Equal(t, ended, server.Stats().Panics.Load())
	require.Equal(t, "$-1\r\n", dial(t, addr).do("GET fine"))
	requireNothingUnderWay(t, server)
}

// What was executed is answered, even while the server shuts down under load.
func TestShutdownUnderLoad(t *testing.T) { eachWay(t, testShutdownUnderLoad) }

func testShutdownUnderLoad(t *testing.T, w way) {
	cluster := newFakeCluster()
	server := NewServer(ServerConfig{}, cluster)
	listener := w.listen(t)
	addr := listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var clients sync.WaitGroup
	var answered atomic.Int64
	last := make([]string, 16)
	for i := range last {
		clients.Go(func() {
			c := dial(t, addr)
			for {
				if _, err := fmt.Fprintf(c, "INCR %d\r\nINCR %d\r\n", i, i); err != nil {
					return
				}
				for range 2 {
					reply, err := readReply(c.in)
					if err != nil {
						return
					}
					last[i] = reply
				}
				answered.Add(1)
			}
		})
	}
	eventually(t, func() bool { return answered.Load() > 1000 }, "nothing is answered")
	require.NoError(t, server.Shutdown(context.Background()))
	require.ErrorIs(t, <-served, ErrServerClosed)
	clients.Wait()
	for i, reply := range last {
		require.Equal(t, ":"+cluster.data[fmt.Sprint(i)]+"\r\n", reply)
	}
}

// A client with a deep pipeline is executed in batches of its own.
func TestDeepPipelines(t *testing.T) {
	cluster := newFakeCluster()
	largest := 0
	cluster.before = func(b *Batch) { largest = max(largest, len(b.Ops)) }
	_, addr := startServer(t, ServerConfig{}, cluster)
	deep := dial(t, addr)
	for range 5 {
		deep.send(strings.Split(strings.TrimSuffix(strings.Repeat("GET k\n", 5000), "\n"), "\n")...)
		for range 5000 {
			require.Equal(t, "$-1\r\n", deep.reply())
		}
	}
	require.LessOrEqual(t, largest, maxBatchOps)
	require.Greater(t, largest, partOps)
}

// The way of a command through the front allocates nothing.
func TestFrontAllocatesNothing(t *testing.T) {
	_, addr := startServer(t, ServerConfig{}, instantCluster{})
	conns := make([]net.Conn, 8)
	for i := range conns {
		conns[i] = dial(t, addr).Conn
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
