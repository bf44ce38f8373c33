package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
)

// image is the content of a store.
type image struct {
	slots [slots]slotImage
}

type slotImage struct {
	meta    record.SlotMeta
	records map[string]record.Record
	rotten  map[string]bool // keys whose records cannot be read
	noted   note
}

// note says how far a member has come with collecting, in which epoch.
type note struct {
	epoch uint64
	page  int
}

func newImage() (im image) {
	for i := range im.slots {
		im.slots[i].records, im.slots[i].rotten = map[string]record.Record{}, map[string]bool{}
	}
	return im
}

func (im *image) clone() (c image) {
	for i := range im.slots {
		c.slots[i] = slotImage{im.slots[i].meta, maps.Clone(im.slots[i].records), maps.Clone(im.slots[i].rotten), im.slots[i].noted}
	}
	return c
}

// store implements register.Store and register.Writer, for all slots of a node. What is staged is visible at
// once and durable after commit, in the order in which it was staged.
type store struct {
	sim             *Sim
	node            *node
	staged, durable image
	log             []func(*image)
	stagedAt        int // number of mutations staged since the start
	durableAt       int
	failing         bool          // every call fails, and nothing becomes durable
	full            bool          // nothing can be staged
	instant         bool          // commits what is staged at once
	lent            [slots][]byte // what Get has returned last
}

var (
	errStore  = errors.New("sim: the store fails")
	errRotten = errors.New("sim: the record cannot be read")
)

// failed returns the error of a failing store.
func (s *store) failed() error {
	if s.failing {
		return errStore
	}
	return nil
}

func newStore(n *node) *store {
	return &store{sim: n.sim, node: n, staged: newImage(), durable: newImage()}
}

func (s *store) stage(mutate func(*image)) error {
	if s.failing {
		return errStore
	}
	if s.full {
		s.sim.count("write-refused", 1)
		return register.ErrNoRoom
	}
	mutate(&s.staged)
	s.log = append(s.log, mutate)
	if s.stagedAt++; s.instant {
		s.commit(s.stagedAt)
	}
	return nil
}

// commit makes the first mutations durable, up to number at.
func (s *store) commit(at int) {
	if s.durableAt >= at || s.failing {
		return
	}
	for ; s.durableAt < at; s.durableAt++ {
		s.log[0](&s.durable)
		s.log = s.log[1:]
	}
	s.sim.watch(s.node)
}

// crash forgets what is not durable.
func (s *store) crash() {
	if s.stagedAt > s.durableAt {
		s.sim.count("staged-lost", 1)
	}
	s.staged, s.log, s.stagedAt = s.durable.clone(), nil, s.durableAt
	s.failing = false
}

// persist stages what a step wants to have persisted. A store that is full for what is left of it has room now and then for its first part.
func (s *store) persist(w *register.Write) error {
	if s.full && w.SetsMeta && w.Kind < register.WriteClear && w.Kind != register.WriteNothing && s.sim.chance(3) {
		s.full = false
		err := s.PutSlot(w.Slot, w.Meta)
		if s.full = true; err != nil {
			return err
		}
		s.sim.count("write-torn", 1)
	}
	return w.To(s)
}

// Slot returns a slot's state.
func (s *store) Slot(slot uint16) (record.SlotMeta, error) {
	return s.staged.slots[slot].meta, s.failed()
}

// PutSlot stages a slot's state. Nothing of it ever goes back.
func (s *store) PutSlot(slot uint16, meta record.SlotMeta) error {
	old := s.staged.slots[slot].meta
	if meta.Epoch < old.Epoch || meta.Promised.Less(old.Promised) || meta.Floor.Less(old.Floor) || meta.Cleared.Less(old.Cleared) {
		s.sim.violated("slot %d: %+v becomes %+v", slot, old, meta)
	}
	return s.stage(func(im *image) { im.slots[slot].meta = meta })
}

// Get returns a record.
func (s *store) Get(slot uint16, key []byte) (record.Record, bool, error) {
	if s.staged.slots[slot].rotten[string(key)] && !s.failing {
		return record.Record{}, false, errRotten
	}
	s.spoil(slot)
	rec, ok := s.staged.slots[slot].records[string(key)]
	if rec.State.Object == nil && len(rec.State.Value) <= record.CopiedValue {
		rec.State = clone(rec.State)
		s.lent[slot] = rec.State.Value
	}
	return rec, ok, s.failed()
}

// spoil ends that a short value is borrowed, as an engine does that overwrites it: who still uses it shows another state than that of its version.
func (s *store) spoil(slot uint16) {
	for i := range s.lent[slot] {
		s.lent[slot][i] = '!'
	}
	s.lent[slot] = nil
}

// Names implements register.Store.
func (s *store) Names(slot uint16, id database.ID, visit func(key []byte) bool) error {
	im := &s.staged.slots[slot]
	if s.spoilt(slot) && !s.failing {
		return errRotten
	}
	for _, name := range slices.Sorted(maps.Keys(im.records)) {
		if of, _ := database.Split([]byte(name)); of == id && im.records[name].State.Live() && !visit([]byte(name)) {
			break
		}
	}
	return s.failed()
}

// Stage stages records. A record is only replaced by a newer one, a version
// names one state wherever it is, and the record is there that a delta is built on.
func (s *store) Stage(slot uint16, version record.Version, changes []record.Change) error {
	defer s.spoil(slot)
	staged := map[string]record.Record{}
	for i := range changes {
		c := &changes[i]
		name, rec := string(c.Key), record.Record{Version: version}
		old := s.staged.slots[slot].records[name]
		if c.IsDelta && !c.State.Live() {
			p, ok := record.PatchOf(old.State, c.Delta)
			if !ok {
				s.sim.violated("slot %d, key %s: a patch of another value than one of %d bytes", slot, name, old.State.Size())
			}
			s.sim.count("hash-patch", 1)
			rec.State = p.Of(old.State, nil)
		} else {
			rec.State, _ = datatype.Live(clone(c.State)) // as in the product
		}
		if rec.State.Object != nil {
			s.sim.count("hash-object", 1)
		}
		if c.IsDelta && old.Version != c.Base {
			s.sim.violated("slot %d, key %s: a change of version %v meets %v", slot, name, c.Base, old.Version)
		}
		if !old.Version.Less(version) {
			s.sim.violated("slot %d, key %s: version %v is replaced by %v", slot, name, old.Version, version)
		}
		s.sim.requireOneState(slot, name, rec)
		staged[name] = rec
	}
	return s.stage(func(im *image) { maps.Copy(im.slots[slot].records, staged) })
}

// Delete stages the removal of a record.
func (s *store) Delete(slot uint16, key []byte) error {
	name := string(key)
	s.sim.lineage.Purged(lineage.Key{Slot: slot, Key: name}, s.staged.slots[slot].records[name].Version)
	return s.stage(func(im *image) { delete(im.slots[slot].records, name) })
}

// Clear stages the removal of all records up to meta.Cleared.
// It has to read the slot if one may be newer.
func (s *store) Clear(slot uint16, meta record.SlotMeta) error {
	for _, rec := range s.staged.slots[slot].records {
		if meta.Cleared.Less(rec.Version) && len(s.staged.slots[slot].rotten) > 0 {
			return errRotten
		}
	}
	s.sim.lineage.Cleared(slot, meta.Cleared)
	return s.stage(func(im *image) {
		im.slots[slot].meta = meta
		maps.DeleteFunc(im.slots[slot].records, func(_ string, rec record.Record) bool { return !meta.Cleared.Less(rec.Version) })
		clear(im.slots[slot].rotten)
	})
}

// Reset stages the removal of all records, rotten or not.
func (s *store) Reset(slot uint16, meta record.SlotMeta) error {
	return s.stage(func(im *image) {
		im.slots[slot].meta = meta
		clear(im.slots[slot].records)
		clear(im.slots[slot].rotten)
	})
}

// note stages a note.
func (s *store) note(slot uint16, n note) error {
	return s.stage(func(im *image) { im.slots[slot].noted = n })
}

// rot makes the record of a key unreadable, for good, and reports whether there is one.
func (s *store) rot(slot uint16, key string) bool {
	if _, found := s.durable.slots[slot].records[key]; !found || s.stagedAt > s.durableAt {
		return false
	}
	s.staged.slots[slot].rotten[key], s.durable.slots[slot].rotten[key] = true, true
	return true
}

// stateName is what must name one state for ever.
type stateName struct {
	slot    uint16
	key     string
	version record.Version
}

func (s *Sim) requireOneState(slot uint16, key string, rec record.Record) {
	name, state := stateName{slot, key, rec.Version}, identity(rec.State)
	if other, known := s.states[name]; known && other != state {
		s.violated("slot %d, key %s: version %v names two states, %s and %s", slot, key, rec.Version, shorten.Replace(other), shorten.Replace(state))
	}
	s.states[name] = state
}

// identity is what tells a state from any other: of a hash the bytes that are stored and sent, in which the fields have an order.
func identity(st record.State) string {
	if !st.Live() {
		return nothing
	}
	return fmt.Sprintf("%s until %d", st.Packed().Value, st.ExpireAt)
}

// nothing is the identity of a deletion.
const nothing = "nil until 0"

// violated notes that an invariant does not hold.
func (s *Sim) violated(format string, args ...any) {
	text := fmt.Sprintf("%d: ", s.now) + fmt.Sprintf(format, args...)
	s.trace("VIOLATED %s", text)
	s.violations = append(s.violations, text)
}

func clone(st record.State) record.State {
	st.Value = append([]byte(nil), st.Value...)
	return st
}
