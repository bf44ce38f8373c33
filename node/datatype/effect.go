package datatype

import (
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// When an effect is sent as a delta. A delta makes a replica copy its state, and
// costs another round when the replica lags, so it must save real bytes.
const (
	// A splice is used in values longer than minSpliceValue, when it is shorter than
	// the value by the factor minSpliceGain.
	minSpliceValue = 256
	minSpliceGain  = 4
	// A change of nothing but the expiry is a delta for values longer than this.
	minExpiryValue = 64
	// To write a state of at least so many bytes again is a delta: who lacks the state asks for it.
	minWriteAgain = 64 << 10
)

// replaced is the effect of giving the key a whole new state. A state that is
// expired already is a deletion, so that nobody has to expire it later.
func replaced(st record.State, now int64) record.Effect {
	if st.Expired(now) {
		return deleted()
	}
	return record.Effect{Kind: record.Replaced, State: st}
}

// deleted is the effect of removing the key.
func deleted() record.Effect { return record.Effect{Kind: record.Replaced} }

// stringOf returns the state of a string that keeps the expiry of the old state.
func stringOf(old record.State, value []byte) record.State {
	return record.State{Type: record.String, ExpireAt: old.ExpireAt, Value: value}
}

// spliced is the effect of a new value that differs from the old one only in
// [from, to) and, where it is longer, in added zero bytes. It keeps the expiry.
//
// The new state of an absent key is never a delta: what the home sees as absent
// may be an expired value that the replicas still hold.
func spliced(old record.State, next text, from, to int) record.Effect {
	eff, size := record.Effect{Kind: record.Replaced, State: next.state(old.ExpireAt)}, next.size()
	if !old.Live() || size <= minSpliceValue {
		return eff
	}
	if maxSpliceHeader+to-from < size/minSpliceGain {
		eff.Kind = record.Changed
		eff.Delta = encodeSplice(textIn(old).size(), size, from, next.slice(from, to))
	}
	return eff
}

// patched is the effect of other bytes, as many, in a value from a place on. It reports false if that is no smaller than the value as a delta has to be, or if the value is
// shared.
func patched(req *command.Request, old record.State, at int, with []byte) (eff record.Effect, ok bool) {
	size := len(old.Value)
	if old.Object != nil || size <= minSpliceValue || size > record.CopiedValue || maxSpliceHeader+len(with) >= size/minSpliceGain {
		return noEffect, false
	}
	old.Value = slices.Clip(old.Value)
	return record.Effect{Kind: record.Patched, State: old, At: at, Delta: keep(req, with)}, true
}

// WriteAgain is the effect of writing once more what a key holds: the same state under another version. Of a large one only those replicas
// get it that do not have it.
func WriteAgain(st record.State) record.Effect {
	if st.Size() < minWriteAgain || st.Type == record.Batch {
		return record.Effect{Kind: record.Replaced, State: st}
	}
	return expiryChanged(st, st.ExpireAt)
}

// expiryChanged is the effect of changing the expiry of a key (0 for none) and
// nothing else.
func expiryChanged(st record.State, at int64) record.Effect {
	st.ExpireAt = at
	eff := record.Effect{Kind: record.Replaced, State: st}
	if st.Size() > minExpiryValue {
		eff.Kind = record.Changed
		eff.Delta = encodeExpiry(at)
	}
	return eff
}
