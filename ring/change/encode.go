package change

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
)

// format is the first byte of every encoded document. Readers refuse others.
const format = 1

// Encode returns the whole document in bytes: it is the delta since version 0.
func (d Document) Encode() []byte {
	body := d.body(0)
	return binary.BigEndian.AppendUint64(body, hash(body))
}

// Digest returns a number that is the same for equal documents, on every machine,
// and most probably different for others.
func (d Document) Digest() uint64 { return hash(d.body(0)) }

// Since encodes what has changed since a version, for Update: the slots of later
// epochs, and members, staged changes, the plan's moves and events if they are later.
// A list of replicas is written once, and referred to where it comes again.
func (d Document) Since(version uint64) []byte { return d.SinceWith(version, d.Digest()) }

// SinceWith is Since for who knows the document's digest: to find it out costs more than all the rest.
func (d Document) SinceWith(version, digest uint64) []byte {
	return binary.BigEndian.AppendUint64(d.body(version), digest)
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

func (d Document) body(since uint64) []byte {
	w := newWriter()
	w.b = append(w.b, format)
	w.numbers(since, d.Version)
	w.text(d.Cluster)
	w.numbers(d.Formation)
	w.numbers(uint64(d.Replicas), uint64(d.LastID), d.MembersAt, d.StagedAt, uint64(d.Rate))
	w.flag(d.Paused)
	if w.flag(d.MembersAt > since) {
		w.members(d.Members)
	}
	if w.flag(d.StagedAt > since) {
		w.staged(d.Staged)
	}
	w.slots(d.Slots, since)
	w.joint(d)
	if w.flag(d.Plan != nil) {
		w.plan(d.Plan, since)
	}
	w.history(d.History, since)
	w.later(d, since)
	return w.b
}

// later writes what only is there if there is something to say. A document without it is as it was before there were such things.
func (w *writer) later(d Document, since uint64) {
	parameters := d.ParametersAt > 0
	users := d.UsersAt > 0 || parameters // what comes later is behind all that was there before it
	placed := d.Placements != (database.Placements{}) || users
	if !placed && d.Refounded == 0 {
		return
	}
	w.numbers(d.Refounded)
	if placed {
		w.numbers(uint64(d.Placements.Together), uint64(d.Placements.Closed))
	}
	if users {
		w.number(d.UsersAt)
		if w.flag(d.UsersAt > since) {
			w.users(d.Users)
		}
	}
	if parameters {
		w.number(d.ParametersAt)
		if w.flag(d.ParametersAt > since) {
			w.parameters(d.Parameters)
		}
	}
}

// writer appends to b. Numbers are varints.
type writer struct {
	b []byte
	// lists has the number of each list of replicas that was written, and recent those of some of them, at a place that follows from
	// the list: thousands of slots have the same few, and to look a list up in a map is most of what it costs to encode it.
	lists  map[members]uint64
	recent [256]struct {
		members
		number uint64
	}
}

// members is a list of replicas. Shorter ones end in zeros.
type members [ring.MaxReplicas]uint16

func newWriter() *writer { return &writer{lists: make(map[members]uint64)} }

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *writer) numbers(all ...uint64) {
	for _, n := range all {
		w.b = binary.AppendUvarint(w.b, n)
	}
}

func (w *writer) text(s string) {
	w.numbers(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) flag(set bool) bool {
	if set {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
	return set
}

func (w *writer) members(members []Life) {
	w.numbers(uint64(len(members)))
	for _, l := range members {
		w.numbers(uint64(l.ID), uint64(l.State), uint64(l.Weight), l.Generation)
		w.text(l.Name)
		w.text(l.Peer)
		w.text(l.Gossip)
		w.text(l.Rack)
	}
}

func (w *writer) staged(staged []Staged) {
	w.numbers(uint64(len(staged)))
	for _, s := range staged {
		w.numbers(uint64(s.Kind), uint64(s.Number))
		w.text(s.Name)
		w.text(s.By)
	}
}

// ids writes short lists that hardly ever come again.
func (w *writer) ids(ids []uint16) {
	w.numbers(uint64(len(ids)))
	for _, id := range ids {
		w.numbers(uint64(id))
	}
}

// list writes a list of replicas: its number if it was written before, else 0 and
// the list.
func (w *writer) list(ids []uint16) {
	var key members
	at := uint32(0)
	for i, id := range ids[:min(len(ids), len(key))] {
		key[i] = id
		at = (at + uint32(id)) * 0x9e3779b1
	}
	recent := &w.recent[at>>24]
	if recent.number > 0 && recent.members == key {
		w.number(recent.number)
		return
	}
	recent.members, recent.number = key, w.lists[key]
	if recent.number > 0 {
		w.number(recent.number)
		return
	}
	recent.number = uint64(len(w.lists) + 1)
	w.lists[key] = recent.number
	w.numbers(0)
	w.ids(ids)
}

// slots writes those that have changed since a version: which they are, in runs, then
// their epochs, in runs, then their replicas.
func (w *writer) slots(slots []ring.Assignment, since uint64) {
	var changed []int
	for slot, a := range slots {
		if a.Epoch > since {
			changed = append(changed, slot)
		}
	}
	w.numbers(uint64(len(changed)))
	for i := 0; i < len(changed); {
		length := run(changed[i:], func(k int) bool { return changed[i+k] == changed[i]+k })
		last := -1
		if i > 0 {
			last = changed[i-1]
		}
		w.numbers(uint64(changed[i]-last-1), uint64(length))
		i += length
	}
	for i := 0; i < len(changed); {
		epoch := slots[changed[i]].Epoch
		length := run(changed[i:], func(k int) bool { return slots[changed[i+k]].Epoch == epoch })
		w.numbers(uint64(length), epoch-since)
		i += length
	}
	for _, slot := range changed {
		w.list(slots[slot].Replicas)
	}
}

// run returns how many of the first elements go together.
func run[T any](list []T, goes func(k int) bool) int {
	n := 0
	for n < len(list) && goes(n) {
		n++
	}
	return n
}

func (w *writer) joint(d Document) {
	w.numbers(uint64(len(d.Joint)))
	for _, p := range d.Joint {
		w.numbers(uint64(p.Slot))
		w.list(d.Slots[p.Slot].Next)
		w.ids(p.Waiting)
		w.ids(p.Done)
	}
}

func (w *writer) plan(p *Plan, since uint64) {
	w.text(p.ID)
	w.numbers(p.Since, uint64(p.At), p.MovesAt)
	w.text(p.By)
	w.staged(p.Changes)
	w.staged(p.Undo)
	w.flag(p.Aborting)
	w.flag(p.LossAccepted)
	if w.flag(p.MovesAt > since) {
		w.moves(p.Moves)
	}
}

func (w *writer) moves(moves []Move) {
	w.numbers(uint64(len(moves)))
	for _, m := range moves {
		w.number(uint64(m.Slot))
		w.list(m.From)
		w.list(m.To)
	}
}

func (w *writer) history(events []Event, since uint64) {
	for len(events) > 0 && events[0].Version <= since {
		events = events[1:]
	}
	w.numbers(uint64(len(events)))
	for _, e := range events {
		w.numbers(e.Version, uint64(e.At))
		w.text(e.By)
		w.text(e.What)
	}
}
