package node

import (
	"errors"
	"slices"
	"sync"

	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// stripes is the number of locks that the slots share.
const stripes = 256

// stripe is the lock for some of the slots. While it is held, out gathers what
// their homes send.
type stripe struct {
	node *Node
	mu   sync.Mutex
	out  *outbox

	slots  [ring.Slots / stripes]*slot // by number / stripes, nil until used
	active []*slot                     // homes that need ticks
}

// slot is one replica of a slot, and its home in this process, in one piece of
// memory: what a write touches of it is near together.
type slot struct {
	acceptor register.Acceptor
	home     register.Home
	err      error // the store failed for it: it does not vote any more
	listed   bool  // in stripe.active
}

// errNotReplica is returned for slots that the ring does not give to this node.
var errNotReplica = errors.New("node: not a replica of the slot")

// lock locks the stripe of a slot; what its home sends goes to out.
func (n *Node) lock(number uint16, out *outbox) *stripe {
	s := &n.stripes[number%stripes]
	s.mu.Lock()
	s.out = out
	return s
}

func (s *stripe) unlock() {
	s.out = nil
	s.mu.Unlock()
}

// slot returns a slot, opened on first use. The stripe is locked.
func (s *stripe) slot(number uint16) (*slot, error) {
	if number >= ring.Slots {
		return nil, errNotReplica
	}
	if sl := s.slots[number/stripes]; sl != nil {
		return sl, sl.err
	}
	v := s.node.view.Load()
	if v == nil || !v.table.Contains(number, v.self) {
		return nil, errNotReplica
	}
	sl := new(slot)
	s.slots[number/stripes] = sl
	sl.acceptor, sl.err = register.NewAcceptor(number, s.node.engine, datatype.Apply)
	if sl.err != nil {
		s.node.storageFailed(sl.err)
		return nil, sl.err
	}
	sl.home = register.NewHome(s, &s.node.timing, number, v.self, s.node.incarnation(v.self), v.config(number), &sl.acceptor)
	return sl, nil
}

// touched keeps the list of homes that need ticks.
func (s *stripe) touched(sl *slot) {
	if !sl.listed && sl.home.Active() {
		sl.listed = true
		s.active = append(s.active, sl)
	}
	if err := sl.home.Err(); err != nil && sl.err == nil {
		sl.err = err
		s.node.storageFailed(err)
	}
}

// tick lets every active home look after what takes too long.
func (n *Node) tick() {
	out := n.getOutbox()
	for i := range n.stripes {
		s := &n.stripes[i]
		s.mu.Lock()
		s.out = out
		s.active = slices.DeleteFunc(s.active, func(sl *slot) bool {
			if sl.home.Active() {
				sl.home.Tick()
			}
			s.touched(sl)
			sl.listed = sl.home.Active()
			return !sl.listed
		})
		s.unlock()
	}
	out.flush()
}
