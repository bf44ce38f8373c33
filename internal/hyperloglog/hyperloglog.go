// Package hyperloglog estimates how many different elements were added to a set, of which it keeps at most 12 KiB: the strings that PFADD,
// PFCOUNT and PFMERGE work on, with the same bytes as Redis 7.0's.
//
// An element belongs to one of 16384 registers, which keeps the longest run of zero bits that a hash of its elements began with. A string is a
// header and the registers, dense (6 bits each) or sparse (runs of registers of the same value), which a new one is as long as it is short.
// The header has the last estimate, and says if that is still true.
//
// It stands alone because PFCOUNT of several keys is computed by the proxy. It is pure: no I/O, no clock, nothing kept between calls.
package hyperloglog

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/buffer"
)

var (
	// ErrNone is the error for a string that is no HyperLogLog.
	ErrNone = errors.New("hyperloglog: the string is none")
	// ErrCorrupt is the error for one whose registers cannot be read.
	ErrCorrupt = errors.New("hyperloglog: it is corrupt")
)

// Count is how many registers there are.
const Count = 1 << indexBits

const (
	magic        = "HYLL"
	formAt       = 4 // in the header: how the registers are written
	estimateAt   = 8 // in the header: the estimate, of 8 bytes, the last of which has a bit that says that it is not true any more
	header       = 16
	formDense    = 0
	formSparse   = 1
	registerBits = 6
	denseSize    = header + Count*registerBits/8
	// maxSparse is the length from which on a string is not sparse: Redis' hll-sparse-max-bytes.
	maxSparse = 3000
	staleByte = estimateAt + 7
	staleBit  = 1 << 7
)

// New returns a string to which nothing was added.
func New() []byte {
	value := make([]byte, header, header+2)
	copy(value, magic)
	value[formAt] = formSparse
	return appendZeros(value, Count)
}

// Check returns ErrNone for a string that is no HyperLogLog. It does not look at the registers.
func Check(value []byte) error {
	if len(value) < header || string(value[:formAt]) != magic || value[formAt] > formSparse ||
		value[formAt] == formDense && len(value) != denseSize {
		return ErrNone
	}
	return nil
}

// Add returns a string with the changes, and those that changed something: a register only becomes larger. value, which Check has accepted, is not
// changed, and is what is returned if nothing was. Its estimate is not true any more then. The error is ErrCorrupt.
func Add(value []byte, changes []Register) (next []byte, effective []Register, err error) {
	next = value
	for _, r := range changes {
		was := len(effective)
		if next, err = add(next, r, was > 0, &effective); err != nil {
			return value, nil, err
		}
	}
	if len(effective) > 0 {
		next[staleByte] |= staleBit
	}
	return slices.Clip(next), effective, nil
}

// add makes one change, of a string that is the caller's own or is to be copied.
func add(value []byte, r Register, own bool, effective *[]Register) ([]byte, error) {
	if value[formAt] == formDense {
		if r.Value <= denseAt(value[header:], int(r.Index)) {
			return value, nil
		}
		if !own {
			value = buffer.Clone(value)
		}
		setDense(value[header:], int(r.Index), r.Value)
		*effective = append(*effective, r)
		return value, nil
	}
	next, changed, err := addSparse(value, r)
	if changed {
		*effective = append(*effective, r)
	}
	return next, err
}

// Stale returns a string whose estimate is not true any more, which is value if that is so already, and which of its bytes may be others than before.
func Stale(value []byte) (next []byte, from, to int) {
	if value[staleByte]&staleBit != 0 {
		return value, staleByte, staleByte + 1
	}
	next = buffer.Clone(value)
	next[staleByte] |= staleBit
	return next, staleByte, staleByte + 1
}

// Estimate returns the estimate that a string has, and whether it is true.
func Estimate(value []byte) (n uint64, valid bool) {
	return binary.LittleEndian.Uint64(value[estimateAt:]), value[staleByte]&staleBit == 0
}

// WithEstimate returns a string with this estimate, and which of its bytes may be others than before.
func WithEstimate(value []byte, n uint64) (next []byte, from, to int) {
	next = buffer.Clone(value)
	binary.LittleEndian.PutUint64(next[estimateAt:], n)
	return next, estimateAt, header
}
