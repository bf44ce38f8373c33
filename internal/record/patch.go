package record

import "encoding/binary"

// Patch is the cheapest change of a short value: some of its bytes become others, as many. It is of any type of values that are bytes, and whoever keeps
// a value overwrites these bytes where they are, without reading, or making, the rest of it.
type Patch struct {
	At    int // of the first byte that changes
	Bytes []byte
}

// PatchTag is the first byte of a delta that is a patch. No data type begins its deltas with it.
const PatchTag = 4

// Append appends the patch as a delta: PatchTag, the place (uvarint), the bytes.
func (p Patch) Append(dst []byte) []byte {
	return append(binary.AppendUvarint(append(dst, PatchTag), uint64(p.At)), p.Bytes...)
}

// PatchOf returns the patch that a delta is, which borrows it. It reports false for one that is none, or not of this state: that is deleted, an object, longer
// than CopiedValue bytes, or does not have the bytes that would change.
func PatchOf(st State, delta []byte) (p Patch, ok bool) {
	if p, ok = patchIn(delta); !ok || !st.Live() || st.Object != nil || len(st.Value) > CopiedValue {
		return Patch{}, false
	}
	return p, p.At <= len(st.Value)-len(p.Bytes)
}

// PatchPlace returns which bytes a delta overwrites, if it is a patch: from at on, n bytes.
func PatchPlace(delta []byte) (at, n int, ok bool) {
	p, ok := patchIn(delta)
	return p.At, len(p.Bytes), ok
}

func patchIn(delta []byte) (p Patch, ok bool) {
	if len(delta) == 0 || delta[0] != PatchTag {
		return Patch{}, false
	}
	at, size := binary.Uvarint(delta[1:])
	if size <= 0 || at > CopiedValue {
		return Patch{}, false
	}
	return Patch{int(at), delta[1+size:]}, true
}

// Of returns the state that the patch makes of one that it is of. Its value is appended to dst.
func (p Patch) Of(st State, dst []byte) State {
	from := len(dst)
	dst = append(dst, st.Value...)
	st.Value = dst[from:len(dst):len(dst)]
	copy(st.Value[p.At:], p.Bytes)
	return st
}
