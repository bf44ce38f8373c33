package engine

import (
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/record"
)

// Evicting is an engine that knows how much memory its data may take, and which keys are to go when that is not enough. It removes none of them itself: a
// key that goes is a replicated write, and its node's.
type Evicting interface {
	Engine

	// Eviction is how keys are evicted. SetEviction changes that, at any time: what was noted under another policy is of little use under the new one for a while.
	Eviction() *eviction.Settings
	SetEviction(eviction.Settings)

	// Memory returns how many bytes the data take, and how many they may take, 0 for any number. SetLimit changes that. Both are cheap.
	Memory() (used, limit int64)
	SetLimit(limit int64)

	// SetExhausted says whether there is nothing that the policy would let go, so that the engine has no Room beyond its limit.
	SetExhausted(is bool)

	// SetClock says what time it is, for what is noted of the use of keys from now on.
	SetClock(eviction.Clock)
	// Tracks reports whether the use of keys is noted at all. It is cheap.
	Tracks() bool
	// Use notes that a key is used, as Put does. It is serialised as Get.
	Use(slot uint16, key []byte)
	// Used returns what was noted of a key, if that is known.
	Used(slot uint16, key []byte) (u eviction.Usage, known bool)

	// Evictable returns how many live records of a slot the policy would let go, more or less, without synchronisation.
	Evictable(slot uint16) int
	// Sample calls visit with live records of a slot that the policy would let go, from a position on and then from the first one, until it returns false, all have been seen, or
	// so many were looked at that others should have the slot. It is serialised as Get, and visit borrows the key.
	Sample(slot uint16, from Position, visit func(Sampled) bool)
}

// Sampled is a record that may be evicted.
type Sampled struct {
	Key      []byte
	Version  record.Version
	ExpireAt int64
	// Usage is what was noted of its use, and Size about how many bytes it takes.
	Usage eviction.Usage
	Size  int
}
