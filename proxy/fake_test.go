package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/ring"
)

// fakeCluster is a Cluster in memory, with as many commands as the tests need.
type fakeCluster struct {
	mu   sync.Mutex
	data map[string]string
	// batches counts calls of Execute.
	batches int
	// before, if set, is called with each batch before it is executed.
	before func(*Batch)
	// intercept, if set, may decide an operation itself.
	intercept func(*Op) bool
	// err, if set, is what Scan, DBSize, FlushAll and RandomKey answer.
	err error
	// loading is what Loading answers.
	loading error
}

func newFakeCluster() *fakeCluster { return &fakeCluster{data: make(map[string]string)} }

func (f *fakeCluster) Execute(b *Batch) {
	if f.before != nil {
		f.before(b)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches++
	for i := range b.Ops {
		if op := &b.Ops[i]; f.intercept == nil || !f.intercept(op) {
			op.Outcome, op.Reply = Done, f.run(op.Req)
		}
	}
}

func (f *fakeCluster) run(req command.Request) []byte {
	key := string(req.Args[1])
	value, exists := f.data[key]
	switch req.Op {
	case command.OpGet, command.OpMGet, command.OpDumpState:
		if !exists {
			return resp.AppendNull(nil, req.RESP3)
		}
		return resp.AppendBulk(nil, value)
	case command.OpSet:
		f.data[key] = string(req.Args[2])
		return []byte(resp.OK)
	case command.OpDel, command.OpUnlink:
		delete(f.data, key)
		return boolReply(exists)
	case command.OpExists, command.OpTouch:
		return boolReply(exists)
	case command.OpRestoreState:
		if exists && len(req.Args) < 4 {
			return boolReply(false)
		}
		f.data[key] = string(req.Args[2])
		return boolReply(true)
	case command.OpStrlen:
		return resp.AppendInt(nil, int64(len(value)))
	case command.OpIncr:
		n, err := strconv.ParseInt(value, 10, 64)
		if exists && err != nil {
			return resp.AppendError(nil, "ERR value is not an integer or out of range")
		}
		f.data[key] = strconv.FormatInt(n+1, 10)
		return resp.AppendInt(nil, n+1)
	}
	return resp.AppendError(nil, "ERR the fake cluster does not have this command")
}

func boolReply(yes bool) []byte {
	if yes {
		return []byte(":1\r\n")
	}
	return []byte(":0\r\n")
}

// Scan goes by slot and splits none.
func (f *fakeCluster) Scan(_ context.Context, from Cursor, count int) ([]ScanEntry, Cursor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slotOf := func(key string) int { return int(ring.SlotOf([]byte(key))) }
	keys := slices.SortedFunc(maps.Keys(f.data), func(a, b string) int {
		return cmp.Or(cmp.Compare(slotOf(a), slotOf(b)), cmp.Compare(a, b))
	})
	var entries []ScanEntry
	for i, key := range keys {
		if Cursor(slotOf(key)) < from>>positionBits {
			continue
		}
		entries = append(entries, ScanEntry{Key: []byte(key), Type: record.String})
		if len(entries) >= count && i+1 < len(keys) && slotOf(keys[i+1]) != slotOf(key) {
			return entries, Cursor(slotOf(key)+1) << positionBits, f.err
		}
	}
	return entries, 0, f.err
}

func (f *fakeCluster) DBSize(context.Context) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.data)), f.err
}

func (f *fakeCluster) FlushAll(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		clear(f.data)
	}
	return f.err
}

func (f *fakeCluster) Working() bool { return false }

func (f *fakeCluster) Loading() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loading
}

func (f *fakeCluster) RandomKey(context.Context) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.data {
		return []byte(key), f.err
	}
	return nil, f.err
}

// way is how a server serves connections.
type way struct {
	name     string
	listener func(net.Listener) net.Listener
}

var (
	// byFront: all clients together, where the system has what that needs.
	byFront = way{"front", func(l net.Listener) net.Listener { return l }}
	// byGoroutines: each client by a goroutine, as anything that is not a plain socket is.
	byGoroutines = way{"goroutines", func(l net.Listener) net.Listener { return plainListener{l} }}
)

// eachWay runs a test with each way of serving.
func eachWay(t *testing.T, test func(t *testing.T, w way)) {
	for _, w := range []way{byFront, byGoroutines} {
		t.Run(w.name, func(t *testing.T) { test(t, w) })
	}
}

// plainListener hides that its connections are sockets.
type plainListener struct{ net.Listener }

type plainConn struct{ net.Conn }

func (c plainConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func (l plainListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return plainConn{conn}, err
}

func (w way) listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return w.listener(listener)
}

// startServer serves the cluster on loopback until the test ends.
func startServer(t testing.TB, cfg ServerConfig, cluster Cluster) (*Server, string) {
	t.Helper()
	return byFront.serve(t, cfg, cluster)
}

func (w way) serve(t testing.TB, cfg ServerConfig, cluster Cluster) (*Server, string) {
	t.Helper()
	server := NewServer(cfg, cluster)
	listener := w.listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.Shutdown(ctx))
		require.ErrorIs(t, <-served, ErrServerClosed)
	})
	return server, listener.Addr().String()
}

// client is a client that looks at bytes.
type client struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	return &client{t: t, Conn: conn, in: bufio.NewReader(conn)}
}

// send sends commands, one a line, words separated by spaces; "" is an empty word.
func (c *client) send(lines ...string) {
	c.t.Helper()
	var out []byte
	for _, line := range lines {
		words := strings.Fields(line)
		out = resp.AppendArray(out, len(words))
		for _, word := range words {
			out = resp.AppendBulk(out, strings.ReplaceAll(word, `""`, ""))
		}
	}
	_, err := c.Write(out)
	require.NoError(c.t, err)
}

// do sends one command and returns its whole reply.
func (c *client) do(line string) string {
	c.t.Helper()
	c.send(line)
	return c.reply()
}

// reply reads one reply and returns its bytes.
func (c *client) reply() string {
	c.t.Helper()
	text, err := readReply(c.in)
	require.NoError(c.t, err)
	return text
}

// rest reads until the server closes the connection.
func (c *client) rest() string {
	c.t.Helper()
	text, err := io.ReadAll(c.in)
	require.NoError(c.t, err)
	return string(text)
}

func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return line, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return line, nil
		}
		body := make([]byte, n+2)
		_, err := io.ReadFull(in, body)
		return line + string(body), err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return line, nil
	}
	var all bytes.Buffer
	all.WriteString(line)
	for range n {
		part, err := readReply(in)
		if err != nil {
			return "", fmt.Errorf("in %q: %w", all.String(), err)
		}
		all.WriteString(part)
	}
	return all.String(), nil
}

// heapInUse returns the bytes of reachable objects. It is signed: what an earlier
// test left behind may be freed between two readings, and their difference is then
// below zero. The second collection empties what the first left in the pools.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
