package replica

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/watch"
)

// Options are what a Host works with.
type Options struct {
	// Engine stores the records. The Host does not close it.
	Engine engine.Engine
	// Peers are the nodes that hold the other replicas. They have all been added before the first round begins.
	Peers *peer.Set
	// Timing says how long homes wait.
	Timing register.Timing
	// MaxValue and MaxCollection are the lengths in bytes that no command makes a value or a collection exceed.
	MaxValue, MaxCollection int
	// Now is the time that decides what has expired, in Unix milliseconds, and Mono a monotonic clock in milliseconds, above zero.
	Now, Mono func() int64
	// Random are random numbers, nil for others each time. It must be safe to be used by several goroutines.
	Random  *rand.Rand
	Metrics *metrics.Node
	Logger  *slog.Logger
	// Events are told to whoever wants to hear of them, nil for nobody.
	Events Events
	// Watched are the keys that proxies want to hear of, nil for none.
	Watched *watch.Table
}

// Node is what a Host needs of the node whose replicas it holds. Slots may be locked when it is called.
type Node interface {
	// StorageFailed tells it that the store has failed: nothing is said any more of what it holds.
	StorageFailed(err error)
	// Damaged tells it that a slot cannot be read, and does not vote until it is rebuilt. Rebuilding reports whether
	// that has been begun, maybe by a former process.
	Damaged(slot uint16, err error)
	Rebuilding(slot uint16) bool
	// StandIn returns the member other than one that led a slot when it found this node, 0 for none.
	StandIn(slot, except uint16) uint16
	// Missed notes what members have missed that are away. It is borrowed.
	Missed(missed []register.Missed)
	// Later tells it that somebody knows a version of the ring that it does not know yet: a member, 0 for a proxy.
	Later(member uint16, version uint64)
}

// Events are told when they have happened. Any goroutine may use it.
type Events interface {
	// Wanted are the classes of events that somebody wants to hear of.
	Wanted() notify.Class
	// Tell tells of events, as notify.Events goes through them. They are borrowed. Nobody is waited for.
	Tell(events []byte)
}

// Wanted are the classes of events that somebody wants to hear of.
func (h *Host) Wanted() notify.Class {
	if h.opt.Events == nil {
		return 0
	}
	return h.opt.Events.Wanted()
}

// Host holds this node's replicas of slots. Any goroutine may use it.
type Host struct {
	// Space is what the node knows of the room in its engine, and Commits of how the engine's go on.
	Space   Space
	Commits Commits

	opt        Options
	node       Node
	engine     engine.Engine
	store      store // the engine, for the replicas
	peers      *peer.Set
	prefetcher prefetcher      // the engine, if it can; nil otherwise
	evicting   engine.Evicting // the engine, if it is one; nil otherwise
	instant    bool            // the engine is an engine.Instant
	unique     uint64          // makes incarnations unique per process start

	away     evaluations
	stripes  [stripes]Stripe
	ticks    int // Tick's
	pool     sync.Pool
	rounds   atomic.Int64 // that have begun, and whose messages have not all left
	inFlight atomic.Int64 // requests that are not answered,
	pending  atomic.Int64 // and their bytes

	closed  atomic.Uint64         // how often a slot was closed
	view    atomic.Pointer[View]  // nil until the cluster has formed
	failed  atomic.Bool           // the store failed,
	failure atomic.Pointer[error] // with this error
	leaving atomic.Bool           // the node is ending
	slow    atomic.Bool           // most others find it slow
}

// New returns a Host, which votes for no slot until Enter.
func New(node Node, opt Options) *Host {
	opt.Random = cmp.Or(opt.Random, unpredictable)
	h := &Host{opt: opt, node: node, engine: opt.Engine, store: store{Engine: opt.Engine}, peers: opt.Peers, unique: opt.Random.Uint64() >> 16}
	h.store.watched = cmp.Or(opt.Watched, new(watch.Table))
	h.Space.engine, h.Space.log = opt.Engine, opt.Logger
	h.prefetcher, _ = opt.Engine.(prefetcher)
	h.evicting, _ = opt.Engine.(engine.Evicting)
	_, h.instant = opt.Engine.(engine.Instant)
	for i := range h.stripes {
		h.stripes[i].host = h
	}
	h.pool.New = func() any { return h.newRound() }
	return h
}

// anyNumber is a source of numbers that differ each time, for all goroutines.
type anyNumber struct{}

func (anyNumber) Uint64() uint64 { return rand.Uint64() }

var unpredictable = rand.New(anyNumber{})

// Enter lets the node vote in a ring. Learn tells it of later versions.
func (h *Host) Enter(v *View) {
	h.view.Store(v)
	round := h.Begin()
	for i := range h.stripes {
		s := h.Lock(uint16(i), round)
		s.openJoined(i, v, 0)
		s.Unlock()
	}
	round.Flush()
}

// View is the ring that the node votes in, nil until there is one.
func (h *Host) View() *View { return h.view.Load() }

// InFlight is how many requests homes have not answered, and Pending of how many bytes they are.
func (h *Host) InFlight() int64 { return h.inFlight.Load() }

// Pending is how many bytes the requests have that homes have not answered.
func (h *Host) Pending() int64 { return h.pending.Load() }

// Rounds is how many rounds have begun whose messages have not all left.
func (h *Host) Rounds() int64 { return h.rounds.Load() }

// SetLeaving has homes give their slots away, for good: the node is ending.
func (h *Host) SetLeaving() { h.leaving.Store(true) }

// SetSlow has homes give their slots away, because the others find this node slow, or ends that. It returns what was before.
func (h *Host) SetSlow(is bool) (was bool) { return h.slow.Swap(is) }

// Slow reports whether homes give their slots away because this node is slow.
func (h *Host) Slow() bool { return h.slow.Load() }

// Pause is for how long the engine asks to be given nothing more to do.
func (h *Host) Pause() time.Duration { return h.engine.Pause() }

// incarnation returns one for a home that is opened. It is another one for each time that a slot is opened again.
func (h *Host) incarnation(self uint16) uint64 {
	return record.NewIncarnation(h.unique+h.closed.Load(), self)
}
