package engine

import "github.com/zeebo/xxh3"

// positionSeed is the seed of PositionOf: "Quoll" in ASCII. It is stored with
// nothing and sent to nobody, so it can never change.
const positionSeed = 0x51756f6c6c

// Use says what will be done with a key that is brought near.
type Use uint32

// The uses.
const (
	UseRecord Use = iota // Get, for all but the bytes of the value
	UseValue             // Get
	UseWrite             // Get and Put
	usePatch             // Patch of what is in the higher bits
)

const (
	useBits   = 2
	placeBits = 11 // a place in a value of up to record.CopiedValue bytes, or a length
)

// UsePatch is the use of a Patch of n bytes from a place on: Get, but for the value, and Patch.
func UsePatch(at, n int) Use {
	return usePatch | Use(at&(1<<placeBits-1))<<useBits | Use(n&(1<<placeBits-1))<<(useBits+placeBits)
}

// Patches returns which bytes of the value a patch overwrites. It reports false for any other use.
func (u Use) Patches() (at, n int, ok bool) {
	return int(u >> useBits & (1<<placeBits - 1)), int(u >> (useBits + placeBits)), u&(1<<useBits-1) == usePatch
}

// Writes reports whether the key's record will be another one.
func (u Use) Writes() bool { return u >= UseWrite }

// PositionOf returns the position of a key: the top 48 bits of its 64-bit XXH3
// hash with a fixed seed. It is not a secret: whoever chooses the keys can choose
// many with one position, so nothing may assume that equal positions are rare.
func PositionOf(key []byte) Position {
	return Position(xxh3.HashSeed(key, positionSeed) >> 16)
}
