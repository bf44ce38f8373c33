package proxy

import (
	"log/slog"
	"time"

	"github.com/quolldb/quoll/internal/resp"
)

// ServerConfig is how a Server treats its clients. Zero values mean the defaults
// that are given with each field.
type ServerConfig struct {
	// Limits cap what one command may hold (defaults as in resp.Limits).
	Limits resp.Limits
	// MaxClients is the most connections at a time (default 10000).
	MaxClients int
	// Password, if not empty, is what clients must give with AUTH or HELLO before
	// anything else. There is one user, called default.
	Password string
	// OutputLimit is how many bytes of replies may wait for one client (default 256
	// MiB). KEYS is refused beyond it, and pipelines with large replies are executed
	// in smaller batches so that their replies stay below it.
	OutputLimit int
	// ClientMemory bounds what all clients together make the server hold: of commands that are sent by halves, and of replies
	// that are not taken (default 1 GiB). Beyond it the client with the most is disconnected, as by Redis' maxmemory-clients.
	ClientMemory int64
	// WriteTimeout is how long a client may take to accept 256 KiB of replies
	// before it is disconnected (default 30 s).
	WriteTimeout time.Duration
	// IdleTimeout is how long a client may be silent before it is disconnected, 0
	// for ever (the default, as in Redis).
	IdleTimeout time.Duration
	// Version is Quoll's version for INFO.
	Version string
	// Logger gets what an operator should know (default: nothing is logged).
	Logger *slog.Logger

	patience time.Duration // gatePatience, unless a test must not depend on it
}

func (c ServerConfig) withDefaults() ServerConfig {
	if c.MaxClients <= 0 {
		c.MaxClients = 10000
	}
	if c.OutputLimit <= 0 {
		c.OutputLimit = 256 << 20
	}
	if c.ClientMemory <= 0 {
		c.ClientMemory = 1 << 30
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.patience <= 0 {
		c.patience = gatePatience
	}
	if c.Version == "" {
		c.Version = "unknown"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
