package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// What an error of the store ends: the vote of a slot whose data is damaged until it has been rebuilt
// (package rebuild), that of the whole node if anything else failed, nothing if there was only no room. What
// cannot be read is never taken for absent.

// fail acts on an error of the store about a slot. The stripe is locked.
func (s *stripe) fail(number uint16, sl *slot, err error) {
	switch {
	case errors.Is(err, register.ErrNoRoom):
		return
	case !errors.Is(err, engine.ErrCorrupt) && !errors.Is(err, register.ErrRebuilding):
		sl.err = err
		s.node.storageFailed(err)
	case sl.err == nil:
		sl.err = err
		s.node.rebuilds.Add(number, err)
		s.node.log.Error("the data of a slot is damaged; this node does not vote for it until it has copied all records of the "+
			"slot's other replicas, all of which have to be up; without others the data is lost: make a new cluster from a backup (quoll node restore)", "slot", number, "err", err)
	}
	if s.out != nil {
		sl.home.Fail(err, &s.out.ready)
		return
	}
	out := s.node.getOutbox()
	sl.home.Fail(err, &out.ready)
	out.act()
	out.flush()
}

// errKnown is wrapped by errors about a slot that were found before: it may be sound again by the time
// somebody acts on them.
var errKnown = errors.New("the slot is damaged")

// readable returns why a slot cannot be read, if that is known. The stripe is locked, and maybe the slot in the engine.
func (s *stripe) readable(number uint16) error {
	if sl := s.slots[number/stripes]; sl != nil {
		if sl.err != nil {
			return fmt.Errorf("%w: %w", errKnown, sl.err)
		}
		return nil
	}
	if s.node.rebuilds.Begun(number) {
		return register.ErrRebuilding
	}
	return nil
}

// damageReporter is what an engine may offer: to tell which slots it cannot read, when it finds that out by itself.
type damageReporter interface {
	ReportDamage(report func(slot uint16, err error))
}

// unreadable acts on an error that looking at all of a slot met.
func (n *Node) unreadable(number uint16, err error) {
	out := n.getOutbox()
	defer out.flush()
	st := n.lock(number, out)
	defer st.unlock()
	st.unreadable(number, err)
}

func (s *stripe) unreadable(number uint16, err error) {
	if errors.Is(err, errKnown) {
		return
	}
	if sl, known := s.slot(number); known == nil {
		s.fail(number, sl, err)
	}
}

// storeInterval is how often the node looks whether its data is still there.
const storeInterval = time.Second

// lookAtStore notices that what the node keeps on disk was deleted or replaced. The process could go on with files that have no
// name any more, and would acknowledge writes that are lost when it ends.
func (n *Node) lookAtStore() {
	if n.failed.Load() {
		return
	}
	err := n.engine.Present()
	gone := errors.Is(err, engine.ErrGone)
	if id := n.opt.Identity; err == nil && id != nil {
		err = id.Present()
		gone = err != nil
	}
	if gone {
		err = fmt.Errorf("%w: stop this node; if its files were moved, move them back and start it again, "+
			"but put back no copy of them, which would be older; if they are gone, this node has lost its state", err)
	}
	if err != nil && !errors.Is(err, engine.ErrClosed) {
		n.storageFailed(err)
	}
}

// storageFailed stops the node from voting: what its store says cannot be trusted any
// more. Whoever is connected connects again, and is told.
func (n *Node) storageFailed(err error) {
	if n.failure.CompareAndSwap(nil, &err) {
		n.failed.Store(true)
		n.log.Error("the store failed; this node does not vote any more", "err", err)
		n.conns.closeAll()
	}
}
