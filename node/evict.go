package node

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/replica"
)

// Keys go when memory is full, by Redis' policies. A node whose data come near their limit lets the homes that it leads delete keys: each is a write of exactly the version that was
// chosen (register/protocol.md, "Eviction"). It does so a little ahead of need, and all nodes that hold a slot have less when its home has evicted: so each evicts its homes' part of what
// is too much. A node that is over its limit all the same, for it leads few of its slots, tells those that do.

const (
	// evictStep is the time between steps, evictSoon the one when there is more to do, and evictRest the one while nothing is to be evicted.
	evictStep, evictSoon, evictRest = 5 * time.Millisecond, time.Millisecond, 100 * time.Millisecond
	// evictTime bounds how long a step takes, and evictOpen how many keys may be on their way out.
	evictTime = 4 * time.Millisecond
	evictOpen = 4096
	// evictTries is how often it is looked for a key in one step before the step ends.
	evictTries = 32
	// evictAhead is the part of the limit that is to be free.
	evictAhead = 64
)

// evictor evicts keys. It belongs to one goroutine, but for the answers.
type evictor struct {
	node   *Node
	engine engine.Evicting
	open   atomic.Int64 // keys that homes were asked to evict, and have not answered for,
	bytes  atomic.Int64 // and about how much memory they take

	random func(n uint64) uint64 // a random number below n
	policy eviction.Policy       // of what is in the pool
	pool   eviction.Pool
	lots   lots
	chosen []eviction.Candidate // that go next,
	group  replica.Group        // together
	owed   map[uint16]int64     // by peer: bytes that it wants evicted yet by the homes of this node
}

func newEvictor(n *Node, e engine.Evicting) *evictor {
	random := rand.Uint64N
	if n.opt.Random != nil {
		random = n.opt.Random.Uint64N
	}
	return &evictor{node: n, engine: e, random: random, owed: map[uint16]int64{}}
}

// run evicts keys until ctx ends.
func (e *evictor) run(ctx context.Context) {
	for rest := evictRest; clock.Sleep(ctx, rest); {
		if e.engine.Eviction().Policy == eviction.NoEviction {
			rest = evictRest
			continue
		}
		if rest = evictStep; e.step() {
			rest = evictSoon
		}
	}
}

// step evicts what has to go now, or begins to. It reports whether there is more to do.
func (e *evictor) step() (more bool) {
	n, settings := e.node, e.engine.Eviction()
	now := n.mono()
	e.engine.SetClock(eviction.ClockOf(now))
	v := n.replicas.View()
	if v == nil || n.replicas.Failed() {
		return false
	}
	if e.hear(); e.excess() <= 0 && len(e.owed) == 0 {
		return false
	}
	if settings.Policy != e.policy {
		e.pool.Clear()
		e.policy, e.lots = settings.Policy, lots{}
	}
	if e.lots.old(now) {
		e.lots = drawLots(n, e.engine, v, now)
		e.engine.SetExhausted(e.lots.held == 0)
	}
	round := n.replicas.Begin()
	defer round.Flush()
	if round.Full() {
		return false
	}
	begun := time.Now()
	need := e.need(v.Self)
	for ; need > 0 && e.open.Load() < evictOpen && time.Since(begun) < evictTime; need = e.need(v.Self) {
		if e.choose(need, settings, now); len(e.chosen) == 0 {
			return false
		}
		e.evict(v, settings, round)
	}
	return need > 0
}

// excess is by how much the data are more than they are to be.
func (e *evictor) excess() int64 {
	used, limit := e.engine.Memory()
	if limit == 0 {
		return 0
	}
	return used - limit + limit/evictAhead
}

// hear notes what peers have said of what is too much for them.
func (e *evictor) hear() {
	for _, p := range e.node.peers.All() {
		if excess := p.TakeExcess(); excess > 0 {
			e.owed[p.ID()] = int64(float64(excess) * e.lots.share(p.ID()))
		}
	}
}

// need is how many bytes the homes of this node have to evict yet.
func (e *evictor) need(self uint16) int64 {
	need := int64(float64(e.excess())*e.lots.share(self)) - e.bytes.Load()
	for id, owed := range e.owed {
		if need = max(need, owed); owed <= 0 {
			delete(e.owed, id)
		}
	}
	return need
}

// choose fills a group with keys that are to go next, of about so many bytes.
func (e *evictor) choose(need int64, settings *eviction.Settings, now int64) {
	clear(e.chosen)
	for e.chosen = e.chosen[:0]; need > 0 && len(e.chosen) < replica.GroupSize; {
		c, ok := e.chooseOne(settings, now)
		if !ok {
			return
		}
		e.chosen = append(e.chosen, c)
		e.lots.gone++
		need -= int64(c.Size)
	}
}

// chooseOne looks at some more keys, and returns the one that is to go next, if there is any.
func (e *evictor) chooseOne(settings *eviction.Settings, now int64) (eviction.Candidate, bool) {
	left := settings.Samples
	if settings.Policy.Random() {
		left = 1
	}
	for tries := 0; left > 0 && tries < evictTries; tries++ { // a slot may have few keys
		slot, ok := e.lots.pick(e.random)
		if !ok {
			break
		}
		left = e.sample(slot, left, settings, eviction.ClockOf(now))
	}
	return e.pool.Take()
}

// sample puts up to so many keys of a slot into the pool, and returns how many are left to be looked at.
func (e *evictor) sample(slot uint16, left int, settings *eviction.Settings, now eviction.Clock) int {
	st := e.node.replicas.Lock(slot, nil)
	defer st.Unlock()
	if !st.Responsible(slot) {
		return left
	}
	e.engine.Sample(slot, engine.Position(e.random(uint64(engine.EndPosition))), func(s engine.Sampled) bool {
		if rank := settings.Rank(s.Usage, s.ExpireAt, now); e.pool.Wants(rank) {
			e.pool.Add(eviction.Candidate{Slot: slot, Key: bytes.Clone(s.Key), Version: s.Version, Size: s.Size, Rank: rank})
		}
		left--
		return left > 0
	})
	return left
}

// evict has the keys deleted that were chosen.
func (e *evictor) evict(v *replica.View, settings *eviction.Settings, round *replica.Round) {
	h := e.node.replicas
	for i := range e.chosen {
		e.group.Add(e.chosen[i].Slot, e.chosen[i].Key, engine.UseWrite, true)
	}
	h.LockGroup(&e.group, round)
	defer h.UnlockGroup(&e.group)
	h.PrefetchKeys(&e.group)
	for i := range e.chosen {
		e.evictOne(&e.chosen[i], v, settings, round)
	}
}

// evictOne has one of them deleted, unless it has been used since. Its stripe is locked.
func (e *evictor) evictOne(c *eviction.Candidate, v *replica.View, settings *eviction.Settings, round *replica.Round) {
	if u, known := e.engine.Used(c.Slot, c.Key); known && settings.Rank(u, 0, eviction.ClockOf(round.Mono())) < c.Rank {
		return
	}
	size := int64(c.Size)
	e.open.Add(1)
	e.bytes.Add(size)
	for _, id := range v.Table.Members(c.Slot) {
		if _, wants := e.owed[id]; wants {
			e.owed[id] -= size
		}
	}
	e.node.replicas.Stripe(c.Slot).Evict(c.Slot, c.Key, c.Version, func(gone bool) {
		e.open.Add(-1)
		e.bytes.Add(-size)
		if gone {
			e.node.Metrics.Evicted.Inc()
		}
	})
}
