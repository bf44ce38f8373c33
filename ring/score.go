package ring

import (
	"hash/fnv"
	"math/bits"
)

// Rendezvous hashing: every member has a cost for every slot that depends on the
// two of them alone, and a slot goes to the members with the lowest costs. When a
// member comes or goes nobody else's costs change, so only its own slots move.
//
// Costs are exponentially distributed with the member's weight as rate (cost =
// -log(u)/weight), which makes the chance of being first proportional to the weight.
// u is not drawn independently for every slot: each member's 16,384 values are a
// random permutation of 16,384 equal strata of (0, 1). That takes away two thirds of
// the variance of how many slots a member wins, and with it most of the corrections
// that would move slots for the sake of balance.
//
// All is integer arithmetic: processors differ in how they round floating-point
// logarithms, and every process must compute the same table.

// scorer knows the costs of one member.
type scorer struct {
	seed uint64
	// rank is the stratum of each slot.
	rank []uint16
	// scale is costScale divided by the member's weight.
	scale uint64
}

const (
	logBits = 32
	// costScale keeps costs below 1<<60 and gives MaxWeight three digits.
	costScale = 1 << 24
)

func newScorer(m Member) scorer {
	h := fnv.New64a()
	h.Write([]byte(m.Name))
	s := scorer{seed: mix(h.Sum64()), rank: make([]uint16, Slots), scale: costScale / uint64(m.Weight)}
	for i := range s.rank { // Fisher-Yates, inside out
		j, _ := bits.Mul64(mix(s.seed+uint64(i)), uint64(i)+1)
		s.rank[i] = s.rank[j]
		s.rank[j] = uint16(i)
	}
	return s
}

// cost returns the cost of the slot for the member: the lower the better. A hash
// places the value within its stratum, so that members hardly ever tie.
func (s scorer) cost(slot int) int64 {
	rank := s.rank[slot]
	high, low := logTable[rank], logTable[rank+1]
	within := mix(s.seed^uint64(slot)<<32) >> logBits
	return int64((high - (high-low)*within>>logBits) * s.scale)
}

// logTable holds -log2(i/Slots) in units of 2^-logBits. The first entry, which would
// be infinite, is that of half a stratum.
var logTable = func() (table [Slots + 1]uint64) {
	table[0] = 15 << logBits
	for i := uint64(1); i <= Slots; i++ {
		table[i] = 14<<logBits - log2(i)
	}
	return table
}()

// log2 returns the binary logarithm of x > 0 in units of 2^-logBits, one bit per
// squaring of the mantissa.
func log2(x uint64) uint64 {
	whole := bits.Len64(x) - 1
	mantissa := x << (63 - whole) // in [1, 2), as a fraction of 1<<63
	log := uint64(whole)
	for range logBits {
		high, low := bits.Mul64(mantissa, mantissa)
		log <<= 1
		if high>>63 == 1 { // the square is at least 2
			log |= 1
			mantissa = high
		} else {
			mantissa = high<<1 | low>>63
		}
	}
	return log
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the
// input changes every bit of the output with probability one half.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
