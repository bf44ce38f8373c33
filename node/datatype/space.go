package datatype

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// space is memory for the short value and the short delta of an effect, which whoever keeps them copies: so it is used again and again.
type space struct{ free []byte }

// replyRoom is at least what a reply takes that is a number, or OK.
const replyRoom = 24

// behind returns space for so many bytes in the buffer of a reply, behind what it has and replyRoom bytes more.
func behind(reply []byte, n int) ([]byte, space) {
	reply = slices.Grow(reply, replyRoom+n)
	from := len(reply) + replyRoom
	return reply, space{reply[from : from+n]}
}

// take returns n bytes of memory to append to: some of the space, if it has as many and they will be copied.
func (s *space) take(n int) []byte {
	if n > len(s.free) || n > record.CopiedValue {
		return make([]byte, 0, n)
	}
	taken := s.free[:0:n]
	s.free = s.free[n:]
	return taken
}

// Applier applies deltas, and uses the memory for short values again. It is for one goroutine at a time. The zero Applier is ready.
type Applier struct {
	room []byte
	left space // of room, while a delta is applied
}

// Apply is the function Apply, but that a Value of up to record.CopiedValue bytes is borrowed until the next call.
func (a *Applier) Apply(st record.State, delta []byte) (record.State, error) {
	if a.room == nil {
		a.room = make([]byte, record.CopiedValue)
	}
	a.left = space{a.room}
	return apply(st, delta, &a.left)
}
