//go:build !small

package transfer

// Ahead is the length in bytes from which an object is sent ahead.
const Ahead = 1 << 20
