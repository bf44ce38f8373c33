package protocol

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Piece is the body of a FramePiece: some bytes of the packed form of an object that is sent ahead of the message that refers to it, on
// the same connection. Pieces of an object follow each other, from its first byte to its last one.
type Piece struct {
	// ID is the number that the message refers to, not 0 and new on the connection.
	ID   uint64
	Type record.Type
	// Size is the length of all of the packed form, Offset where in it Bytes are.
	Size, Offset int
	Bytes        []byte
}

// maxObject is more bytes than any object has.
const maxObject = 1 << 50

// AppendPieceHead appends the body of a FramePiece but for its bytes, which the caller appends.
func AppendPieceHead(dst []byte, p *Piece) []byte {
	dst = wire.AppendUvarint(dst, p.ID)
	dst = append(dst, byte(p.Type))
	dst = wire.AppendUvarint(dst, uint64(p.Size))
	return wire.AppendUvarint(dst, uint64(p.Offset))
}

// DecodePiece decodes it. Bytes is a view.
func DecodePiece(body []byte) (Piece, error) {
	d := wire.NewDecoder(body)
	id, typ, size, offset := d.Uvarint(), record.Type(d.Byte()), d.Uvarint(), d.Uvarint()
	bytes := d.Rest()
	if id == 0 || size > maxObject || offset > size || uint64(len(bytes)) > size-offset {
		d.Fail("a piece of no object")
	}
	if err := d.Err(); err != nil {
		return Piece{}, err
	}
	return Piece{ID: id, Type: typ, Size: int(size), Offset: int(offset), Bytes: bytes}, nil
}
