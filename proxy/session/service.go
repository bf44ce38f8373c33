package session

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// Config is what sessions are told of by whoever runs the proxy. Zero values mean the defaults that are given with each field.
type Config struct {
	// Limits cap what one command may hold (defaults as in resp.Limits).
	Limits resp.Limits
	// Password, if not empty, is what clients must give with AUTH or HELLO before
	// anything else: it is that of the user "default", as long as neither an ACL file nor the cluster has a user of that name.
	Password string
	// UserFile, if there is one, has the users. Those of the cluster are not used then.
	UserFile *UserFile
	// CertificateUsers has a client with a certificate whose common name is that of an enabled user be that user from the beginning.
	CertificateUsers bool
	// OutputLimit is how many bytes of replies may wait for one client (default 256
	// MiB). KEYS is refused beyond it, and pipelines with large replies are executed
	// in smaller batches so that their replies stay below it.
	OutputLimit int
	// Topology, if not nil, makes the proxy one of a Redis Cluster's masters, to its clients.
	Topology Topology
	// ReplicaTopology is what clients are told that have come by a replica port (front.Conn.AtReplica); there is one beside Topology if there is such a port.
	ReplicaTopology Topology
	// Version is Quoll's version for INFO.
	Version string
	// Events are the classes of events of keys that nodes publish, until CONFIG SET.
	Events notify.Class
	// TrackedKeys is how many keys are tracked at most, until CONFIG SET (default: a million, which is also the most).
	TrackedKeys int
	// Noted is what is noted for people who look, until CONFIG SET (default: DefaultNoted).
	Noted *Noted
	// Rewrite writes parameters that CONFIG SET has changed to the file with the settings, for CONFIG REWRITE (default: there is no such file). It is called by one client at a time, which
	// waits for it. Its error is shown to the client.
	Rewrite func(changed []Parameter) error
	// Logger gets what an operator should know (default: nothing is logged).
	Logger *slog.Logger
}

// Service is what the sessions of all clients share: the settings, the cluster behind them, and what is counted.
type Service struct {
	cfg        Config
	cluster    route.Cluster
	stats      Stats
	started    time.Time
	runID      string
	loaded     atomic.Bool // the cluster is there, or was once
	attacks    attacks
	waiting    waitingRooms
	tracked    trackedKeys
	broadcasts broadcasts
	scripts    scripts
	// functions are those of the cluster.
	functions   functions
	look        look
	config      settings
	nodes       nodesMemory
	subscribers *subscribers
	users       users
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
	s := &Service{cfg: cfg, cluster: cluster, started: time.Now(), runID: hex.EncodeToString(id), subscribers: newSubscribers()}
	if cfg.Noted == nil {
		noted := DefaultNoted()
		cfg.Noted = &noted
	}
	s.look.init(cfg.Noted)
	s.config.init(cfg.OutputLimit, cfg.Noted)
	s.tracked.most = cfg.TrackedKeys
	cluster.Listen(s.subscribers.hear)
	s.startUsers()
	if cfg.Events != 0 {
		_ = s.askForEvents(cfg.Events) // nodes are told when they are connected
	}
	return s
}

// Stats returns what is counted, which goes on.
func (s *Service) Stats() *Stats { return &s.stats }
