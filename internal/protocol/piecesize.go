//go:build !small

package protocol

import "github.com/quolldb/quoll/internal/wire"

// ReplyPieceSize is how many bytes a piece of a reply has, but the last one. A reply that is no longer comes with its result.
const ReplyPieceSize = wire.StreamPiece
