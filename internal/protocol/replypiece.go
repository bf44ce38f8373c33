package protocol

import "github.com/quolldb/quoll/internal/wire"

// ReplyPiece is the body of a FrameReplyPiece: some bytes of a reply that is long. Pieces follow each other, from its first byte to its last one; behind them comes the
// operation's Result, a StatusValue without a Reply. What else the node has to say goes between them.
type ReplyPiece struct {
	// ID is that of the operation.
	ID uint64
	// Size is the length of the reply, at most MaxReply, Offset where in it Bytes are.
	Size, Offset int
	Bytes        []byte
}

// MaxReply is the length of the longest reply to a proxy, in bytes.
const MaxReply = 128 << 20

// AppendReplyPiece appends the body of a FrameReplyPiece.
func AppendReplyPiece(dst []byte, p *ReplyPiece) []byte {
	dst = wire.AppendUvarint(dst, p.ID)
	dst = wire.AppendUvarint(dst, uint64(p.Size))
	dst = wire.AppendUvarint(dst, uint64(p.Offset))
	return append(dst, p.Bytes...)
}

// DecodeReplyPiece decodes it. Bytes is a view.
func DecodeReplyPiece(body []byte) (ReplyPiece, error) {
	d := wire.NewDecoder(body)
	id, size, offset := d.Uvarint(), d.Uvarint(), d.Uvarint()
	bytes := d.Rest()
	if size == 0 || size > MaxReply || offset > size || uint64(len(bytes)) > size-offset {
		d.Fail("a piece of no reply")
	}
	if err := d.Err(); err != nil {
		return ReplyPiece{}, err
	}
	return ReplyPiece{ID: id, Size: int(size), Offset: int(offset), Bytes: bytes}, nil
}
