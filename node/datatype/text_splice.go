package datatype

import (
	"encoding/binary"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// maxSpliceHeader bounds the bytes of a splice beside its data: a tag and three
// numbers below 2^35.
const maxSpliceHeader = 1 + 3*5

func encodeSplice(oldLen, newLen, offset int, data []byte) []byte {
	delta := make([]byte, 0, maxSpliceHeader+len(data))
	delta = append(delta, deltaSplice)
	delta = binary.AppendUvarint(delta, uint64(oldLen))
	delta = binary.AppendUvarint(delta, uint64(newLen-oldLen))
	delta = binary.AppendUvarint(delta, uint64(offset))
	return buffer.Append(delta, data)
}

// applySplice is the verb apply of strings.
func applySplice(st record.State, body []byte, _ *space) (record.State, error) {
	var header [3]uint64
	for i := range header {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > MaxValueLen {
			return record.State{}, fmt.Errorf("%w: bad length in a splice", ErrDelta)
		}
		header[i], body = n, body[size:]
	}
	oldLen, newLen, offset := header[0], header[0]+header[1], header[2]
	old := textIn(st)
	if uint64(old.size()) != oldLen {
		return record.State{}, fmt.Errorf("%w: a splice of a %d byte string meets one of %d bytes", ErrDelta, oldLen, old.size())
	}
	if newLen > MaxValueLen || offset+uint64(len(body)) > newLen {
		return record.State{}, fmt.Errorf("%w: %d bytes at %d in a string of %d", ErrDelta, len(body), offset, newLen)
	}
	d := old.draft(int(newLen))
	d.write(int(offset), body)
	return d.done().state(st.ExpireAt), nil
}
