package register

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// A batch is one write to several keys of a slot: all of it, or nothing. It goes through one more register of the slot, whose key is BatchKey: what is
// to be written is written there first, and is decided with that. Only then do its keys get it, each in a write of its own. See protocol.md, B1 to B8.

// BatchKey is the key of the record that says what a slot's last batch writes. It is in every slot that has had one. No client has it.
var BatchKey = []byte(database.Prefix + "batch")

// batchRecord is the state of BatchKey: the keys of a batch, or of several that were proposed together. Without any it is closed: the keys have what they
// were to get.
type batchRecord struct {
	origin record.Version // the record of a former term that this term has completed first, if it has
	keys   []batchKey
}

// batchKey is a key that a batch writes, or that it has only read.
type batchKey struct {
	name  []byte
	seq   uint64         // of the write of the key, in the term of the record; 0 if there is none
	base  record.Version // what the batch was evaluated on
	state record.State
}

// unnumbered is the seq of a write that has none yet.
const unnumbered = 1

// open reports whether some key may not have yet what it is to get.
func (b *batchRecord) open() bool { return len(b.keys) > 0 }

// names reports whether a key is one of those of the batch.
func (b *batchRecord) names(name []byte) bool {
	for i := range b.keys {
		if bytes.Equal(b.keys[i].name, name) {
			return true
		}
	}
	return false
}

// state returns the record as the state of a key.
func (b *batchRecord) state() record.State { return b.stateIn(nil) }

// stateIn is state, of which a short value, as it is borrowed from states, is in room, unless that is nil.
func (b *batchRecord) stateIn(room *[]byte) record.State {
	if !b.open() && b.origin.IsZero() {
		return record.State{Type: record.Batch}
	}
	var value []byte
	size := b.bound()
	if room != nil && size <= record.CopiedValue {
		value = (*room)[:0]
	}
	value = appendVersion(slices.Grow(value, size), b.origin)
	for i := range b.keys {
		k, st := &b.keys[i], b.keys[i].state.Packed()
		value = appendPart(binary.AppendUvarint(value, k.seq), k.name)
		value = appendVersion(value, k.base)
		value = appendPart(binary.AppendUvarint(binary.AppendUvarint(value, uint64(st.Type)), uint64(st.ExpireAt)), st.Value)
	}
	switch {
	case room == nil:
	case len(value) > record.CopiedValue: // whoever gets it keeps it
		*room = nil
	default:
		*room = value
	}
	return record.State{Type: record.Batch, Value: value}
}

// bound is about how many bytes the record takes, as long as its values are in one piece.
func (b *batchRecord) bound() int {
	const most = binary.MaxVarintLen64
	size := 3 * most
	for i := range b.keys {
		size += 8*most + len(b.keys[i].name) + len(b.keys[i].state.Value)
	}
	return size
}

func appendVersion(dst []byte, v record.Version) []byte {
	for _, n := range []uint64{v.Ballot.Counter, v.Ballot.Incarnation, v.Seq} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func appendPart(dst, part []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

var errBatchRecord = errors.New("register: the record of a batch makes no sense")

// parseBatch is the reverse of state, of which it keeps nothing. What is of any other type is no record: it is closed.
func parseBatch(st record.State) (*batchRecord, error) {
	b := new(batchRecord)
	if st.Type != record.Batch {
		return b, nil
	}
	p := parser{rest: bytes.Clone(st.Value)}
	if len(p.rest) > 0 {
		b.origin = p.version()
	}
	for len(p.rest) > 0 && !p.failed {
		k := batchKey{seq: p.number(), name: p.part()}
		k.base = p.version()
		k.state = record.State{Type: record.Type(p.number()), ExpireAt: int64(p.number()), Value: p.part()}
		b.keys = append(b.keys, k)
	}
	if p.failed {
		return nil, errBatchRecord
	}
	return b, nil
}

// parser takes apart what it owns.
type parser struct {
	rest   []byte
	failed bool
}

func (p *parser) number() uint64 {
	n, size := binary.Uvarint(p.rest)
	if p.failed = p.failed || size <= 0; p.failed {
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

func (p *parser) version() record.Version {
	return record.Version{Ballot: record.Ballot{Counter: p.number(), Incarnation: p.number()}, Seq: p.number()}
}

func (p *parser) part() []byte {
	n := p.number()
	if p.failed = p.failed || n > uint64(len(p.rest)); p.failed {
		return nil
	}
	part := p.rest[:n:n]
	p.rest = p.rest[n:]
	return part
}

// batch returns the batch that is open as far as the replica knows, nil for none.
func (a *Acceptor) batch() (*batchRecord, error) {
	if a.knowsBatch {
		return a.open, nil
	}
	rec, _, err := a.Read(BatchKey)
	if err != nil {
		return nil, err
	}
	b, err := parseBatch(rec.State)
	if err != nil {
		return nil, err
	}
	a.open, a.knowsBatch = nil, true
	if b.open() {
		a.open = b
	}
	return a.open, nil
}

// Batched reports whether a key is one of a batch that is open as far as the replica knows: what it holds of the key is then no answer to a quorum read
// (B5).
func (a *Acceptor) Batched(key []byte) (bool, error) {
	b, err := a.batch()
	return err == nil && b != nil && b.names(key), err
}

// OpenBatch returns the version of the record of batches if that is open as far as the replica knows, zero if it is not.
func (a *Acceptor) OpenBatch() (record.Version, error) {
	if b, err := a.batch(); b == nil || err != nil {
		return record.Version{}, err
	}
	rec, _, err := a.Read(BatchKey)
	return rec.Version, err
}

// noteBatch keeps up with what becomes of the record.
func (a *Acceptor) noteBatch(w *Write) {
	switch w.Kind {
	case WriteNothing:
	case WriteChanges:
		for i := range w.Changes {
			if bytes.Equal(w.Changes[i].Key, BatchKey) {
				a.knowsBatch = false
			}
		}
	default:
		a.knowsBatch = false
	}
}
