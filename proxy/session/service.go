package session

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// Config is what sessions are told of by whoever runs the proxy. Zero values mean the defaults that are given with each field.
type Config struct {
	// Limits cap what one command may hold (defaults as in resp.Limits).
	Limits resp.Limits
	// Password, if not empty, is what clients must give with AUTH or HELLO before
	// anything else. There is one user, called default.
	Password string
	// OutputLimit is how many bytes of replies may wait for one client (default 256
	// MiB). KEYS is refused beyond it, and pipelines with large replies are executed
	// in smaller batches so that their replies stay below it.
	OutputLimit int
	// Version is Quoll's version for INFO.
	Version string
	// Logger gets what an operator should know (default: nothing is logged).
	Logger *slog.Logger
}

// Service is what the sessions of all clients share: the settings, the cluster behind them, and what is counted.
type Service struct {
	cfg     Config
	cluster route.Cluster
	stats   Stats
	started time.Time
	runID   string
	loaded  atomic.Bool // the cluster is there, or was once
	attacks attacks
	scripts scripts
	// functions are those of the cluster.
	functions functions
	// large is held by whoever puts large collections together: their memory is needed once only.
	large sync.Mutex
}

// NewService returns a service whose sessions execute commands on the cluster.
func NewService(cfg Config, cluster route.Cluster) *Service {
	if cfg.OutputLimit <= 0 {
		cfg.OutputLimit = 256 << 20
	}
	cfg.Version = cmp.Or(cfg.Version, "unknown")
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	id := make([]byte, 20)
	rand.Read(id) // never fails
	return &Service{cfg: cfg, cluster: cluster, started: time.Now(), runID: hex.EncodeToString(id)}
}

// Stats returns what is counted, which goes on.
func (s *Service) Stats() *Stats { return &s.stats }
