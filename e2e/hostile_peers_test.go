//go:build unix

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/wire"
)

// Attacks of TestHostile by who has a certificate that gets him through TLS at the peer port.

// impostor says there that he is somebody whom his certificate, or the secret that he has, does not let him be.
type impostor struct {
	name   string
	who    string // whose certificate
	secret string
	hello  wire.Hello
	says   string // by which the node refuses him
}

var impostorKinds = []impostor{
	{"a proxy that says it is a node", "p1", cluster.Secret, wire.Hello{Role: wire.RoleNode, Name: "a", Cluster: "quoll"}, "it says that it is a node, and its certificate is for urn:quoll:quoll:proxy:p1"},
	{"a node that says it is another", "b", cluster.Secret, wire.Hello{Role: wire.RoleNode, Name: "a", Cluster: "quoll"}, "it says that it is node a, and its certificate is for urn:quoll:quoll:node:b"},
	{"a client that says it is a proxy", "alice", cluster.Secret, wire.Hello{Role: wire.RoleProxy, Name: "x", Cluster: "quoll"}, "it says that it is a proxy, and its certificate is for urn:quoll:quoll:client:alice"},
	{"a proxy that says it is of another cluster", "p1", cluster.Secret, wire.Hello{Role: wire.RoleProxy, Name: "x", Cluster: "other"}, "it says that it is of cluster other, and its certificate is for urn:quoll:quoll:proxy:p1"},
	{"a proxy with another secret", "p1", "of nobody", wire.Hello{Role: wire.RoleProxy, Name: "x", Cluster: "quoll"}, "configure the same secret on both"},
}

func (i impostor) effect() string { return "refused: " + i.name }

func impostors(ctx context.Context, h hostileTargets, random *rand.Rand) {
	each(ctx, 20*time.Millisecond, func() {
		i := impostorKinds[random.IntN(len(impostorKinds))]
		met := h.meet(ctx, i.who, i.secret, i.hello)
		switch {
		case met.up:
			h.t.Errorf("%s was let in", i.name)
		case strings.Contains(met.err, i.says):
			h.did(i.effect())
		}
	})
}

// meeting is how a handshake of peers went: what was said within TLS, and what went over the network.
type meeting struct {
	within, over []byte
	up           bool
	err          string // why it did not succeed
}

// meet does a handshake of peers on one connection, which it closes then.
func (h hostileTargets) meet(ctx context.Context, who, secret string, hello wire.Hello) (met meeting) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	over, within := &recorder{closed: make(chan struct{})}, &recorder{closed: make(chan struct{})}
	up, dialed := make(chan struct{}), false
	link := wire.NewLink(wire.LinkConfig{
		Options: wire.Options{Secret: []byte(secret), Logger: slog.New(slog.DiscardHandler)}, Address: h.peer,
		Hello: func() wire.Hello { return hello }, OnUp: func(uint64, wire.Hello) { close(up) },
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			if dialed {
				return nil, errors.New("once is enough")
			}
			dialed = true
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				within.Close()
				return nil, err
			}
			over.Conn = conn
			within.Conn = tls.Client(over, h.stolen.config(who, tls.VersionTLS13))
			return within, nil
		},
	})
	link.Start(ctx)
	select {
	case <-up:
		met.up = true
	case <-within.closed:
	case <-ctx.Done():
	}
	link.Close()
	met.within, met.over, met.err = within.sentSoFar(), over.sentSoFar(), string(within.heardSoFar())
	return met
}

// replays records what a proxy with certificate and secret says when it is let in, and says it again: within TLS on another connection, and what went over the network as it is.
func replays(ctx context.Context, h hostileTargets, _ *rand.Rand) {
	each(ctx, 50*time.Millisecond, func() {
		met := h.meet(ctx, "p1", cluster.Secret, wire.Hello{Role: wire.RoleProxy, Name: "x", Cluster: "quoll"})
		if !met.up {
			return
		}
		h.did("handshakes of peers recorded")
		if answer, ended := h.replay(h.stolen.dial(ctx, h.secured()[1]), met.within); ended && bytes.Contains(answer, []byte("configure the same secret on both")) {
			h.did("replayed frames of peers refused")
		}
		if answer, ended := h.replay(dialHostile(ctx, h.peer), met.over); ended && len(answer) > 0 {
			h.did("replayed TLS of peers refused")
		}
	})
}

// replay says something and listens until the other side ends the connection, which it has to.
func (h hostileTargets) replay(conn net.Conn, said []byte) (answer []byte, ended bool) {
	if conn == nil {
		return nil, false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = conn.Write(said)
	answer, err := io.ReadAll(conn)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		h.t.Errorf("who repeats what he has heard is not turned out: he heard %q", answer)
	}
	return answer, !errors.Is(err, net.ErrClosed)
}

// recorder keeps what goes over a connection.
type recorder struct {
	net.Conn
	mu          sync.Mutex
	sent, heard []byte
	end         sync.Once
	closed      chan struct{}
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, p[:n]...)
	return n, err
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	r.sent = append(r.sent, p...)
	r.mu.Unlock()
	return r.Conn.Write(p)
}

func (r *recorder) Close() error {
	r.end.Do(func() { close(r.closed) })
	if r.Conn == nil {
		return nil
	}
	return r.Conn.Close()
}

func (r *recorder) sentSoFar() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.sent)
}

func (r *recorder) heardSoFar() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.heard)
}
