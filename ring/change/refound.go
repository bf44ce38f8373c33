package change

import (
	"fmt"
	"math"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Refound returns the document that the group begins with that is founded again, because a majority of those who decided is gone for good. What they decided
// last nobody may know any more, and whoever comes back after all may know of it. So the version is far above anything that they can have come to, and every slot is
// in a new epoch, held by the same members as before: what is said in another one is refused, by whomever. Slots that are joint are their old members' (R18.7).
//
// jump is a random number, so that two who do this at the same time get different versions: the higher one is the ring's then. by says who it was, without
// names who is gone, for the history.
func Refound(d Document, jump uint32, by string, now int64, without []string) (Document, error) {
	if d.Version >= math.MaxUint64-2*refoundStep {
		return d, ErrFull
	}
	e := &edit{Document: d, by: by, now: now}
	e.Version = (d.Version/refoundStep+1)*refoundStep + uint64(jump)/2
	e.Refounded = e.Version
	e.giveUp(func(Progress) bool { return true })
	for slot := range uint16(ring.Slots) {
		e.slot(slot)
	}
	e.members()
	e.stage(e.Staged)
	if e.Plan != nil {
		e.plan().MovesAt = e.Version
	}
	e.note("founds the group anew that decides on the ring, without %s", andOthers(without))
	e.finish()
	return e.Document, nil
}

// refoundStep is more than the versions that a group ever decides: one each millisecond for a month. Half of it is left to those that come after a jump.
const refoundStep = 1 << 32

// andOthers names the first few.
func andOthers(names []string) string {
	const most = 8
	text := ""
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d others", more)
	}
	return text
}

// Endangered is what is lost, or may be, if nobody comes back who is not alive.
type Endangered struct {
	// Minority are the slots of which fewer than a majority of the replicas are alive: what only the others knew is lost. Gone are those of which none is.
	Minority, Gone []uint16
}

// Losses returns what is endangered. A life that is lost is not alive, whatever alive says.
func (d Document) Losses(alive func(id uint16) bool) (l Endangered) {
	for slot := range uint16(len(d.Slots)) {
		replicas := d.Slots[slot].Replicas
		dead := func(id uint16) bool { return !d.isAlive(id, alive) }
		switch {
		case !slices.ContainsFunc(replicas, func(id uint16) bool { return !dead(id) }):
			l.Gone = append(l.Gone, slot)
		case tooFew(replicas, dead):
			l.Minority = append(l.Minority, slot)
		}
	}
	return l
}
