package front

import (
	"log/slog"
	"time"
)

// Config is how a Server treats its clients. Zero values mean the defaults
// that are given with each field.
type Config struct {
	// MaxClients is the most connections at a time (default 10000).
	MaxClients int
	// ClientMemory bounds what all clients together make the server hold: of commands that are sent by halves, or queued for later, and of replies
	// that are not taken (default 1 GiB). Beyond it the client with the most is disconnected, as by Redis' maxmemory-clients.
	ClientMemory int64
	// OutputLimit bounds what waits of what is pushed to a client, unless its session says otherwise (default 256 MiB). Hard below 0 is no such bound, and 0 beside a
	// Soft one.
	OutputLimit OutputLimit
	// WriteTimeout is how long a client may take to accept 256 KiB of replies
	// before it is disconnected (default 30 s).
	WriteTimeout time.Duration
	// IdleTimeout is how long a client may be silent before it is disconnected, 0
	// for ever (the default, as in Redis).
	IdleTimeout time.Duration
	// LoginTimeout is how long a client may take to say who it is before it is disconnected, 0 for ever. Conn.Stranger says who has to.
	LoginTimeout time.Duration
	// HandshakeTimeout is how long a handshake of TLS may take (default 5 s).
	HandshakeTimeout time.Duration
	// Logger gets what an operator should know (default: nothing is logged).
	Logger *slog.Logger

	patience time.Duration // gatePatience, unless a test must not depend on it
}

func (c Config) withDefaults() Config {
	if c.MaxClients <= 0 {
		c.MaxClients = 10000
	}
	if c.ClientMemory <= 0 {
		c.ClientMemory = 1 << 30
	}
	if c.OutputLimit == (OutputLimit{}) {
		c.OutputLimit.Hard = 256 << 20
	}
	c.OutputLimit.Hard = max(c.OutputLimit.Hard, 0)
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.HandshakeTimeout <= 0 {
		c.HandshakeTimeout = 5 * time.Second
	}
	if c.patience <= 0 {
		c.patience = gatePatience
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
