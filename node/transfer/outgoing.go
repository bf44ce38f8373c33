package transfer

import (
	"encoding/binary"
	"io"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Large reports whether the value of a state is sent ahead of the message.
func Large(s *record.State) bool { return s.Size() >= Ahead }

// keyOf returns the slot and the key that a message is about.
func keyOf(m *replication.Message) string {
	return string(append(binary.LittleEndian.AppendUint16(nil, m.Slot), m.Key...))
}

// pieces makes the pieces of one value.
type pieces struct {
	head   protocol.Piece // of the next one
	reader io.Reader
}

func newPieces(id uint64, s *record.State) pieces {
	return pieces{protocol.Piece{ID: id, Type: s.Type, Plain: s.Object == nil, Size: s.Size()}, s.Reader()}
}

// over reports whether all have been made.
func (p *pieces) over() bool { return p.head.Offset == p.head.Size }

// queued returns how many bytes count as queued (wire.Source).
func (p *pieces) queued() int {
	if p.head.Plain {
		return p.head.Size - p.head.Offset
	}
	return 0
}

// next appends a frame with the next piece. It reports false if the value cannot be read.
func (p *pieces) next(dst []byte) ([]byte, bool) {
	start := len(dst)
	dst = protocol.AppendPieceHead(wire.BeginFrame(dst, protocol.FramePiece), &p.head)
	n := min(p.head.Size-p.head.Offset, wire.StreamPiece)
	at := len(dst)
	if cap(dst)-at < n {
		dst = append(make([]byte, 0, at+n), dst...)
	}
	dst = dst[:at+n]
	if _, err := io.ReadFull(p.reader, dst[at:]); err != nil {
		return dst[:start], false
	}
	p.head.Offset += n
	return wire.EndFrame(dst, start), true
}
