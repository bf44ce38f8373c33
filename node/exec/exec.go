package exec

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/node/script"
)

// Options say how an Executor executes.
type Options struct {
	// OperationTimeout is how long proxies wait for an operation, and SlowTimeout how long if nodes are behind with their work.
	OperationTimeout, SlowTimeout time.Duration
	// ScriptTime is how long a script may run, five seconds if it is zero.
	ScriptTime time.Duration
	// Awake is for how long the process has not been stopped.
	Awake func() time.Duration
	// MaxPending bounds the bytes of the requests that homes work on.
	MaxPending int64
	// ManyRequests is how many bytes may wait for peers: 32 MiB. Connections take what is under way on top of it.
	ManyRequests int
	Metrics      *metrics.Node
	// Clients is how many clients subscribe to a channel, if scripts can publish.
	Clients func(shard bool, channel []byte) uint64
	// Logger gets what scripts log. It may be nil.
	Logger *slog.Logger
}

// manyRequests is the default of Options.ManyRequests. What is under way comes on top, up to MaxQueued.
const manyRequests = 32 << 20

// MaxQueued is how many bytes wait on a connection at most. Beyond it requests are dropped, and connections cut.
const MaxQueued = 256 << 20

// MaxInFlight bounds the requests that a node works on.
const MaxInFlight = 1 << 18

// Executor executes what proxies ask for. Any goroutine may use it.
type Executor struct {
	opt   Options
	host  *replica.Host
	peers *peer.Set
	lend  func(*command.Request) // host.Lend, made once

	scripts   scripts
	libraries cache[script.Library]
	users     cache[acl.User]
	running   running
	lengthy   lengthyReads
}

// New returns an Executor of a node's replicas.
func New(host *replica.Host, peers *peer.Set, opt Options) *Executor {
	if opt.ManyRequests == 0 {
		opt.ManyRequests = manyRequests
	}
	opt.ScriptTime = cmp.Or(opt.ScriptTime, scriptTime)
	return &Executor{opt: opt, host: host, peers: peers, lend: host.Lend, lengthy: lengthyReads{turns: make(chan struct{}, mostLengthy)}}
}

// Busy reports whether there is so much to do that nothing should be added to it in the background.
func (e *Executor) Busy() bool { return e.host.InFlight() > MaxInFlight/2 }

// Session is what a connection needs to execute operations. The zero value is ready. It belongs to the goroutine that reads the connection.
type Session struct {
	// Pieces: who is connected takes long replies in pieces.
	Pieces bool

	group    replica.Group // that is being executed
	room     int           // for replies, in bytes
	reply    []byte
	lengthy  lengthyQueue
	ops      [replica.GroupSize]protocol.Op
	requests [replica.GroupSize]*register.Request // reserved for them; what one group does not need is there for the next
}
