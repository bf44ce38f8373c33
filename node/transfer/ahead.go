//go:build !small

package transfer

// Ahead is the length in bytes from which a value is sent ahead: that of a full frame of short ones.
const Ahead = 1 << 20
