package replica

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/register"
)

// Operations in the background are those that no client asked for: the node gives them to its homes, which execute
// them by the rules of all others.
const (
	// OpExpire deletes a key that is not there, or has expired, and leaves a live one alone. To
	// delete what is not there brings replicas up to date that missed the deletion; they would find
	// the key for ever.
	OpExpire command.Op = 1<<15 + iota
	// OpEvict deletes a key that still has the version that was chosen to go (command.Request.Of). One that was written since stays.
	OpEvict
	// OpRepair writes what is there once more, be it a deletion: all replicas hold it then.
	OpRepair
)

// executeExpire runs OpExpire.
func executeExpire(st record.State) record.Effect {
	if st.Live() {
		return record.Effect{}
	}
	return record.Effect{Kind: record.Replaced}
}

// The replies of OpEvict.
var (
	evicted = resp.AppendInt(nil, 1)
	kept    = resp.AppendInt(nil, 0)
)

// evict runs OpEvict.
func evict(dst []byte, st record.State, req *command.Request) ([]byte, record.Effect) {
	start, told := len(dst), notify.List{Wanted: req.Events}
	switch {
	case req.Expired: // the home deletes it for that, whatever its version
		told.Add(notify.Expired, "expired", req.Args[1])
		return told.Before(append(dst, kept...), start), record.Effect{}
	case req.Stale || !st.Live():
		return append(dst, kept...), record.Effect{}
	}
	told.Add(notify.Evicted, "evicted", req.Args[1])
	return told.Before(append(dst, evicted...), start), record.Effect{Kind: record.Replaced}
}

// Background gives one to the home of a slot. It calls answered once, maybe before it returns: whether the operation
// was executed, as far as is known. The stripe is locked.
func (s *Stripe) Background(number uint16, op command.Op, key []byte, answered func(done bool)) {
	s.background(number, &command.Request{Op: op, Args: [][]byte{nil, key}}, answered)
}

// Evict has the home of a slot delete a key that has a version, and calls answered as Background does: whether the key has gone by it. The stripe is locked.
func (s *Stripe) Evict(number uint16, key []byte, version record.Version, answered func(gone bool)) {
	s.background(number, &command.Request{Op: OpEvict, Args: [][]byte{nil, key}, Of: version}, answered)
}

func (s *Stripe) background(number uint16, cmd *command.Request, answered func(done bool)) {
	h := s.host
	sl, err := s.Slot(number)
	if err != nil || h.Refusal(sl, false, false) != register.ReasonNone {
		answered(false)
		return
	}
	r := register.NewRequest(cmd, answered, 0, s.round.in.Mono)
	r.Tell(h.Wanted())
	except := uint16(0)
	leader := sl.home.Leader(s.round.in.Mono)
	switch p := h.peers.Of(leader); {
	case sl.Leads() || h.reclaims(sl): // it is no reason to hand the slot back
		except = register.AllOthers
	case p == nil && leader != s.self(), p != nil && p.Gone(h.opt.Mono()):
		except = leader
	}
	s.Give(number, sl, r, except)
}

// reclaims reports whether a slot is this node's to lead and whoever led it meanwhile has had the
// time to hand it back. Nobody tells this node when that happens, but for clients that it sends: without
// any, operations in the background would be turned away for ever, to a node that does not lead the slot any more.
func (h *Host) reclaims(sl *Slot) bool {
	config := sl.home.Config()
	if config.Preferred() != h.view.Load().Self {
		return false
	}
	for _, id := range config.Members() {
		if p := h.peers.Of(id); p != nil && p.Alive() && !p.HandedBack(h.opt.Mono()) {
			return false
		}
	}
	return true
}

// Responsible reports whether this node is the one to do what a slot needs in the background: it leads the slot,
// or is the first replica that is alive. The stripe is locked.
func (s *Stripe) Responsible(number uint16) bool {
	return s.Readable(number) == nil && (s.Leads(number) || s.host.FirstAlive(s.host.view.Load().Table.Replicas(number)))
}

// FirstAlive reports whether this node is the first of some replicas that is alive.
func (h *Host) FirstAlive(replicas []uint16) bool {
	self := h.view.Load().Self
	for _, id := range replicas {
		if h.alive(id, self) {
			return id == self
		}
	}
	return false
}
