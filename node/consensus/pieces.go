package consensus

import (
	"encoding/binary"
	"slices"

	"github.com/quolldb/quoll/internal/wire"
)

const (
	// maxWhole is the longest message that is put together from pieces.
	maxWhole = 64 << 20
	// maxPieces is how many pieces it may have, leastMessage what MaxMessage has to be.
	maxPieces    = 1 << 16
	leastMessage = 1 << 10
	// maxSenders is from how many nodes there may be messages in pieces at the same time.
	maxSenders = 2 * MaxVoters
)

// pieceOverhead is how much longer a message with a piece may be than the piece.
const pieceOverhead = headerSize + 3*binary.MaxVarintLen64

// cut calls send with a message or, if that is too long for one, with its pieces.
func cut(message []byte, number uint64, h header, most int, send func([]byte)) {
	if len(message) <= most {
		send(message)
		return
	}
	h.kind = kindPiece
	parts := slices.Collect(slices.Chunk(message, most-pieceOverhead))
	for i, part := range parts {
		b := h.append(make([]byte, 0, pieceOverhead+len(part)))
		b = wire.AppendUvarint(b, number)
		b = wire.AppendUvarint(b, uint64(len(parts)))
		b = wire.AppendUvarint(b, uint64(i))
		send(append(b, part...))
	}
}

// assembly is a message of which not all pieces have come.
type assembly struct {
	number  uint64
	parts   [][]byte
	missing int
	size    int
}

// assemblies puts pieces together, for each sender one message at a time: a piece of another one begins anew.
type assemblies map[uint64]*assembly

// add takes a piece, and returns the message if it was the last one that was missing.
func (a assemblies) add(from uint64, d *wire.Decoder) []byte {
	number, count, index, part := d.Uvarint(), d.Uvarint(), d.Uvarint(), d.Rest()
	if d.Err() != nil || count > maxPieces || index >= count || len(part) == 0 {
		return nil
	}
	m := a[from]
	if m == nil || m.number != number {
		if m == nil && len(a) == maxSenders {
			clear(a) // whoever is still sending sends again
		}
		m = &assembly{number: number, parts: make([][]byte, count), missing: int(count)}
		a[from] = m
	}
	if int(count) != len(m.parts) || m.parts[index] != nil || m.size+len(part) > maxWhole {
		return nil
	}
	m.parts[index] = part
	m.size += len(part)
	if m.missing--; m.missing > 0 {
		return nil
	}
	whole := slices.Concat(m.parts...)
	m.parts = nil // but the number stays: a piece that comes twice begins nothing
	return whole
}
