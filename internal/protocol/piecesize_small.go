//go:build small

package protocol

// ReplyPieceSize is how many bytes a piece of a reply has, but the last one, in builds with the tag small: those of e2e/world, where replies are
// shorter. A reply that is no longer comes with its result.
const ReplyPieceSize = 1 << 10
