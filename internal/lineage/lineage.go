// Package lineage checks what clients rarely read in the moment that would show it: of any two versions of a key that a quorum could have answered, the later one is built
// on the earlier (R10 in node/register/protocol.md). The simulator of the protocol's core and the worlds of whole clusters tell it what they see.
package lineage

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// Key names a key in its slot.
type Key struct {
	Slot uint16
	Key  string
}

// Origin is what a write was built on; a blind one on nothing.
type Origin struct {
	Base  record.Version
	Blind bool
}

// Check knows what every version was built on, and which ones could have been read. It is for one goroutine at a time.
type Check struct {
	// same reports whether two versions of a key name the same state, so that no client can tell them apart.
	same     func(at Key, a, b record.Version) bool
	origins  map[Key]map[record.Version]Origin
	readable map[Key][]record.Version
	purged   map[Key]record.Version    // the highest tombstone that was removed
	cleared  map[uint16]record.Version // the highest clear of a slot
	pairs    int
}

// New returns a check that has seen nothing.
func New(same func(at Key, a, b record.Version) bool) *Check {
	return &Check{same: same, origins: map[Key]map[record.Version]Origin{}, readable: map[Key][]record.Version{},
		purged: map[Key]record.Version{}, cleared: map[uint16]record.Version{}}
}

// Proposed is told of each version that a home sends. It counts when it is sent first.
func (c *Check) Proposed(at Key, v record.Version, from Origin) {
	if c.origins[at] == nil {
		c.origins[at] = map[record.Version]Origin{}
	}
	if _, known := c.origins[at][v]; !known {
		c.origins[at][v] = from
	}
}

// Purged is told that a replica removed the tombstone with this version.
func (c *Check) Purged(at Key, v record.Version) { c.purged[at] = record.Max(c.purged[at], v) }

// Cleared is told that a replica cleared a slot up to this version.
func (c *Check) Cleared(slot uint16, v record.Version) {
	c.cleared[slot] = record.Max(c.cleared[slot], v)
}

// Readable reports whether a version is known to have been.
func (c *Check) Readable(at Key, v record.Version) bool { return slices.Contains(c.readable[at], v) }

// NowReadable is told that a quorum holds a version for good. The error says which one that was readable before it contradicts.
func (c *Check) NowReadable(at Key, v record.Version) error {
	if _, written := c.origins[at][v]; !written && !c.purged[at].Less(v) {
		return nil // what a purge has left
	}
	var err error
	for _, other := range c.readable[at] {
		low, high := other, v
		if v.Less(other) {
			low, high = v, other
		}
		c.pairs++
		if err == nil && c.contradicts(at, low, high) {
			err = fmt.Errorf("slot %d, key %s: %v and %v could be read, and the later one is not built on the other", at.Slot, at.Key, low, high)
		}
	}
	c.readable[at] = append(c.readable[at], v)
	return err
}

// Pairs returns how many pairs of versions were compared.
func (c *Check) Pairs() int { return c.pairs }

// contradicts reports whether high was built on what knew nothing of low, and a client could tell.
func (c *Check) contradicts(at Key, low, high record.Version) bool {
	v := high
	for low.Less(v) {
		from, written := c.origins[at][v]
		if !written || from.Blind { // a clear, or a write that overwrites anything
			return false
		}
		v = from.Base
	}
	if v == low {
		return false
	}
	if _, written := c.origins[at][v]; !written && !record.Max(c.purged[at], c.cleared[at.Slot]).Less(low) {
		return false // built on what a purge or a clear has left of it
	}
	return !c.same(at, low, high)
}
