package bench

import (
	"math/rand/v2"
	"strings"
)

// The distributions of keys.
const (
	// Uniform takes all keys alike.
	Uniform = "uniform"
	// Zipf takes the n-th key with a probability proportional to n^-zipfExponent.
	Zipf = "zipf"
	// Exponential has a density that falls by e^exponentialRate from the first key to the last.
	Exponential = "exponential"
)

const (
	zipfExponent    = 1.1
	exponentialRate = 3.5
)

// picker returns the numbers of keys, from 0 to keys-1, in a distribution.
func picker(random *rand.Rand, distribution string, keys int) func() uint64 {
	switch distribution {
	case Zipf:
		return rand.NewZipf(random, zipfExponent, 1, uint64(keys-1)).Uint64
	case Exponential:
		return func() uint64 {
			for {
				if x := random.ExpFloat64() / exponentialRate; x < 1 {
					return uint64(x * float64(keys))
				}
			}
		}
	}
	return func() uint64 { return random.Uint64N(uint64(keys)) }
}

// keyspace writes keys of one length: the prefix, zeros, and the number of the key.
type keyspace struct {
	frame []byte // the key of number 0
}

func newKeyspace(prefix string, size int) keyspace {
	return keyspace{[]byte(prefix + strings.Repeat("0", size-len(prefix)))}
}

// append appends the key of a number, which has no more digits than there is room for.
func (k keyspace) append(dst []byte, number uint64) []byte {
	dst = append(dst, k.frame...)
	for i := len(dst) - 1; number > 0; i-- {
		dst[i] = '0' + byte(number%10)
		number /= 10
	}
	return dst
}
