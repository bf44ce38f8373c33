package disk

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"sync/atomic"
)

// Large values are apart from their records, each under a number that is never used again. The store keeps them in its
// value log; when it collects a file of that, it writes again what its tables still refer to, old versions too,
// and a later compaction may drop the deletion that was to hide one of these: what was deleted is there again. A
// record, which is small, is never in the value log, and so never returns; of a value that returns nobody knows the
// number.

var largePrefix = []byte{0xff, 'v'}

// largeKey is the store's key of the value under a number of the record at a key.
func largeKey(at []byte, number uint64) []byte {
	key := append(make([]byte, 0, len(largePrefix)+len(at)+8), largePrefix...)
	return binary.BigEndian.AppendUint64(append(key, at...), number)
}

// ownerOf is the reverse. The record's key is a view.
func ownerOf(key []byte) (at []byte, number uint64) {
	end := max(len(largePrefix), len(key)-8)
	return key[len(largePrefix):end], binary.BigEndian.Uint64(key[end:])
}

// newNumber returns a number that no value has had, as far as chance can tell: not 0.
func newNumber() uint64 { return rand.Uint64() | 1 }

// encodeApart returns what of a record is apart, and its number: a large value, and a key that the store does not take,
// with its value. Number 0 is nothing.
func (k Kind) encodeApart(at, key, value []byte) (apart []byte, number uint64) {
	hashed := at[formAt] == formHash
	if !hashed && len(value) < k.ApartFrom {
		return nil, 0
	}
	number = newNumber()
	apart = make([]byte, 4, 4+binary.MaxVarintLen64+len(key)+len(value))
	if hashed {
		apart = append(binary.AppendUvarint(apart, uint64(len(key))), key...)
	}
	apart = append(apart, value...)
	binary.LittleEndian.PutUint32(apart, apartSum(at, number, apart[4:]))
	return apart, number
}

func apartSum(at []byte, number uint64, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(largeKey(at, number), castagnoli), castagnoli, content)
}

// readApart returns copies of the key of a record and its value, which is apart. The key is a view of at if that
// has it.
func readApart(r Reader, at []byte, number uint64) (key, value []byte, err error) {
	content, found, err := r.Get(largeKey(at, number))
	if err != nil || !found {
		return nil, nil, fmt.Errorf("its value (there: %v): %w", found, cmp.Or(err, errDamaged))
	}
	if len(content) < 4 || binary.LittleEndian.Uint32(content) != apartSum(at, number, content[4:]) {
		return nil, nil, errDamaged
	}
	d := decoder{content[4:]}
	key = at[keyAt:]
	if at[formAt] == formHash {
		key = d.bytes(d.uvarint())
	}
	if d.rest == nil {
		return nil, nil, errDamaged
	}
	return key, d.rest, nil
}

// writeItem writes a record, with its value if that is apart, and removes the value of the one that it replaces.
func (e *Engine) writeItem(batch Writer, i *item) error {
	if i.away.number != 0 {
		e.large.Store(true)
		if err := batch.Set(largeKey(i.at, i.away.number), i.apart); err != nil {
			return err
		}
	}
	var err error
	if i.value == nil {
		err = batch.Delete(i.at)
	} else {
		err = batch.Set(i.at, i.value)
	}
	if err != nil || i.former.number == 0 {
		return err
	}
	return batch.Delete(largeKey(i.at, i.former.number))
}

// formerly returns where the value is of a record that the store holds. Of one that cannot be read it is an orphan.
func (e *Engine) formerly(r Reader, i *item) (away elsewhere) {
	if i.meta || !e.large.Load() && !i.hadParts && i.object == nil {
		return elsewhere{}
	}
	if number, known := e.numbers.of(i.at); known && !i.hadParts && i.object == nil {
		return elsewhere{number: number}
	}
	away, _ = elsewhereIn(r, i.at)
	return away
}

// remember notes what the store has of the items now, or that nobody knows.
func (e *Engine) remember(items []item, failed error) {
	if !e.large.Load() {
		return
	}
	for n := range items {
		switch i := &items[n]; {
		case i.meta:
		case failed != nil:
			e.numbers.forget(i.at)
		default:
			e.numbers.note(i.at, i.away, e.opt.Cache)
		}
	}
}

// elsewhereIn returns where the value of a record is.
func elsewhereIn(r Reader, at []byte) (away elsewhere, err error) {
	value, found, err := r.Get(at)
	if err == nil && found {
		_, away, err = decodeRecord(at, value)
	}
	return away, err
}

// lookForLarge notes whether any value is apart, or in parts: until there is one, nobody has to look for what a
// record leaves behind.
func (e *Engine) lookForLarge() error {
	return e.store.View(func(r Reader) error {
		for prefix, there := range map[string]*atomic.Bool{string(largePrefix): &e.large, string(partsPrefix): &e.parted} {
			err := each(r, []byte(prefix), nil, func(Iterator) (bool, error) {
				there.Store(true)
				return false, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// orphansStep is how many values that are apart are looked at with each flush.
const orphansStep = 1000

// sweepOrphans goes on with removing values that no record refers to: a store may bring back one that was removed, and
// a crash may leave one. The flusher calls it: no value is being written meanwhile.
func (e *Engine) sweepOrphans() error {
	if !e.large.Load() {
		return nil
	}
	var orphans [][]byte
	n, from := 0, append(largePrefix[:2:2], e.orphansFrom...)
	e.orphansFrom = nil
	err := e.store.View(func(r Reader) error {
		return each(r, largePrefix, from, func(it Iterator) (bool, error) {
			key := bytes.Clone(it.Key())
			if n++; n > orphansStep {
				e.orphansFrom = key[len(largePrefix):]
				return false, nil
			}
			at, number := ownerOf(key)
			if held, err := elsewhereIn(r, at); err == nil && held.number != number {
				orphans = append(orphans, key)
			}
			return true, nil
		})
	})
	if err != nil || len(orphans) == 0 {
		return err
	}
	return e.removeAll(orphans)
}

// removeAll removes keys from the store.
func (e *Engine) removeAll(keys [][]byte) error {
	return e.store.Write(func(batch Writer) error {
		for _, key := range keys {
			if err := batch.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}
