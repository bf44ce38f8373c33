package disk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/quolldb/quoll/node/engine"
)

// format is the version of what codec.go describes; formatParts that of a store with values in parts, which earlier versions cannot read.
const (
	format      = 2
	formatParts = 3
)

// The marks that the store holds beside the records.
const (
	// markFormat is the format of this store.
	markFormat = "format"
	// markApplied is the number of the journal up to which the store has everything.
	markApplied = "applied"
	// markCounted is the number of the journal at which the slots' counts were written.
	markCounted = "counted"
)

func markKey(name string) []byte { return append([]byte{0xff, 'm'}, name...) }

func slotKey(number uint16) []byte { return binary.BigEndian.AppendUint16([]byte{0xff, 's'}, number) }

// mark sets a mark.
func (e *Engine) mark(name string, value uint64) error {
	return e.store.Write(func(batch Writer) error {
		return batch.Set(markKey(name), binary.LittleEndian.AppendUint64(nil, value))
	})
}

// marked returns a mark, and whether it is there.
func (e *Engine) marked(name string) (value uint64, found bool, err error) {
	err = e.store.View(func(r Reader) error {
		b, ok, err := r.Get(markKey(name))
		if err != nil || !ok {
			return err
		}
		if len(b) != 8 {
			return errDamaged
		}
		value, found = binary.LittleEndian.Uint64(b), true
		return nil
	})
	return value, found, err
}

// slotSum is the checksum of what the store holds of a slot as a whole.
func slotSum(number uint16, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(slotKey(number), castagnoli), castagnoli, value)
}

// What is set in the number of a slot's generation beside it: that the slot is being rebuilt, and that its clear is unsure.
const rebuilding, unsure = 1 << 32, 1 << 33

// others is set there if the counts say how many records are of another database than 0: there were none before there were databases.
const others = 1 << 34

// encodeSlot returns what the store holds of a slot as a whole. Counts are only of use if
// nothing changes any more.
func encodeSlot(s *slot, counted bool) []byte {
	dst := appendMeta(make([]byte, 4, 128), s.meta)
	generation := uint64(s.generation)
	if s.meta.Rebuilding {
		generation |= rebuilding
	}
	if s.meta.Unsure {
		generation |= unsure
	}
	stats := s.counters.Load()
	counted = counted && s.counted == engine.EndPosition
	if counted && stats.Others > 0 {
		generation |= others
	}
	dst = binary.AppendUvarint(dst, generation)
	if counted {
		for _, n := range []uint64{stats.Live, stats.Tombstones, stats.Bytes, stats.Digest, stats.TombstoneDigest} {
			dst = binary.AppendUvarint(dst, n)
		}
		if stats.Others > 0 {
			dst = binary.AppendUvarint(dst, stats.Others)
		}
		dst = binary.AppendVarint(appendVersion(dst, s.newest), s.expiry)
		dst = appendLeaves(dst, s.counters.Leaves())
	}
	binary.LittleEndian.PutUint32(dst, slotSum(s.number, dst[4:]))
	return dst
}

// decodeSlot is the reverse. The counts are taken if they are there and wanted.
func decodeSlot(s *slot, value []byte, counts bool) error {
	if len(value) < 4 || binary.LittleEndian.Uint32(value) != slotSum(s.number, value[4:]) {
		return errDamaged
	}
	d := decoder{value[4:]}
	s.meta = d.meta()
	generation := d.uvarint()
	s.generation, s.meta.Rebuilding, s.meta.Unsure = uint32(generation), generation&rebuilding != 0, generation&unsure != 0
	s.stored, s.settled = true, s.generation
	if counts && len(d.rest) > 0 {
		stats := engine.SlotStats{Live: d.uvarint(), Tombstones: d.uvarint(), Bytes: d.uvarint(), Digest: d.uvarint(), TombstoneDigest: d.uvarint()}
		if generation&others != 0 {
			stats.Others = d.uvarint()
		}
		newest, expiry := d.version(), d.varint()
		if len(d.rest) > 0 { // else it was written before there were leaves, and is counted again
			s.counters.Replace(stats, d.leaves())
			s.newest, s.expiry, s.counted = newest, expiry, engine.EndPosition
		}
	}
	if d.rest == nil {
		return errDamaged
	}
	return nil
}

// readSlotStates reads the state of every slot that has one.
func (e *Engine) readSlotStates(counts bool) error {
	err := e.store.View(func(r Reader) error {
		return each(r, slotKey(0)[:2], nil, func(it Iterator) (bool, error) {
			at := it.Key()
			if len(at) != 4 || binary.BigEndian.Uint16(at[2:]) >= engine.Slots {
				return false, fmt.Errorf("a slot's state: %w", errDamaged)
			}
			number := binary.BigEndian.Uint16(at[2:])
			value, err := it.Value()
			if err == nil {
				err = decodeSlot(&e.slots[number], value, counts)
			}
			if err != nil {
				return false, fmt.Errorf("the state of slot %d: %w", number, err)
			}
			return true, nil
		})
	})
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	return nil
}
