package engine

import "github.com/zeebo/xxh3"

// positionSeed is the seed of PositionOf: "Quoll" in ASCII. It is stored with
// nothing and sent to nobody, so it can never change.
const positionSeed = 0x51756f6c6c

// Use says what will be done with a key that is brought near.
type Use uint8

// The uses.
const (
	UseRecord Use = iota // Get, for all but the bytes of the value
	UseValue             // Get
	UseWrite             // Get and Put
)

// PositionOf returns the position of a key: the top 48 bits of its 64-bit XXH3
// hash with a fixed seed. It is not a secret: whoever chooses the keys can choose
// many with one position, so nothing may assume that equal positions are rare.
func PositionOf(key []byte) Position {
	return Position(xxh3.HashSeed(key, positionSeed) >> 16)
}
