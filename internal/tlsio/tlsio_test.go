package tlsio

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/certs"
)

func configs(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	ca, err := certs.NewAuthority(dir, "test", time.Hour)
	require.NoError(t, err)
	cert, key, err := ca.Issue(certs.Request{Role: certs.Proxy, Name: "p", Hosts: []string{"127.0.0.1"}, Valid: time.Hour})
	require.NoError(t, err)
	store, err := certs.Open("test", certs.Files{Cert: cert, Key: key, CA: filepath.Join(dir, certs.CAFile)})
	require.NoError(t, err)
	return store.Server(certs.ClientAuthOff, tls.VersionTLS12), store.Client("127.0.0.1")
}

// wire is what a side reads from: some bytes at a time, and ErrNotNow between.
type wire struct {
	waiting bytes.Buffer
	let     int // how many may be read now
}

func (w *wire) Read(p []byte) (int, error) {
	n := min(len(p), w.let, w.waiting.Len())
	if n == 0 {
		return 0, ErrNotNow
	}
	w.let -= n
	return w.waiting.Read(p[:n])
}

// trickle takes some bytes at a time.
type trickle struct {
	to   *wire
	take func() int
}

func (d *trickle) Write(p []byte) (int, error) {
	n := min(len(p), d.take())
	d.to.waiting.Write(p[:n])
	if n < len(p) {
		return n, ErrNotNow
	}
	return n, nil
}

// pair returns both sides of a connection after its handshake.
func pair(t *testing.T, server, client *tls.Config) (s, c *Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	far, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { near.Close(); far.Close() })
	s, c = Server(far, server), Client(near, client)
	shaken := make(chan error)
	go func() { shaken <- s.Handshake(context.Background()) }()
	require.NoError(t, c.Handshake(context.Background()))
	require.NoError(t, <-shaken)
	return s, c
}

// TestHoweverItIsCut: what is sealed arrives, in order, however little is written and read at a time, and reading never waits.
func TestHoweverItIsCut(t *testing.T) {
	server, client := configs(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := client.Clone()
		client.MaxVersion = version
		s, c := pair(t, server, client)
		between := new(wire)
		s.SetSource(between)
		rapid.Check(t, func(t *rapid.T) {
			sent := rapid.SliceOfN(rapid.Byte(), 1, 50000).Draw(t, "bytes")
			steps := rapid.SliceOfN(rapid.IntRange(0, 20000), 1, 20).Draw(t, "steps")
			memory := make([]byte, rapid.IntRange(1, 20000).Draw(t, "memory"))
			step := 0
			next := func() int { step++; return steps[step%len(steps)] + 1 }
			require.NoError(t, c.Seal(sent))
			var got []byte
			for len(got) < len(sent) {
				if err := c.Flush(&trickle{between, next}); err != nil {
					require.ErrorIs(t, err, ErrNotNow)
				}
				between.let += next()
				for {
					n, err := s.Read(memory)
					got = append(got, memory[:n]...)
					if err != nil {
						require.ErrorIs(t, err, ErrNotNow)
						require.Zero(t, n)
						require.False(t, s.Pending())
						break
					}
					require.Equal(t, n == len(memory), s.Pending())
				}
			}
			require.True(t, bytes.Equal(sent, got))
			require.Zero(t, c.Unsent())
			between.let = 0
		})
	}
}

// TestWhatIsSealedIsBounded: whoever takes nothing does not make this side keep more and more.
func TestWhatIsSealedIsBounded(t *testing.T) {
	server, client := configs(t)
	s, _ := pair(t, server, client)
	portion := make([]byte, Portion)
	require.NoError(t, s.Seal(portion))
	require.Greater(t, s.Unsent(), Portion)
	var err error
	for range 10 {
		if err = s.Seal(portion[:1000]); err != nil {
			break
		}
		require.LessOrEqual(t, s.Unsent(), mostUnsent)
	}
	require.NoError(t, err)
	require.ErrorIs(t, s.Seal(portion), errBacklog)
	require.LessOrEqual(t, s.Unsent(), mostUnsent)
}

// TestEnd: the other side hears that nothing follows, and errors of the connection are those of reading and writing.
func TestEnd(t *testing.T) {
	server, client := configs(t)
	s, c := pair(t, server, client)
	require.NoError(t, s.Seal([]byte("last")))
	require.NoError(t, s.SealEnd())
	between := new(wire)
	require.NoError(t, s.Flush(&trickle{between, func() int { return 1 << 20 }}))
	between.let = 1 << 20
	c.SetSource(between)
	text, err := io.ReadAll(readerFunc(c.Read))
	require.NoError(t, err)
	require.Equal(t, "last", string(text))
	require.NoError(t, c.Seal([]byte("x")))
	broken := errors.New("broken")
	require.ErrorIs(t, c.Flush(writerFunc(func([]byte) (int, error) { return 0, broken })), broken)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
