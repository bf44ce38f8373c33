package datatype

import (
	"encoding/binary"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// What several commands do to a large object one after the other, in a transaction or a script, is one delta: of theirs, in this order.

// deltaList is a list of deltas, each behind its length. What is behind it in memory is nobody's.
type deltaList struct {
	bytes []byte
	n     int
}

// severalFrom is from which size of a state on it pays to keep deltas.
const severalFrom = record.CopiedValue

// follow notes how the state of a key followed from what it held before, by the effect of a command: if that is a delta on a long state which is a list of deltas itself, or is that of the beginning.
func (h *holding) follow(was *holding, effect *record.Effect) {
	switch {
	case effect.Kind != record.Changed || !h.changed || !h.state.Live() || !was.state.Live() || was.changed && was.several.n == 0:
	case h.state.Size() < severalFrom, len(was.several.bytes)+len(effect.Delta) > h.state.Size()/2:
	default:
		list := binary.AppendUvarint(was.several.bytes, uint64(len(effect.Delta)))
		h.several = deltaList{buffer.Append(list, effect.Delta), was.several.n + 1}
	}
}

// effect is what has become of a key that was changed.
func (h *holding) effect() record.Effect {
	switch list := &h.several; list.n {
	case 0:
		return record.Effect{Kind: record.Replaced, State: h.state}
	case 1:
		_, size := binary.Uvarint(list.bytes)
		return record.Effect{Kind: record.Changed, State: h.state, Delta: list.bytes[size:]}
	default:
		return record.Effect{Kind: record.Changed, State: h.state, Delta: buffer.Append([]byte{deltaSeveral}, list.bytes)}
	}
}

// applySeveral applies the deltas of a list, one after the other.
func applySeveral(st record.State, body []byte, s *space) (record.State, error) {
	if len(body) == 0 {
		return record.State{}, fmt.Errorf("%w: a list of no deltas", ErrDelta)
	}
	for len(body) > 0 {
		n, size := binary.Uvarint(body)
		if size <= 0 || n == 0 || n > uint64(len(body)-size) || body[size] == deltaSeveral {
			return record.State{}, fmt.Errorf("%w: a bad list of deltas", ErrDelta)
		}
		end := size + int(n)
		var err error
		if st, err = apply(st, body[size:end], s); err != nil {
			return record.State{}, err
		}
		body = body[end:]
	}
	return st, nil
}
