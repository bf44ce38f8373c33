package node

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// slotLooks is how often a slot has to differ, at looks that are a tenth of settling apart.
const slotLooks = 3

// slots returns the slots of the request that this node is responsible for, the peer is a
// replica of, and of which the two hold different records at every one of some looks; and how many were
// compared. Two nodes never look at one moment. So while clients write everywhere, many slots differ of which
// nothing was missed, and hardly ever again at the next look. One of which something was missed always
// does, and to look at it again takes much less than to list its keys.
func (c *comparison) slots(ctx context.Context) (differing []uint16, compared int, err error) {
	theirs := new([ring.Slots]protocol.SlotDigest)
	differing, compared, err = c.lookAtSlots(ctx, c.only, theirs)
	for look := 1; look < slotLooks && err == nil && len(differing) > 0; look++ {
		if !sleep(ctx, c.settling/10) {
			return nil, 0, ctx.Err()
		}
		differing, _, err = c.lookAtSlots(ctx, differing, theirs)
	}
	return differing, compared, err
}

// lookAtSlots returns which slots of the request differ now, and how many were compared: of some only, nil
// for all. What the peer holds is asked for, into theirs.
func (c *comparison) lookAtSlots(ctx context.Context, only []uint16, theirs *[ring.Slots]protocol.SlotDigest) (differing []uint16, compared int, err error) {
	if err := c.peer.digests(ctx, theirs); err != nil {
		return nil, 0, err
	}
	table := c.view.table
	for i := int(c.request.First); i <= int(c.request.Last); i++ {
		number := uint16(i)
		if only != nil && !isOne(only, number) || !table.Contains(number, c.view.self) || !table.Contains(number, c.peer.id) {
			continue
		}
		mine, responsible, err := c.digest(number)
		switch {
		case err != nil:
			c.node.unreadable(number, err)
			c.progress.Unreadable.Add(1)
		case !responsible:
		case theirs[number].Unreadable:
			c.progress.Unreadable.Add(1)
		default:
			compared++
			if mine != theirs[number].Digest {
				differing = append(differing, number)
			}
		}
	}
	return differing, compared, nil
}

// isOne reports whether a slot is one of some, which are sorted.
func isOne(slots []uint16, number uint16) bool {
	_, found := slices.BinarySearch(slots, number)
	return found
}

// digest returns what this node's replica holds of a slot, and whether it is this node that
// has to compare it.
func (c *comparison) digest(number uint16) (digest uint64, responsible bool, err error) {
	st := c.node.lock(number, nil)
	defer st.unlock()
	if !c.node.responsible(c.view, st, number) {
		return 0, false, nil
	}
	stats, err := c.node.engine.Stats(number)
	return stats.Root(), true, err
}

// suspects returns the keys of what is asked for of which the peer holds another version than this
// node, and where to go on. Only versions travel.
func (c *comparison) suspects(ctx context.Context, request protocol.ScanRequest) ([]suspect, protocol.Place, error) {
	mine, err := c.node.scan(c.view, request)
	if err != nil {
		return nil, request.From, err
	}
	theirs, err := c.peer.scan(ctx, request)
	if err != nil {
		return nil, request.From, err
	}
	c.node.repairs.listed.Add(int64(len(mine.Entries) + len(theirs.Entries)))
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
	add := func(e *protocol.ScanEntry, theirs record.Version) {
		found = append(found, suspect{SlotKey: protocol.SlotKey{Slot: e.Place.Slot(), Key: bytes.Clone(e.Key)}, theirs: theirs})
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
				add(&here[i], record.Version{})
			} else if other.Version != here[i].Version {
				add(other, other.Version)
			}
		}
		for i := range there {
			if entryOf(here, there[i].Key) == nil {
				add(&there[i], there[i].Version)
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

// repairCall bounds the time that a peer has for an answer: one that has just been started may have to count first.
const repairCall = time.Minute

// digests asks a peer for the digests of its slots.
func (p *peer) digests(ctx context.Context, digests *[ring.Slots]protocol.SlotDigest) error {
	payload, err := p.ask(ctx, protocol.MethodDigests, nil)
	if err != nil {
		return err
	}
	return protocol.DecodeSlotDigests(payload, digests)
}

// scan asks a peer for the keys and versions of its records from a place on.
func (p *peer) scan(ctx context.Context, request protocol.ScanRequest) (protocol.ScanPage, error) {
	method, payload := protocol.MethodScan, protocol.AppendScanRequest(nil, request)
	if len(request.Leaves) > 0 {
		method, payload = protocol.MethodScanLeaves, protocol.AppendScanLeavesRequest(nil, request)
	}
	payload, err := p.ask(ctx, method, payload)
	if err != nil {
		return protocol.ScanPage{}, err
	}
	page, err := protocol.DecodeScanPage(payload)
	if err == nil {
		err = page.Check(request)
	}
	return page, err
}

// versions asks a peer which versions it holds of keys.
func (p *peer) versions(ctx context.Context, keys []protocol.SlotKey) ([]record.Version, error) {
	payload, err := p.ask(ctx, protocol.MethodVersions, protocol.AppendVersionsRequest(nil, keys))
	if err != nil {
		return nil, err
	}
	return protocol.DecodeVersions(payload, len(keys))
}

func (p *peer) ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, repairCall)
	defer cancel()
	return p.caller.Call(ctx, method, payload)
}
