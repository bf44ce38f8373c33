package repair

import (
	"bytes"
	"context"
	"slices"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

const (
	// slotLooks is how often a slot has to differ, at looks that are a tenth of settling apart.
	slotLooks = 3
	// slotsAtOnce is how many slots are looked at without a pause, in which a node does nothing else if it has one
	// processor: for some tenths of a millisecond.
	slotsAtOnce = 1024
)

// slots returns the slots of the request that this node is responsible for, the peer is a
// replica of, and of which the two hold different records at every one of some looks; and how many were
// compared. Two nodes never look at one moment. So while clients write everywhere, many slots differ of which
// nothing was missed, and hardly ever again at the next look. One of which something was missed always
// does, and to look at it again takes much less than to list its keys.
func (c *comparison) slots(ctx context.Context) (differing []uint16, compared int, err error) {
	differing, compared, err = c.lookAtSlots(ctx, c.shared())
	for look := 1; look < slotLooks && err == nil && len(differing) > 0; look++ {
		if !clock.Sleep(ctx, c.settling/10) {
			return nil, 0, ctx.Err()
		}
		differing, _, err = c.lookAtSlots(ctx, differing)
	}
	return differing, compared, err
}

// shared returns the slots of the request of which both this node and the peer are replicas.
func (c *comparison) shared() (slots []uint16) {
	for i := int(c.request.First); i <= int(c.request.Last); i++ {
		number := uint16(i)
		if (c.only == nil || isOne(c.only, number)) && c.compares(number) && c.table.Contains(number, c.peer.ID()) {
			slots = append(slots, number)
		}
	}
	return slots
}

// compares reports whether this node may compare a slot. One that is joint is left alone: who comes to it has yet to collect it, and a home writes what is not
// agreed (R18).
func (c *comparison) compares(number uint16) bool {
	return c.table.Contains(number, c.self) && c.table.Next(number) == nil
}

// changed reports whether a slot has changed since the comparison began: what nodes hold in two epochs of a slot is not compared.
func (c *comparison) changed(number uint16) bool {
	table, _ := c.node.Ring()
	return table == nil || table.Epoch(number) != c.table.Epoch(number)
}

// isOne reports whether a slot is one of some, which are sorted.
func isOne(slots []uint16, number uint16) bool {
	_, found := slices.BinarySearch(slots, number)
	return found
}

// lookAtSlots returns which of some slots differ now, and how many were compared.
func (c *comparison) lookAtSlots(ctx context.Context, slots []uint16) (differing []uint16, compared int, err error) {
	for some := range slices.Chunk(slots, slotsAtOnce) {
		mine := c.digests(some)
		theirs, err := askDigests(ctx, c.peer, c.table.Version(), mine)
		if err != nil {
			return nil, 0, err
		}
		for i := range mine {
			if theirs[i].Changed {
				c.unsure++
				continue
			}
			if mine[i].Unreadable || theirs[i].Unreadable {
				c.progress.Unreadable.Add(1)
				c.unsure++
				continue
			}
			compared++
			if mine[i].Digest != theirs[i].Digest {
				differing = append(differing, mine[i].Slot)
			}
		}
	}
	return differing, compared, nil
}

// digests returns what this node's replicas hold of those of some slots that it has to compare.
func (c *comparison) digests(slots []uint16) []protocol.SlotDigest {
	digests := make([]protocol.SlotDigest, 0, len(slots))
	for _, number := range slots {
		digest, responsible, err := c.digest(number)
		if err != nil {
			c.node.Unreadable(number, err)
		}
		if responsible {
			digests = append(digests, protocol.SlotDigest{Slot: number, Digest: digest, Unreadable: err != nil})
		}
	}
	return digests
}

// digest returns what this node's replica holds of a slot, and whether it is this node that
// has to compare it.
func (c *comparison) digest(number uint16) (digest uint64, responsible bool, err error) {
	slots := c.node.Lock(number)
	defer slots.Unlock()
	if c.changed(number) || !slots.Responsible(number) {
		return 0, false, nil
	}
	stats, err := slots.Stats(number)
	return stats.Root(), true, err
}

// suspects returns the keys of what is asked for of which the peer holds another version than this
// node, and where to go on. Only versions travel.
func (c *comparison) suspects(ctx context.Context, request protocol.ScanRequest) ([]suspect, protocol.Place, error) {
	mine, err := c.node.List(request)
	if err != nil {
		return nil, request.From, err
	}
	theirs, err := askList(ctx, c.peer, request)
	if err != nil {
		return nil, request.From, err
	}
	c.repairer.listed.Add(int64(len(mine.Entries) + len(theirs.Entries)))
	until := min(mine.Next, theirs.Next)
	return appendSuspects(nil, before(mine.Entries, until), before(theirs.Entries, until)), until, nil
}

// before returns the entries whose place is before one.
func before(entries []protocol.ScanEntry, until protocol.Place) []protocol.ScanEntry {
	for len(entries) > 0 && entries[len(entries)-1].Place >= until {
		entries = entries[:len(entries)-1]
	}
	return entries
}

// appendSuspects appends what differs between two sorted lists of the same range. The keys
// are copied. Keys of one place come in any order.
func appendSuspects(found []suspect, mine, theirs []protocol.ScanEntry) []suspect {
	add := func(e *protocol.ScanEntry, theirs, mine record.Version) {
		found = append(found, suspect{SlotKey: protocol.SlotKey{Slot: e.Place.Slot(), Key: bytes.Clone(e.Key)}, theirs: theirs, mine: mine})
	}
	for len(mine) > 0 || len(theirs) > 0 {
		at := protocol.EndPlace
		for _, list := range [][]protocol.ScanEntry{mine, theirs} {
			if len(list) > 0 {
				at = min(at, list[0].Place)
			}
		}
		var here, there []protocol.ScanEntry
		here, mine = cut(mine, at)
		there, theirs = cut(theirs, at)
		for i := range here {
			if other := entryOf(there, here[i].Key); other == nil {
				add(&here[i], record.Version{}, here[i].Version)
			} else if other.Version != here[i].Version {
				add(other, other.Version, here[i].Version)
			}
		}
		for i := range there {
			if entryOf(here, there[i].Key) == nil {
				add(&there[i], there[i].Version, record.Version{})
			}
		}
	}
	return found
}

// cut splits the entries of a place off a list.
func cut(entries []protocol.ScanEntry, at protocol.Place) (first, rest []protocol.ScanEntry) {
	n := 0
	for n < len(entries) && entries[n].Place == at {
		n++
	}
	return entries[:n], entries[n:]
}

func entryOf(entries []protocol.ScanEntry, key []byte) *protocol.ScanEntry {
	for i := range entries {
		if bytes.Equal(entries[i].Key, key) {
			return &entries[i]
		}
	}
	return nil
}
