package disk_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/enginetest"
)

// population is what the tests of faults fill an engine with. It is the same each time: a
// process that examines a damaged directory knows what should be there.
type population map[uint16]*slotContents

type slotContents struct {
	meta    record.SlotMeta
	records map[string]record.Record
}

const populatedSlots = 5

// keysOfSlot is how many keys of a slot the population knows. Some of them are absent.
const keysOfSlot = 40

// stages are the parts of the population. Each has left memory before the next begins,
// and ends up in another kind of file.
const stages = 3

// changes are the calls that one stage makes.
type changes struct {
	put     func(key string, rec record.Record)
	remove  func(key string)
	putSlot func(meta record.SlotMeta)
	clear   func(meta record.SlotMeta)
}

// make makes the changes of one stage in a slot. A stage has keys of its own and some that
// all stages change.
func (c changes) make(stage int, slot uint16) {
	seq := uint64(stage)*1000 + uint64(slot)
	for i := range keysOfSlot {
		if own := i % (stages + 1); own != stage && own != stages {
			continue
		}
		key := fmt.Sprint("key ", i)
		seq++
		rec := record.Record{Version: versionOf(seq)}
		switch (i*7 + stage*3 + int(slot)) % 8 {
		case 0:
			c.remove(key)
		case 1:
			c.put(key, rec)
		case 2:
			rec.State = record.State{Type: record.String, ExpireAt: int64(1000 + i), Value: value(seq, 40)}
			c.put(key, rec)
		default:
			rec.State = record.State{Type: record.String, Value: value(seq, 10+i*20)}
			c.put(key, rec)
		}
	}
	meta := record.SlotMeta{Epoch: seq, Promised: versionOf(seq).Ballot}
	if slot == 1 && stage > 0 { // half of it survives
		meta.Cleared = versionOf(seq - keysOfSlot/8)
		c.clear(meta)
	} else {
		c.putSlot(meta)
	}
	if slot == 2 {
		rec := record.Record{Version: versionOf(seq + 1), State: record.State{Type: record.String, Value: value(seq, mib+stage)}}
		c.put(fmt.Sprint("large ", stage), rec)
	}
	if slot == 3 { // in parts
		rec := record.Record{Version: versionOf(seq + 1), State: record.State{Type: record.Hash, Value: value(seq, 8*kib+stage)}}
		rec.State, _ = enginetest.Live(rec.State)
		c.put(fmt.Sprint("object ", stage), rec)
		c.put("object", rec)
	}
}

func versionOf(seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: 3, Incarnation: 5}, Seq: seq}
}

// value returns bytes that are the same for each seq.
func value(seq uint64, size int) []byte {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], seq)
	b := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(b)
	return b
}

// populated returns what is there after all stages.
var populated = sync.OnceValue(func() population {
	p := population{}
	for slot := range uint16(populatedSlots) {
		s := &slotContents{records: map[string]record.Record{}}
		p[slot] = s
		c := changes{
			put:     func(key string, rec record.Record) { s.records[key] = rec },
			remove:  func(key string) { delete(s.records, key) },
			putSlot: func(meta record.SlotMeta) { s.meta = meta },
			clear: func(meta record.SlotMeta) {
				s.meta = meta
				maps.DeleteFunc(s.records, func(_ string, rec record.Record) bool { return !meta.Cleared.Less(rec.Version) })
			},
		}
		for stage := range stages {
			c.make(stage, slot)
		}
	}
	return p
})

// populate makes the changes of one stage in an engine, and commits them.
func populate(t *testing.T, e *disk.Engine, number int) { require.NoError(t, stage(e, number)) }

func stage(e *disk.Engine, number int) (err error) {
	for slot := range uint16(populatedSlots) {
		changes{
			put:     func(key string, rec record.Record) { err = errors.Join(err, e.Put(slot, []byte(key), rec)) },
			remove:  func(key string) { err = errors.Join(err, e.Delete(slot, []byte(key))) },
			putSlot: func(meta record.SlotMeta) { err = errors.Join(err, e.PutSlot(slot, meta)) },
			clear:   func(meta record.SlotMeta) { err = errors.Join(err, e.Clear(slot, meta)) },
		}.make(number, slot)
	}
	return errors.Join(err, commit(e))
}

func commit(e engine.Engine) error {
	done := make(chan error, 1)
	e.Commit(func(err error) { done <- err })
	return <-done
}

// compare compares an engine with the population. It returns how often the engine said
// that it cannot read something; anything else that is not as it should be is an error.
func (p population) compare(e engine.Engine) (corrupt int, err error) {
	// ok reports whether an answer has to be right: those that admit damage need not.
	ok := func(got error) bool {
		if errors.Is(got, engine.ErrCorrupt) {
			corrupt++
			return false
		}
		err = errors.Join(err, got)
		return got == nil
	}
	wrong := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	for number, slot := range p {
		meta, got := e.Slot(number)
		if ok(got) && meta != slot.meta {
			wrong("slot %d is %+v, not %+v", number, meta, slot.meta)
		}
		for key := range slot.known() {
			rec, found, got := e.Get(number, []byte(key))
			want, exists := slot.records[key]
			if ok(got) && (found != exists || !equal(rec, want)) {
				wrong("slot %d, key %q: %v (found: %v), not %v (%v)", number, key, rec.Version, found, want.Version, exists)
			}
		}
		seen := map[string]record.Record{}
		got = e.Scan(number, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
			seen[string(key)] = rec
			return true
		})
		if ok(got) && !maps.EqualFunc(seen, slot.records, equal) {
			wrong("slot %d: a scan shows %d records, not %d, or others", number, len(seen), len(slot.records))
		}
		expired, want := 0, 0
		_, got = e.Expired(number, math.MaxInt64, func([]byte) bool { expired++; return true })
		for _, rec := range slot.records {
			if rec.State.Live() && rec.State.ExpireAt != 0 {
				want++
			}
		}
		if ok(got) && expired != want {
			wrong("slot %d: %d records have expired, not %d", number, expired, want)
		}
		stats, got := e.Stats(number)
		if ok(got) && stats != slot.stats() {
			wrong("slot %d: %+v, not %+v", number, stats, slot.stats())
		}
	}
	return corrupt, err
}

// known returns all keys that the slot has, or could have.
func (s *slotContents) known() map[string]bool {
	keys := map[string]bool{"never there": true}
	for key := range s.records {
		keys[key] = true
	}
	for i := range keysOfSlot {
		keys[fmt.Sprint("key ", i)] = true
	}
	return keys
}

func (s *slotContents) stats() engine.SlotStats {
	var stats engine.SlotStats
	for key, rec := range s.records {
		stats.Add([]byte(key), rec)
	}
	return stats
}

func equal(a, b record.Record) bool {
	return a.Version == b.Version && a.State.Type == b.State.Type && a.State.ExpireAt == b.State.ExpireAt &&
		string(a.State.Packed().Value) == string(b.State.Packed().Value)
}
