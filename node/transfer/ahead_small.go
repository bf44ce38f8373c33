//go:build small

package transfer

// Ahead is the length in bytes from which a value is sent ahead in builds with the tag small: those of e2e/world, where values of a usual
// size would take most of the time.
const Ahead = 24 << 10
