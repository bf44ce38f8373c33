package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// The journal's operations: kind (1) slot (2) and
//
//	put:    length of the key, key, record
//	change: length of the key, key, record without its value, version that it is made of, delta
//	delete: key
//	meta:   slot state
//	clear:  slot state
//	reset:  slot state
//
// A slot state ends with a 1 if the slot is being rebuilt.
const (
	opPut    = 1
	opDelete = 2
	opMeta   = 3
	opClear  = 4
	opReset  = 5
	opChange = 6
)

// opHead is room for what comes before key and value of an operation.
const opHead = 3 + 10

// journalPut makes a record durable with the next commit.
func (e *Engine) journalPut(s *slot, key []byte, rec record.Record) error {
	value, err := packed(rec.State)
	if err != nil {
		return err
	}
	var head, tail [opHead + recordOverhead]byte
	before := binary.AppendUvarint(opBegin(head[:0], opPut, s.number), uint64(len(key)))
	return e.append(before, key, appendHead(tail[:0], rec), value)
}

// journalChange is journalPut with a delta in place of the value.
func (e *Engine) journalChange(s *slot, key []byte, rec record.Record, base record.Version, delta []byte) error {
	var head, tail [opHead + 2*recordOverhead]byte
	before := binary.AppendUvarint(opBegin(head[:0], opChange, s.number), uint64(len(key)))
	return e.append(before, key, appendVersion(appendHead(tail[:0], rec), base), delta)
}

func (e *Engine) journalDelete(s *slot, key []byte) error {
	var head [opHead]byte
	return e.append(opBegin(head[:0], opDelete, s.number), key)
}

func (e *Engine) journalMeta(s *slot, kind byte, meta record.SlotMeta) error {
	var head [opHead + 128]byte
	op := appendMeta(opBegin(head[:0], kind, s.number), meta)
	if marks := metaMarks(meta); marks != 0 {
		op = append(op, marks)
	}
	return e.append(op)
}

// What a byte behind the state of a slot says of it. It is left out if it says nothing.
const (
	metaRebuilding byte = 1 << iota
	metaUnsure
)

func metaMarks(meta record.SlotMeta) (marks byte) {
	if meta.Rebuilding {
		marks |= metaRebuilding
	}
	if meta.Unsure {
		marks |= metaUnsure
	}
	return marks
}

func opBegin(dst []byte, kind byte, slot uint16) []byte {
	return binary.BigEndian.AppendUint16(append(dst, kind), slot)
}

// spaceWait is how long a write waits for the journal to prepare space on a disk that has
// enough.
const spaceWait = 10 * time.Second

// append stages an operation. It blocks while the journal is behind with preparing space,
// which is not a lack of it.
func (e *Engine) append(parts ...[]byte) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if err := e.broken(); err != nil {
			return err
		}
		_, err := e.journal.Append(parts...)
		if err == nil {
			e.logged.Add(lengthOf(parts))
		}
		if !errors.Is(err, engine.ErrFull) || e.freeSpace() < 2*e.opt.SegmentSize || time.Since(began) > spaceWait {
			return err
		}
	}
}

func lengthOf(parts [][]byte) (n int64) {
	for _, p := range parts {
		n += int64(len(p))
	}
	return n
}

var errOperation = errors.New("an operation that makes no sense")

// replay repeats an operation of the journal. It is not journalled again, and what it
// replaces does not matter: nothing is counted yet.
func (e *Engine) replay(seq uint64, op []byte) error {
	if len(op) < 3 {
		return fmt.Errorf("%w: journal, number %d: %w", engine.ErrCorrupt, seq, errOperation)
	}
	number := binary.BigEndian.Uint16(op[1:])
	if number >= engine.Slots {
		return fmt.Errorf("%w: journal, number %d: slot %d: %w", engine.ErrCorrupt, seq, number, errOperation)
	}
	s := &e.slots[number]
	d := decoder{op[3:]}
	switch op[0] {
	case opPut:
		key := d.bytes(d.uvarint())
		rec := d.head()
		if d.rest == nil {
			break
		}
		rec.State.Value = d.rest
		if rec.State = e.live(rec.State); rec.State.Object == nil {
			rec.State.Value = append([]byte(nil), d.rest...)
		}
		e.replayPut(s, key, rec)
		return nil
	case opChange:
		key := d.bytes(d.uvarint())
		rec := d.head()
		base := d.version()
		if d.rest == nil {
			break
		}
		return e.replayChange(s, key, rec, base, d.rest)
	case opDelete:
		e.unresolved.settle(s, d.rest)
		e.bury(s, d.rest)
		return nil
	case opMeta, opClear, opReset:
		meta := d.meta()
		if d.rest == nil {
			break
		}
		if len(d.rest) > 0 {
			meta.Rebuilding, meta.Unsure = d.rest[0]&metaRebuilding != 0, d.rest[0]&metaUnsure != 0
		}
		return e.replayMeta(s, op[0], meta)
	}
	return fmt.Errorf("%w: journal, number %d: %w", engine.ErrCorrupt, seq, errOperation)
}

// replayMeta repeats what changes the state of a slot.
func (e *Engine) replayMeta(s *slot, kind byte, meta record.SlotMeta) error {
	if kind != opMeta {
		e.unresolved.settleAll(s) // what survives a clear is there as a whole, see journalClear
	}
	switch kind {
	case opMeta:
		e.setMeta(s, meta)
	case opReset:
		e.clear(s, meta, nil)
	case opClear:
		survivors, err := e.survivors(s, meta)
		if err != nil {
			return err
		}
		e.clear(s, meta, survivors)
	}
	return nil
}
