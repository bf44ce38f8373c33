package route

import "github.com/quolldb/quoll/internal/buffer"

// replies is the memory of a batch's replies. They stay where they are until it is
// reset: what is full is followed by another piece, and nothing is moved.
type replies struct {
	last []byte
	full [][]byte
}

// minReplies is the capacity of the first piece.
const minReplies = 512

// add copies a reply.
func (r *replies) add(reply []byte) []byte {
	r.reserve(len(reply))
	start := len(r.last)
	r.last = buffer.Append(r.last, reply)
	return r.last[start:len(r.last):len(r.last)]
}

// lend returns memory for a reply of n bytes.
func (r *replies) lend(n int) []byte {
	piece := buffer.Get(n)
	r.full = append(r.full, piece)
	return piece[:0:n]
}

// fail builds the reply that tells of an error.
func (r *replies) fail(err error) []byte {
	start := len(r.last)
	r.last = AppendReply(r.last, err) // if that moves the piece, those who have a view of the old one keep it
	return r.last[start:len(r.last):len(r.last)]
}

// reserve makes room for n bytes, in a new piece if need be.
func (r *replies) reserve(n int) {
	if cap(r.last)-len(r.last) >= n && r.last != nil {
		return
	}
	size := max(n, 2*cap(r.last), minReplies)
	if cap(r.last) > 0 {
		r.full = append(r.full, r.last)
	}
	if size < buffer.Least {
		r.last = make([]byte, 0, size)
	} else {
		r.last = buffer.Get(max(n, min(size, maxPiece)))
	}
}

// maxPiece bounds pieces of more than one reply.
const maxPiece = 1 << 20

// reset forgets the replies, which nobody has a view of any more, and keeps one piece of at most
// so many bytes.
func (r *replies) reset(kept int) {
	for i, piece := range r.full {
		buffer.Put(piece)
		r.full[i] = nil
	}
	r.full = r.full[:0]
	if r.last = r.last[:0]; cap(r.last) > kept {
		buffer.Put(r.last)
		r.last = nil
	}
}
