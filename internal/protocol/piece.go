package protocol

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Piece is the body of a FramePiece: some bytes of a value that is sent ahead of the message that refers to it, on
// the same connection. Pieces of a value follow each other, from its first byte to its last one.
type Piece struct {
	// ID is the number that the message refers to, not 0 and new on the connection.
	ID   uint64
	Type record.Type
	// Plain: the value is bytes, and no object.
	Plain bool
	// Size is the length of the value, as an object is packed, Offset where in it Bytes are.
	Size, Offset int
	Bytes        []byte
}

// maxObject is more bytes than any object has.
const maxObject = 1 << 50

// AppendPieceHead appends the body of a FramePiece but for its bytes, which the caller appends.
func AppendPieceHead(dst []byte, p *Piece) []byte {
	dst = wire.AppendUvarint(dst, p.ID)
	dst = wire.AppendForm(dst, p.Type, p.Plain)
	dst = wire.AppendUvarint(dst, uint64(p.Size))
	return wire.AppendUvarint(dst, uint64(p.Offset))
}

// DecodePiece decodes it. Bytes is a view.
func DecodePiece(body []byte) (Piece, error) {
	d := wire.NewDecoder(body)
	id := d.Uvarint()
	typ, plain := d.Form()
	size, offset := d.Uvarint(), d.Uvarint()
	bytes := d.Rest()
	if id == 0 || size > maxObject || offset > size || uint64(len(bytes)) > size-offset {
		d.Fail("a piece of no value")
	}
	if err := d.Err(); err != nil {
		return Piece{}, err
	}
	return Piece{ID: id, Type: typ, Plain: plain, Size: int(size), Offset: int(offset), Bytes: bytes}, nil
}
