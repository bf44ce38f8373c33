package wire

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Options are what a Link and a Server have in common. Zero fields get defaults.
type Options struct {
	// Secret is what both sides must know; empty for none. It is at least as long as
	// a good password: it is the key of an HMAC.
	Secret []byte
	// TLS encrypts the connections; nil for none.
	TLS *TLS
	// MaxFrame is the greatest payload, sent or received, in bytes: 128 MiB, at most
	// 1 GiB. Everybody who talks to each other should have the same.
	MaxFrame int
	// MaxPending bounds the bytes that wait to be written to one connection: 64 MiB.
	// What is added last may exceed it.
	MaxPending int
	// HandshakeTimeout is how long a handshake may take: 5 s.
	HandshakeTimeout time.Duration
	// Logger is told of peers that come with the wrong secret, of panics and so on,
	// and of nothing when all is well: slog.Default().
	Logger *slog.Logger
	// Sent, if there is one, is told how many bytes were written to a connection after its handshake. It must not block.
	Sent func(bytes int)
	// Random are the random numbers of links, nil for others each time. It must be safe to be used by several goroutines.
	Random *rand.Rand
}

// upTo returns a random time of at most limit.
func (o *Options) upTo(limit time.Duration) time.Duration {
	if o.Random != nil {
		return time.Duration(o.Random.Int64N(int64(limit) + 1))
	}
	return rand.N(limit + 1)
}

const largestFrame = 1 << 30

func (o Options) withDefaults() Options {
	o.MaxFrame = min(cmp.Or(o.MaxFrame, 128<<20), largestFrame)
	o.MaxPending = cmp.Or(o.MaxPending, 64<<20)
	o.HandshakeTimeout = cmp.Or(o.HandshakeTimeout, 5*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}
