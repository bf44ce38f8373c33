package enginetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// model is what some slots of an engine should hold.
type model map[uint16]*slotModel

type slotModel struct {
	meta     record.SlotMeta
	contents map[string]record.Record
}

func newModel(slots []uint16) model {
	m := model{}
	for _, slot := range slots {
		m[slot] = &slotModel{contents: map[string]record.Record{}}
	}
	return m
}

func (m model) clone() model {
	c := model{}
	for number, slot := range m {
		c[number] = &slotModel{slot.meta, maps.Clone(slot.contents)}
	}
	return c
}

// only returns the part of the model that is one slot.
func (m model) only(slot uint16) model { return model{slot: m[slot]} }

func (s *slotModel) equal(other *slotModel) bool {
	return s.meta == other.meta && maps.EqualFunc(s.contents, other.contents, equalRecords)
}

func (m model) equal(other model) bool { return maps.EqualFunc(m, other, (*slotModel).equal) }

// differences describes what is not the same in another model.
func (m model) differences(other model) (list []string) {
	for number, slot := range m {
		theirs := other[number]
		if slot.meta != theirs.meta {
			list = append(list, fmt.Sprintf("slot %d: %+v, %+v", number, slot.meta, theirs.meta))
		}
		for key, rec := range slot.contents {
			if their, found := theirs.contents[key]; !found || !equalRecords(rec, their) {
				list = append(list, fmt.Sprintf("slot %d, key %q: %v, %v", number, key, rec.Version, their.Version))
			}
		}
		for key, rec := range theirs.contents {
			if _, found := slot.contents[key]; !found {
				list = append(list, fmt.Sprintf("slot %d, key %q: absent, %v", number, key, rec.Version))
			}
		}
	}
	return list
}

// requireIn requires that an engine's slots are those of the model, and empty
// otherwise. Contents are compared if a slot has no more than a number of them.
func (m model) requireIn(t require.TestingT, e engine.Engine, contents int) {
	var sum engine.SlotStats
	for number, slot := range m {
		got := requireCounted(t, e, number, slot.contents)
		requireMeta(t, e, number, slot.meta)
		if len(slot.contents) <= contents {
			requireContents(t, e, number, slot.contents)
		}
		sum.Merge(got)
	}
	totals, err := e.Totals()
	require.NoError(t, err)
	require.Equal(t, sum, totals)
}

// change is one call that stages something.
type change struct {
	kind changeKind
	slot uint16
	key  []byte
	rec  record.Record
	meta record.SlotMeta
	// base and delta are of a change of a record.
	base  record.Version
	delta []byte
}

type changeKind int

const (
	putRecord changeKind = iota
	changeRecord
	patchRecord
	deleteRecord
	clearSlot
	resetSlot
	putMeta
)

// stage makes the change in an engine.
func (c change) stage(e engine.Engine) error {
	switch c.kind {
	case putRecord:
		rec := c.rec
		rec.State.Value = slices.Clone(rec.State.Value)
		return e.Put(c.slot, c.key, rec)
	case changeRecord:
		return e.Change(c.slot, c.key, c.rec, c.base, c.delta)
	case patchRecord:
		return e.Patch(c.slot, c.key, c.rec.Version, c.base, c.delta)
	case deleteRecord:
		return e.Delete(c.slot, c.key)
	case clearSlot:
		return e.Clear(c.slot, c.meta)
	case resetSlot:
		return e.Reset(c.slot, c.meta)
	default:
		return e.PutSlot(c.slot, c.meta)
	}
}

// apply makes the change in a model.
func (c change) apply(m model) {
	slot := m[c.slot]
	switch c.kind {
	case putRecord, changeRecord, patchRecord:
		slot.contents[string(c.key)] = c.rec
	case deleteRecord:
		delete(slot.contents, string(c.key))
	case clearSlot:
		slot.meta = c.meta
		maps.DeleteFunc(slot.contents, func(_ string, rec record.Record) bool {
			return !c.meta.Cleared.Less(rec.Version)
		})
	case resetSlot:
		slot.meta = c.meta
		clear(slot.contents)
	case putMeta:
		slot.meta = c.meta
	}
}
