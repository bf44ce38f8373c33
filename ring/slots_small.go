//go:build small

package ring

// Slots is the number of hash slots in builds with the tag small: those of e2e/world, in which whole clusters live many times as
// fast as real ones. Most of what a cluster does that has little to do is to look at all its slots.
const Slots = 128
