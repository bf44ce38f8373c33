package gossip

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const forgetAfter = 100 * time.Millisecond

// quick shortens all timings, and turns off the regular exchange of states so that
// only the rejoin loop is left to mend what is broken.
func quick(m *memberlist.Config) {
	m.TCPTimeout = time.Second
	m.ProbeInterval = 50 * time.Millisecond
	m.ProbeTimeout = 25 * time.Millisecond
	m.SuspicionMult = 2
	m.SuspicionMaxTimeoutMult = 2
	m.GossipInterval = 10 * time.Millisecond
	m.GossipToTheDeadTime = forgetAfter
	m.PushPullInterval = 0
}

func config(name string, known ...string) Config {
	return Config{
		Name: name, Bind: "127.0.0.1:0", Profile: Local, RejoinInterval: 50 * time.Millisecond, tune: quick,
		Known:  func() []string { return known },
		Logger: slog.New(slog.DiscardHandler),
	}
}

func start(t *testing.T, cfg Config) *Gossip {
	g, err := Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

func see(g *Gossip, name string) (Peer, bool) {
	for _, p := range g.Members() {
		if p.Name == name {
			return p, true
		}
	}
	return Peer{}, false
}

// requireState waits until g sees the member in the state.
func requireState(t *testing.T, g *Gossip, name string, state State) Peer {
	t.Helper()
	var last Peer
	require.Eventually(t, func() bool {
		p, known := see(g, name)
		last = p
		return known && p.State == state
	}, 30*time.Second, 5*time.Millisecond, "%s to be %v for %s", name, state, g.cfg.Name)
	return last
}

// requireForgotten waits until memberlist has forgotten a dead member.
func requireForgotten(t *testing.T, g *Gossip, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		p, _ := see(g, name)
		return p.State == Dead && time.Since(p.Since) > 3*forgetAfter
	}, 10*time.Second, 5*time.Millisecond)
}

func TestMembersFindEachOther(t *testing.T) {
	logs := &records{}
	a := config("a")
	a.Meta, a.Logger = []byte("meta of a"), slog.New(logs)
	a.tune = nil // a slow machine must not look like a dead member
	ga := start(t, a)
	b := config("b", ga.Addr())
	b.tune = nil
	gb := start(t, b)
	c := config("c", gb.Addr())
	c.tune = nil
	gc := start(t, c)
	for _, g := range []*Gossip{ga, gb, gc} {
		for _, name := range []string{"a", "b", "c"} {
			p := requireState(t, g, name, Alive)
			require.False(t, p.Since.IsZero())
		}
	}
	p, _ := see(gc, "a")
	require.Equal(t, "meta of a", string(p.Meta))
	require.Equal(t, ga.Addr(), p.Addr)
	require.Empty(t, logs.above(slog.LevelInfo), "quiet when all is well")
}

// The restarted member knows nobody: the other must call it.
func TestDeadMemberIsRememberedAndCalledWhenItIsBack(t *testing.T) {
	ga := start(t, config("a"))
	b := config("b", ga.Addr())
	gb := start(t, b)
	requireState(t, ga, "b", Alive)
	require.NoError(t, gb.Close())
	requireForgotten(t, ga, "b")

	b.Bind, b.Known = gb.Addr(), nil
	gb = start(t, b)
	requireState(t, ga, "b", Alive)
	requireState(t, gb, "a", Alive)
}

func TestMemberComesBackAtAnotherAddress(t *testing.T) {
	ga := start(t, config("a"))
	gb := start(t, config("b", ga.Addr()))
	requireState(t, ga, "b", Alive)
	require.NoError(t, gb.Close())

	gb = start(t, config("b", ga.Addr()))
	require.Eventually(t, func() bool {
		p, _ := see(ga, "b")
		return p.State == Alive && p.Addr == gb.Addr()
	}, 10*time.Second, 5*time.Millisecond)
	requireState(t, gb, "a", Alive)
}

// cut is a transport that can be cut off from the network.
type cut struct {
	memberlist.NodeAwareTransport
	off *atomic.Bool
}

func (c cut) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	if c.off.Load() {
		return time.Now(), nil
	}
	return c.NodeAwareTransport.WriteToAddress(b, a)
}

func (c cut) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	if c.off.Load() {
		return nil, errors.New("cut off")
	}
	return c.NodeAwareTransport.DialAddressTimeout(a, timeout)
}

func withCut(cfg Config, off *atomic.Bool, more func(*memberlist.Config)) Config {
	cfg.tune = func(m *memberlist.Config) {
		quick(m)
		more(m)
		m.Transport = cut{m.Transport.(memberlist.NodeAwareTransport), off}
	}
	return cfg
}

func TestPartitionHeals(t *testing.T) {
	var off atomic.Bool
	ga := start(t, withCut(config("a"), &off, func(*memberlist.Config) {}))
	gb := start(t, withCut(config("b", ga.Addr()), &off, func(*memberlist.Config) {}))
	requireState(t, ga, "b", Alive)
	requireState(t, gb, "a", Alive)

	off.Store(true)
	requireForgotten(t, ga, "b")
	requireForgotten(t, gb, "a")

	off.Store(false)
	requireState(t, ga, "b", Alive)
	requireState(t, gb, "a", Alive)
}

func TestSuspect(t *testing.T) {
	var off atomic.Bool
	slow := func(m *memberlist.Config) { m.SuspicionMult = 10000 }
	ga := start(t, withCut(config("a"), &off, slow))
	gb := start(t, withCut(config("b", ga.Addr()), &off, slow))
	requireState(t, gb, "a", Alive)
	off.Store(true)
	requireState(t, gb, "a", Suspect)
	off.Store(false)
	requireState(t, gb, "a", Alive)
}

func TestLeave(t *testing.T) {
	ga := start(t, config("a"))
	gb := start(t, config("b", ga.Addr()))
	requireState(t, ga, "b", Alive)
	requireState(t, gb, "a", Alive)
	require.NoError(t, gb.Leave(5*time.Second))
	requireState(t, ga, "b", Left)
	requireState(t, gb, "b", Left)
	require.NoError(t, gb.Leave(time.Second), "again")
	require.NoError(t, gb.Close())
	require.NoError(t, gb.Close(), "again")
	require.NoError(t, gb.Leave(time.Second), "after Close")

	start(t, config("b", ga.Addr()))
	requireState(t, ga, "b", Alive)
}

func TestSecretKey(t *testing.T) {
	a, b, stranger := config("a"), config("b"), config("stranger")
	logs := &records{}
	a.Keys, a.Logger = [][]byte{bytes.Repeat([]byte{1}, KeySize)}, slog.New(logs)
	ga := start(t, a)
	known := func() []string { return []string{ga.Addr()} }
	b.Keys, b.Known = a.Keys, known
	stranger.Keys, stranger.Known = [][]byte{bytes.Repeat([]byte{2}, KeySize)}, known
	gs := start(t, stranger)
	start(t, b)
	requireState(t, ga, "b", Alive)
	require.Eventually(t, func() bool { return len(logs.above(slog.LevelInfo)) > 0 }, 10*time.Second, 5*time.Millisecond)
	_, seen := see(ga, "stranger")
	require.False(t, seen)
	require.Len(t, gs.Members(), 1)
}

// TestKeysRotate: a key is followed by another one while members go on to hear each other, member by member, and who has only the old one is a stranger then.
func TestKeysRotate(t *testing.T) {
	key := func(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }
	a, b := config("a"), config("b")
	a.Keys, b.Keys = [][]byte{key(1)}, [][]byte{key(1)}
	ga := start(t, a)
	b.Known = func() []string { return []string{ga.Addr()} }
	gb := start(t, b)
	requireState(t, ga, "b", Alive)
	for _, keys := range [][][]byte{{key(1), key(2)}, {key(2), key(1)}, {key(2)}} {
		for i, g := range []*Gossip{ga, gb} {
			require.NoError(t, g.SetKeys(keys))
			meta := []byte{byte(len(keys)), keys[0][0], byte(i)}
			ga.SetMeta(meta)
			require.Eventually(t, func() bool { p, _ := see(gb, "a"); return bytes.Equal(p.Meta, meta) }, 10*time.Second, 5*time.Millisecond)
			require.Eventually(t, func() bool { return ga.ping(*gb.list.LocalNode()) }, 10*time.Second, 5*time.Millisecond)
		}
	}
	stranger := config("stranger")
	stranger.Keys, stranger.Known = [][]byte{key(1)}, b.Known
	gs := start(t, stranger)
	_, err := gs.list.Join([]string{ga.Addr()})
	require.Error(t, err)
	require.ErrorIs(t, ga.SetKeys(nil), ErrConfig)
	require.ErrorIs(t, ga.SetKeys([][]byte{{1}}), ErrConfig)
	require.ErrorIs(t, start(t, config("plain")).SetKeys([][]byte{key(1)}), ErrConfig)
}

func TestClustersStayApart(t *testing.T) {
	a, b := config("a"), config("b")
	logs := &records{}
	a.Cluster, a.Logger = "one", slog.New(logs)
	ga := start(t, a)
	b.Cluster, b.Known = "two", func() []string { return []string{ga.Addr()} }
	gb := start(t, b)
	require.Eventually(t, func() bool { return strings.Contains(logs.above(slog.LevelInfo), "unacceptable label") }, 10*time.Second, 5*time.Millisecond)
	require.Len(t, ga.Members(), 1)
	require.Len(t, gb.Members(), 1)
}

func TestGarbageIsSurvived(t *testing.T) {
	g := start(t, config("a"))
	garbage := make([]byte, 64)
	for i := range 200 {
		_, _ = rand.Read(garbage)
		garbage[0] = byte(i % 16) // the message types
		for _, network := range []string{"tcp", "udp"} {
			conn, err := net.Dial(network, g.Addr())
			require.NoError(t, err)
			_, _ = conn.Write(garbage[:1+i%len(garbage)])
			require.NoError(t, conn.Close())
		}
	}
	gb := start(t, config("b", g.Addr()))
	requireState(t, g, "b", Alive)
	requireState(t, gb, "a", Alive)
}

// A stream that says nothing must not hold up Close.
func TestCloseDoesNotWaitForStreams(t *testing.T) {
	cfg := config("a")
	cfg.tune = func(m *memberlist.Config) {
		quick(m)
		m.TCPTimeout = time.Hour
	}
	g := start(t, cfg)
	conn, err := net.Dial("tcp", g.Addr())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, g.Close())
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
}

func TestStartErrors(t *testing.T) {
	g := start(t, config("a"))
	cfg := config("b")
	cfg.Bind = g.Addr()
	_, err := Start(cfg)
	require.ErrorIs(t, err, ErrAddressInUse)
	require.ErrorContains(t, err, g.Addr())

	for want, change := range map[string]func(*Config){
		"has no name":                func(c *Config) { c.Name = "" },
		"metadata of 513 bytes":      func(c *Config) { c.Meta = make([]byte, 513) },
		"has 5 bytes, want 32":       func(c *Config) { c.Keys = [][]byte{[]byte("short")} },
		"is negative":                func(c *Config) { c.RejoinInterval = -1 },
		"cluster name has 256 bytes": func(c *Config) { c.Cluster = strings.Repeat("x", 256) },
		`bind address "7946"`:        func(c *Config) { c.Bind = "7946" },
		`"http" is not a port`:       func(c *Config) { c.Bind = "127.0.0.1:http" },
		`advertise address "x"`:      func(c *Config) { c.Advertise = "x" },
		"this machine has no":        func(c *Config) { c.Bind = "192.0.2.1:0" },
	} {
		cfg := config("b")
		change(&cfg)
		_, err := Start(cfg)
		require.ErrorIs(t, err, ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
}

func TestAdvertise(t *testing.T) {
	cfg := config("a")
	cfg.Advertise = "127.0.0.2:0"
	g := start(t, cfg)
	_, port, err := net.SplitHostPort(g.Addr())
	require.NoError(t, err)
	require.NotEqual(t, "0", port)
	require.Equal(t, net.JoinHostPort("127.0.0.2", port), g.Addr())
}

func TestTheLongestGoneAreForgotten(t *testing.T) {
	ps := &peers{log: slog.New(slog.DiscardHandler), byName: make(map[string]*peer)}
	for i := range maxGone + 10 {
		node := &memberlist.Node{Name: string(rune('A' + i))}
		ps.NotifyJoin(node)
		ps.NotifyLeave(node)
	}
	require.Len(t, ps.list(), maxGone)
	require.NotContains(t, ps.byName, "A")
}

func TestStateText(t *testing.T) {
	text, err := Suspect.MarshalText()
	require.NoError(t, err)
	require.Equal(t, "suspect", string(text))
	require.Equal(t, "State(9)", State(9).String())
}

// records is a slog.Handler that keeps what it is given.
type records struct {
	mu   sync.Mutex
	list []slog.Record
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }

func (r *records) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, record)
	return nil
}

// above returns the messages above the level.
func (r *records) above(level slog.Level) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	for _, record := range r.list {
		if record.Level > level {
			text.WriteString(record.Message + "\n")
		}
	}
	return text.String()
}

// TestWebPagesAreNoMembers: a web page can make a browser send HTTP with any body to the TCP port, and, for WebRTC, STUN and DTLS to the UDP port. A body that
// is a member's own message is not read: the first byte decides.
func TestWebPagesAreNoMembers(t *testing.T) {
	logs := &records{}
	cfg := config("a")
	cfg.Logger = slog.New(logs)
	g := start(t, cfg)
	joining := captured(t)
	for _, method := range []string{"GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "CONNECT"} {
		conn, err := net.Dial("tcp", g.Addr())
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = conn.Write(append([]byte(method+" / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), joining...))
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, conn) // until it is closed
		require.NoError(t, conn.Close())
	}
	conn, err := net.Dial("udp", g.Addr())
	require.NoError(t, err)
	stun := append([]byte{0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42}, make([]byte, 12)...) // a binding request: its first byte is that of a ping
	dtls := append([]byte{22, 0xfe, 0xfd}, make([]byte, 60)...)
	for range 100 {
		for _, packet := range [][]byte{stun, dtls, []byte("GET / HTTP/1.1\r\n\r\n")} {
			_, _ = conn.Write(packet) // refused by a full buffer is as good as ignored
		}
	}
	require.NoError(t, conn.Close())
	gb := start(t, config("b", g.Addr()))
	requireState(t, g, "b", Alive)
	requireState(t, gb, "a", Alive)
	require.Len(t, g.Members(), 2, "a and b, and nobody whom a web page brought")

	// The same bytes without HTTP do join: the test sends what counts.
	direct, err := net.Dial("tcp", g.Addr())
	require.NoError(t, err)
	defer func() { _ = direct.Close() }()
	_, err = direct.Write(joining)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(g.Members()) == 3 }, 10*time.Second, 5*time.Millisecond)
}

// captured returns what a member sends in order to join: its whole state, in a stream.
func captured(t *testing.T) []byte {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	stranger := config("stranger", listener.Addr().String())
	start(t, stranger)
	conn, err := listener.Accept()
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	all := make([]byte, 0, 64<<10)
	for {
		n, err := conn.Read(all[len(all):cap(all)])
		all = all[:len(all)+n]
		if err != nil || bytes.Contains(all, []byte("stranger")) {
			return all
		}
	}
}

// TestMembersGossipOverWhatTheyAreLent has a member whose sockets are its caller's, and another one that opens its own.
func TestMembersGossipOverWhatTheyAreLent(t *testing.T) {
	streams, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	packets, err := net.ListenPacket("udp", streams.Addr().String())
	if err != nil { // another process has the port for UDP
		require.NoError(t, streams.Close())
		t.Skip(err)
	}
	var dialed atomic.Int64
	ga := start(t, config("a"))
	b := config("b", ga.Addr())
	b.Bind, b.Network = "", &Network{Streams: streams, Packets: packets, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		dialed.Add(1)
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}
	gb := start(t, b)
	require.Equal(t, streams.Addr().String(), gb.Addr())
	requireState(t, ga, "b", Alive)
	requireState(t, gb, "a", Alive)
	require.Positive(t, dialed.Load())
	require.NoError(t, gb.Close())
	_, err = streams.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = packets.WriteTo([]byte("x"), packets.LocalAddr())
	require.ErrorIs(t, err, net.ErrClosed)
	requireState(t, ga, "b", Dead)
}
