package eviction

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPolicy is returned (wrapped) for what is no policy.
var ErrPolicy = errors.New("eviction: no such policy")

// Policy says which keys go when there is no memory for more, as Redis' maxmemory-policy does.
type Policy uint8

// The policies. Volatile ones evict only keys that have a time to live.
const (
	NoEviction Policy = iota
	AllKeysLRU
	AllKeysLFU
	AllKeysRandom
	VolatileLRU
	VolatileLFU
	VolatileRandom
	VolatileTTL
)

var names = [...]string{"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}

// Policies are the names of all policies.
func Policies() []string { return names[:] }

// ParsePolicy returns the policy of a name, in whatever case.
func ParsePolicy(name string) (Policy, error) {
	for p, known := range names {
		if strings.EqualFold(name, known) {
			return Policy(p), nil
		}
	}
	return NoEviction, fmt.Errorf("%w: %q is none of %s", ErrPolicy, name, strings.Join(names[:], ", "))
}

// String is the name of the policy.
func (p Policy) String() string { return names[p] }

// Volatile reports whether only keys with a time to live go.
func (p Policy) Volatile() bool { return p >= VolatileLRU }

// Tracking is what has to be noted of the use of keys.
type Tracking uint8

// What may be noted: nothing, when a key was used last, or how often.
const (
	TrackNothing Tracking = iota
	TrackRecency
	TrackFrequency
)

// Tracks says what the policy needs to know of the use of keys.
func (p Policy) Tracks() Tracking {
	switch p {
	case AllKeysLRU, VolatileLRU:
		return TrackRecency
	case AllKeysLFU, VolatileLFU:
		return TrackFrequency
	}
	return TrackNothing
}

// Random reports whether any key is as good as another.
func (p Policy) Random() bool { return p == AllKeysRandom || p == VolatileRandom }
