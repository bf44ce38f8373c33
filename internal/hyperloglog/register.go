package hyperloglog

import (
	"encoding/binary"
	"math/bits"
)

// Register is one register and a value for it.
type Register struct {
	Index uint16
	Value uint8
}

// MaxValue is the highest value that there is room for in a register.
const MaxValue = 1<<registerBits - 1

const (
	indexBits = 14
	// hashBits is how many bits of a hash are left for the run of zeros.
	hashBits = 64 - indexBits
)

// Of returns what an element says about a register: that it has at least this value.
func Of(element []byte) Register {
	h := hash(element)
	run := bits.TrailingZeros64(h>>indexBits | 1<<hashBits)
	return Register{uint16(h % Count), uint8(run + 1)}
}

// hash is MurmurHash64A with the seed that Redis gives it.
func hash(b []byte) uint64 {
	const (
		seed   = 0xadc83b19
		mul    = 0xc6a4a7935bd1e995
		rotate = 47
	)
	h := seed ^ uint64(len(b))*mul
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * mul
		k = (k ^ k>>rotate) * mul
		h = (h ^ k) * mul
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * mul
	}
	h = (h ^ h>>rotate) * mul
	return h ^ h>>rotate
}

// denseAt returns a register of those of a dense string. The first one has the low bits of the first byte.
func denseAt(registers []byte, i int) uint8 {
	at, shift := i*registerBits/8, i*registerBits%8
	v := uint16(registers[at]) >> shift
	if shift > 8-registerBits {
		v |= uint16(registers[at+1]) << (8 - shift)
	}
	return uint8(v & MaxValue)
}

// setDense sets a register of those of a dense string.
func setDense(registers []byte, i int, value uint8) {
	at, shift := i*registerBits/8, i*registerBits%8
	registers[at] = registers[at]&^(MaxValue<<shift) | value<<shift
	if shift > 8-registerBits {
		registers[at+1] = registers[at+1]&^(MaxValue>>(8-shift)) | value>>(8-shift)
	}
}
