package register

import (
	"math"
	"unsafe"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/record"
)

// Env answers what a home asks in the course of a step. It does nothing else: what comes of a step is in its Ready.
type Env interface {
	// Rand returns a number in [0, n), to spread retries.
	Rand(n int64) int64
	// Alive reports whether a member is thought to answer. It touches liveness only.
	Alive(member uint16) bool
	// Behind reports whether a member, or this process, says that it is behind with its work, or has not
	// taken what was sent to it, and nothing that was sent to it from since (Mono) on was lost with a connection:
	// it is no use to send that again soon. It touches liveness only.
	Behind(member uint16, since int64) bool
	// Stable reports whether a member has been alive for so long that a slot may be
	// handed back to it.
	Stable(member uint16) bool
	// Leaving reports whether a member, or this process, is about to end, or slow: it begins nothing
	// that another member can do.
	Leaving(member uint16) bool
	// StandIn returns the member that leads the slot since this process came back, or should, other than the
	// one that is excepted; 0 if there is none or it is not known.
	StandIn(slot, except uint16) uint16
	// Execute runs a command on a state: see datatype.Execute. An error is one of the store, which cannot read all of the state that the command needs.
	Execute(dst []byte, st record.State, cmd *command.Request, now int64) ([]byte, record.Effect, error)
}

// Timing bounds what a home waits for, in milliseconds.
type Timing struct {
	Resend   int64 // unanswered messages are sent again after this
	Acquire  int64 // a Prepare without a quorum of answers is given up after this
	Patience int64 // both only after this, while those that have not answered are behind
	Backoff  int64 // the longest pause before a term is acquired again
	Request  int64 // a request is not kept longer than this
	Slow     int64 // but so long while a quorum is alive, if that is longer: it is only slow
	Linger   int64 // a tombstone waits this long for the acknowledgement of all members
	HandBack int64 // handing back a slot may take this long
	Large    int   // a state of so many bytes is sent again only to who says that it lacks it; 0: there is no such size
}

// DefaultTiming suits a local network and an operation time-out of one second.
func DefaultTiming() Timing {
	return Timing{Resend: 250, Acquire: 150, Patience: 5000, Backoff: 60, Request: 1500, Linger: 1000, HandBack: 200, Large: 64 << 10}
}

type phase uint8

const (
	idle phase = iota
	acquiring
	leading
)

// Home proposes writes of one slot, in terms that it acquires when there is work.
//
// The order of the fields is that of their use: what a write touches fills three lines of cache, see Prefetch.
type Home struct {
	config   *Config
	slot     uint16
	self     uint16
	phase    phase
	promises set
	refused  set
	counter  uint64 // the highest ballot counter used or seen
	ballot   record.Ballot
	seq      uint64
	round    uint64
	keys     keySet
	doubt    int         // requests in doubt, over all keys
	reads    int         // waiters that need a round, over all keys
	clear    *clearState // &noClear while there is none
	batches  *batches    // nil while there are none
	handing  int64       // since when the slot is being handed back, 0 if it is not
	env      Env
	in       *Moment // of the step that is being made,
	out      *Ready  // and what it brings about
	local    *Acceptor
	failed   error

	answered    []uint64 // highest round that each member answered, kept while reads wait for it
	lowest      uint64   // no read waits for an earlier round
	asked       uint64   // the round of the last Confirm of this term, 0 if there was none
	wanted      uint64   // the latest round that a read waits for which came while a Confirm was on its way: the next one is sent when that has been answered
	timing      *Timing
	incarnation uint64
	since       int64 // start of acquiring
	notBefore   int64 // do not acquire again before
	handedTo    uint16
	handedUntil int64      // requests are sent to handedTo until then
	keepUntil   int64      // do not try to hand back again before
	parked      []*Request // arrived while handing back: none while handing is 0
	batchOpen   bool       // somebody who promised this term knows of an open batch
	interrupted int        // so many terms in a row have ended before anything was answered
	oldest      int64      // when the oldest request arrived that was there at the last Tick, 0 if there was none
	reached     int64      // the last Tick at which a quorum was thought to answer
}

// NewHome returns the home of a slot in a process whose incarnation is unique to
// this start of it (R3). self is the process' member ID; local its replica of the slot.
// It is a value like an Acceptor.
func NewHome(env Env, timing *Timing, slot, self uint16, incarnation uint64, config *Config, local *Acceptor) Home {
	return Home{env: env, timing: timing, slot: slot, self: self, config: config, local: local,
		incarnation: incarnation, counter: local.meta.Promised.Counter, clear: &noClear}
}

// Err returns the error of the store that ended this home, if any.
func (h *Home) Err() error { return h.failed }

// Config returns the configuration that the home works under.
func (h *Home) Config() *Config { return h.config }

// Leading reports whether the home holds a term, as far as it knows.
func (h *Home) Leading() bool { return h.phase == leading }

// Claims is Leading, or about to.
func (h *Home) Claims() bool { return h.phase != idle }

// Slow reports whether a request has waited for long, as of the last Tick, and yet a quorum is alive, or was a moment ago: its answer will
// come. now is Moment.Mono.
func (h *Home) Slow(now int64) bool {
	return h.oldest != 0 && now-h.oldest > h.timing.Resend && h.hopeful(now)
}

// Deposed reports whether the own replica knows that the term of a leading home is over,
// which the home finds out when it has work.
func (h *Home) Deposed() bool { return h.lostTerm() }

// Active reports whether the home needs Tick.
func (h *Home) Active() bool {
	return h.phase == acquiring || h.keys.len() > 0 || h.clear.active() || h.handing != 0
}

// Prefetch brings near what most steps touch of the home.
func (h *Home) Prefetch() { prefetch.Span(unsafe.Pointer(h), unsafe.Offsetof(h.answered)) }

// PrefetchKey brings near what the home keeps of its only key with something in flight, as most
// that wait for replies have: after Prefetch. PrefetchRequest does so with the request, after PrefetchKey.
func (h *Home) PrefetchKey() {
	if len(h.keys.list) == 1 {
		prefetch.Of(h.keys.list[0])
	}
}

// PrefetchRequest is described at PrefetchKey.
func (h *Home) PrefetchRequest() {
	if len(h.keys.list) == 1 && len(h.keys.list[0].waiting) > 0 {
		prefetch.Of(h.keys.list[0].waiting[0].request)
	}
}

// AllOthers as Input.Except says that this home is to execute the request, whoever
// leads the slot. The number is part of the peer protocol.
const AllOthers uint16 = math.MaxUint16

// handleClient executes a request, now or later, or turns it away: see Input.
func (h *Home) handleClient(r *Request, except uint16) {
	r.arrived = h.round
	switch {
	case h.failed != nil:
		h.answer(r, Answer{Outcome: NotDone, Reason: StorageFailed})
	case h.config.index(h.self) < 0:
		h.answer(r, Answer{Outcome: NotDone, Reason: NotMember})
	case h.handing != 0:
		h.parked = append(h.parked, r)
	case h.phase == idle && h.in.Mono < h.notBefore:
		// Others of the same client may just have been turned away; this one must not
		// overtake them.
		h.answer(r, Answer{Outcome: NotDone, Reason: LostTerm})
	default:
		hint := h.betterHome(except)
		switch {
		case h.handing != 0:
			h.parked = append(h.parked, r)
		case hint != 0:
			h.turnAway(r, hint)
		case h.phase != leading && h.in.Full: // a term begins with a promise, which is a write
			h.noRoom(r)
		default:
			h.enqueue(r)
			if h.phase != leading {
				h.drive()
			}
		}
	}
}

// noRoom answers a request that cannot be executed without a write of the own replica,
// which is full. Another member may take the term and execute it.
func (h *Home) noRoom(r *Request) {
	h.count(NoRoom)
	h.answer(r, Answer{Outcome: r.undecided(), Reason: StorageFull})
}

func (h *Home) enqueue(r *Request) {
	if r.clear {
		c := h.clears()
		c.queue = append(c.queue, r)
		if h.phase == leading {
			h.advanceClear()
		}
		return
	}
	if r.run != nil {
		h.enqueueBatch(r)
		return
	}
	ks := h.key(r)
	if h.failed != nil { // looking the key up ended the home
		h.answer(r, Answer{Outcome: NotDone, Reason: StorageFailed})
		return
	}
	ks.queue = append(ks.queue, r)
	if h.phase == leading {
		h.advance(ks)
	}
}

// drive acquires a term if there is work, or evaluates what is queued.
func (h *Home) drive() {
	h.batches.lookAtAll()
	if h.failed != nil {
		return
	}
	if h.phase == idle && h.in.Mono >= h.notBefore && h.hasWork() && !h.in.Full {
		h.acquire()
	}
	if h.phase != leading {
		return
	}
	for _, ks := range h.keys.snapshot() {
		if h.phase == leading {
			h.advance(ks)
		}
	}
	h.advanceClear()
}

func (h *Home) hasWork() bool {
	if len(h.clear.queue) > 0 {
		return true
	}
	for _, ks := range h.keys.all() {
		if len(ks.queue)+len(ks.doubt) > 0 {
			return true
		}
	}
	return false
}

// lostTerm reports whether the own replica has promised a rival, or would have if there had
// been room, or adopted a newer epoch: nothing is proposed any more then.
func (h *Home) lostTerm() bool {
	return h.ballot.Less(h.local.rival()) || h.config.epoch < h.local.meta.Epoch
}

// acquire asks for a new term (R3).
func (h *Home) acquire() {
	h.counter = max(h.counter, h.local.rival().Counter) + 1
	h.ballot = record.Ballot{Counter: h.counter, Incarnation: h.incarnation}
	h.phase, h.since, h.seq = acquiring, h.in.Mono, 0
	h.promises, h.refused, h.answered, h.batchOpen, h.asked, h.wanted = 0, 0, nil, false, 0, 0
	h.handedUntil = 0
	h.broadcast(h.out.request(Prepare))
}

// count notes an event.
func (h *Home) count(e Event) { h.out.Events = append(h.out.Events, e) }

// broadcast starts a new round and sends a message, which may borrow, to all members.
func (h *Home) broadcast(x *Outgoing) {
	h.round++
	h.send(x, h.config.members)
}

// send sends a message, which may borrow, to some members: the own replica executes it as soon as the step is over.
func (h *Home) send(x *Outgoing, to []uint16) {
	x.To, x.Slot, x.From, x.Epoch, x.Ballot, x.Round = to, h.slot, h.self, h.config.epoch, h.ballot, h.round
	x.Key, x.State.Value, x.Delta = h.out.keep(x.Key), h.out.keepShort(x.State.Value), h.out.keepShort(x.Delta)
}

// observe notes the highest ballot seen (R3).
func (h *Home) observe(reply *Message) {
	h.counter = max(h.counter, reply.Promised.Counter)
}

// Fail ends the home: its store, or that of its replica, does not work. It adds to out what becomes of the requests.
func (h *Home) Fail(err error, out *Ready) {
	h.out = out
	h.fail(err)
	h.out = nil
}

func (h *Home) fail(err error) {
	if h.failed != nil {
		return
	}
	h.failed = err
	h.abandon(StorageFailed)
}

// learn adopts a newer configuration; a term does not survive an epoch (R15).
func (h *Home) learn(c *Config) {
	if c.epoch <= h.config.epoch {
		return
	}
	h.missedAll() // by those that were asked
	h.config = c
	if h.config.index(h.self) < 0 {
		h.abandon(EpochChanged)
		return
	}
	if h.phase != idle {
		h.giveUp()
		return
	}
	for _, ks := range h.keys.all() { // made for another number of members
		ks.held = make([]uint64, len(c.members))
	}
	if h.clear != &noClear {
		h.clear.acked = make([]uint64, len(c.members))
	}
}
