package change

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
)

// MaxEncoded bounds an encoded document in bytes: the largest that is valid, with
// 1,000 members who all have lost three lives and MaxUsers of users, is smaller.
const MaxEncoded = 10 << 20

// Errors of Decode and Update.
var (
	// ErrEncoding: the bytes are not an encoded document.
	ErrEncoding = errors.New("not an encoded ring document")
	// ErrGap: a delta begins at a version after the one that it is applied to. Ask for
	// what has changed since that one.
	ErrGap = errors.New("the delta begins after this version of the ring: ask for an earlier one")
	// ErrDiverged: the delta is of another cluster, or of a document with another past.
	// Ask for the whole document.
	ErrDiverged = errors.New("the delta is of a ring with another past")
)

// Decode returns the document that Encode has written. It does not keep b.
func Decode(b []byte) (Document, error) { return Document{}.Update(b) }

// Update returns the document after a delta since its version or an earlier one, or
// after a whole one. One that it is ahead of changes nothing. The error wraps ErrGap,
// ErrDiverged or ErrEncoding; the document is then as it was. It does not keep b.
func (d Document) Update(b []byte) (Document, error) {
	if len(b) < 8 || len(b) > MaxEncoded {
		return d, fmt.Errorf("%w: %d bytes", ErrEncoding, len(b))
	}
	body, want := b[:len(b)-8], binary.BigEndian.Uint64(b[len(b)-8:])
	next, err := d.decode(body)
	switch {
	case err != nil:
		return d, err
	case next.Version == d.Version:
		return d, nil
	case next.Digest() != want:
		return d, fmt.Errorf("%w: version %d has another digest there", ErrDiverged, next.Version)
	}
	return next, nil
}

// decode is Update without the digest.
func (d Document) decode(body []byte) (Document, error) {
	r := &reader{b: body}
	if n := len(body); n == 0 || body[0] != format {
		return d, fmt.Errorf("%w of a format that is known here", ErrEncoding)
	}
	r.b = body[1:]
	next := d
	since := r.number()
	next.Version = r.number()
	next.Cluster, next.Formation = r.text(), r.number()
	switch {
	case r.bad || next.Version == 0 || since > next.Version:
		return d, ErrEncoding
	case d.Version > 0 && next.Cluster != d.Cluster:
		return d, fmt.Errorf("%w: that of cluster %q", ErrDiverged, next.Cluster)
	case d.Version > 0 && next.Formation != d.Formation:
		return d, fmt.Errorf("%w: that of formation %016x, not %016x", ErrDiverged, next.Formation, d.Formation)
	case d.Version < since:
		return d, fmt.Errorf("%w: it is since version %d, and here is %d", ErrGap, since, d.Version)
	case next.Version <= d.Version:
		return d, nil
	}
	r.settings(&next)
	r.slots(&next, since)
	r.joint(&next)
	next.Plan = r.plan(d.Plan)
	next.History = r.history(d.History, d.Version)
	r.later(&next)
	if r.bad || len(r.b) > 0 {
		return d, ErrEncoding
	}
	if err := next.Validate(); err != nil {
		return d, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return next, nil
}

// reader takes from b. After anything that makes no sense it is bad, and returns
// zeros.
type reader struct {
	b     []byte
	bad   bool
	lists [][]uint16
}

func (r *reader) number() uint64 {
	n, length := binary.Uvarint(r.b)
	if length <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[length:]
	return n
}

// below returns a number that is at most the limit.
func (r *reader) below(limit int) int {
	n := r.number()
	if n > uint64(limit) {
		r.bad = true
		return 0
	}
	return int(n)
}

// count returns a number of things of which each takes a byte at least, so that what
// is allocated for them is bounded by what was sent.
func (r *reader) count(limit int) int { return r.below(min(limit, len(r.b))) }

func (r *reader) text() string { return r.textOf(maxText) }

// textOf returns a text of as many bytes at most.
func (r *reader) textOf(most int) string {
	n := r.count(most)
	if r.bad || n > len(r.b) {
		r.bad = true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) flag() bool { return r.below(1) == 1 }

func (r *reader) settings(d *Document) {
	d.Replicas, d.LastID = r.below(ring.MaxReplicas), uint16(r.below(65535))
	d.MembersAt, d.StagedAt = r.number(), r.number()
	d.Rate = int64(r.number())
	d.Paused = r.flag()
	if r.flag() {
		d.Members = r.members()
	}
	if r.flag() {
		d.Staged = r.staged()
	}
}

// later reads what is only written if there is something to say.
func (r *reader) later(d *Document) {
	users, parameters := d.Users, d.Parameters
	d.Refounded, d.Placements, d.Users, d.UsersAt, d.Parameters, d.ParametersAt = 0, database.Placements{}, nil, 0, nil, 0
	if len(r.b) == 0 {
		return
	}
	d.Refounded = r.number()
	if len(r.b) == 0 {
		r.bad = r.bad || d.Refounded == 0
		return
	}
	d.Placements = database.Placements{Together: uint16(r.below(math.MaxUint16)), Closed: uint16(r.below(math.MaxUint16))}
	if len(r.b) == 0 {
		r.bad = r.bad || d.Placements == (database.Placements{})
		return
	}
	d.UsersAt = r.number()
	if d.Users = users; r.flag() {
		d.Users = r.users()
	}
	if len(r.b) == 0 {
		r.bad = r.bad || d.UsersAt == 0
		return
	}
	d.ParametersAt = r.number()
	if d.Parameters = parameters; r.flag() {
		d.Parameters = r.parameters()
	}
	r.bad = r.bad || d.ParametersAt == 0
}

func (r *reader) members() []Life {
	return collect(r, maxLives, func() Life {
		var l Life
		l.ID, l.State, l.Weight, l.Generation = uint16(r.below(65535)), State(r.below(255)), r.below(ring.MaxWeight), r.number()
		l.Name, l.Peer, l.Gossip, l.Rack = r.text(), r.text(), r.text(), r.text()
		return l
	})
}

func (r *reader) staged() []Staged {
	return collect(r, MaxStaged, func() Staged {
		s := Staged{Kind: Kind(r.below(255)), Number: r.below(ring.MaxWeight)}
		s.Name, s.By = r.text(), r.text()
		return s
	})
}

// collect reads a count and as many things, nil if there are none.
func collect[T any](r *reader, limit int, one func() T) []T {
	n := r.count(limit)
	var all []T
	for i := 0; i < n && !r.bad; i++ {
		all = append(all, one())
	}
	return all
}

func (r *reader) ids() []uint16 {
	return collect(r, ring.MaxReplicas, func() uint16 { return uint16(r.below(65535)) })
}

func (r *reader) list() []uint16 {
	n := r.below(len(r.lists))
	if n > 0 && !r.bad {
		return r.lists[n-1]
	}
	ids := r.ids()
	r.lists = append(r.lists, ids)
	return ids
}

func (r *reader) slots(d *Document, since uint64) {
	n := r.below(ring.Slots)
	var changed []int
	for last := -1; len(changed) < n && !r.bad; {
		first := last + 1 + r.below(ring.Slots)
		length := r.below(n - len(changed))
		if length == 0 || first+length > ring.Slots {
			r.bad = true
			return
		}
		for slot := first; slot < first+length; slot++ {
			changed = append(changed, slot)
		}
		last = first + length - 1
	}
	if r.bad {
		return
	}
	if d.Slots = slices.Clone(d.Slots); d.Slots == nil {
		d.Slots = make([]ring.Assignment, ring.Slots)
	}
	for i := 0; i < n && !r.bad; {
		length := r.below(n - i)
		epoch := since + r.number()
		if length == 0 {
			r.bad = true
		}
		for _, slot := range changed[i : i+length] {
			d.Slots[slot].Epoch = epoch
		}
		i += length
	}
	for _, slot := range changed {
		d.Slots[slot].Replicas = r.list()
	}
}

func (r *reader) joint(d *Document) {
	if r.bad {
		return // and the slots are still another document's
	}
	for i := range d.Slots {
		d.Slots[i].Next = nil
	}
	d.Joint = collect(r, ring.Slots, func() Progress {
		p := Progress{Slot: uint16(r.below(ring.Slots - 1))}
		next := r.list()
		if int(p.Slot) < len(d.Slots) {
			d.Slots[p.Slot].Next = next
		}
		p.Waiting, p.Done = r.ids(), r.ids()
		return p
	})
}

func (r *reader) plan(before *Plan) *Plan {
	if !r.flag() || r.bad {
		return nil
	}
	p := &Plan{ID: r.text(), Since: r.number(), At: int64(r.number()), MovesAt: r.number(), By: r.text()}
	p.Changes, p.Undo = r.staged(), r.staged()
	p.Aborting, p.LossAccepted = r.flag(), r.flag()
	if r.flag() {
		p.Moves = r.moves()
	} else if before != nil {
		p.Moves = before.Moves
	}
	return p
}

func (r *reader) moves() []Move {
	return collect(r, ring.Slots, func() Move {
		return Move{Slot: uint16(r.below(ring.Slots - 1)), From: r.list(), To: r.list()}
	})
}

// history returns the events with those behind them that are later than a version.
func (r *reader) history(events []Event, version uint64) []Event {
	events = slices.Clone(events)
	for _, e := range collect(r, MaxHistory, func() Event {
		return Event{Version: r.number(), At: int64(r.number()), By: r.text(), What: r.text()}
	}) {
		if e.Version > version {
			events = append(events, e)
		}
	}
	return events[max(0, len(events)-MaxHistory):]
}
