package bench

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// values gives each key its value: eight bytes that tell the key, then a piece of a block of random text that depends on the
// key as well. (Shorter values are the beginning of that.) It costs little more than copying.
type values struct {
	size  int
	block []byte
}

const (
	valueHead = 8
	// offsets is how many different pieces there are.
	offsets = 1 << 16
)

func newValues(size int) values {
	random := rand.New(rand.NewPCG(1, 2))
	block := make([]byte, offsets+size)
	for i := range block {
		block[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[random.Uint32N(64)]
	}
	return values{size, block}
}

// parts returns the two parts of a key's value before it is cut to its size.
func (v values) parts(number uint64) (head [valueHead]byte, tail []byte) {
	x := mix(number)
	binary.LittleEndian.PutUint64(head[:], x)
	at := x % offsets
	return head, v.block[at : at+uint64(max(0, v.size-valueHead))]
}

// append appends the value of a key.
func (v values) append(dst []byte, number uint64) []byte {
	head, tail := v.parts(number)
	dst = append(dst, head[:min(valueHead, v.size)]...)
	return append(dst, tail...)
}

// matches reports whether piece is what the value of a key has from the byte at on.
func (v values) matches(number uint64, at int, piece []byte) bool {
	if at+len(piece) > v.size {
		return false
	}
	head, tail := v.parts(number)
	if at < valueHead {
		n := min(valueHead-at, len(piece))
		if !bytes.Equal(piece[:n], head[at:at+n]) {
			return false
		}
		at, piece = at+n, piece[n:]
	}
	return len(piece) == 0 || bytes.Equal(piece, tail[at-valueHead:at-valueHead+len(piece)])
}

// mix is splitmix64's: numbers that differ become different ones that look random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
