package table

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/arena"
)

// shared is what all pages of a table have together. It is on Go's heap, where the table keeps it: the garbage collector does not look into
// pages, which may be in the arena.
type shared struct {
	arena *arena.Arena // that the pages and their memory are of
	far   far
}

// forgetFar gives up all that is far.
func (s *shared) forgetFar() {
	for i := range s.far.list {
		if v := &s.far.list[i]; v.bytes != nil || v.object != nil {
			s.arena.Lend(-v.memory())
		}
	}
	s.far = far{}
}

// far is what is longer than record.CopiedValue, and what is no bytes: each piece is memory of its own.
type far struct {
	list []farValue // zero: free
	free []uint32   // the free ones of list
}

// farValue is one of both.
type farValue struct {
	bytes  []byte
	object record.Object
}

// memory returns how many bytes of memory it takes.
func (v *farValue) memory() int {
	if v.object != nil {
		return v.object.Memory() + pieceOverhead
	}
	return len(v.bytes) + pieceOverhead
}

func (f *far) add(v farValue, size int) piece {
	at := uint32(len(f.list))
	if n := len(f.free); n > 0 {
		at, f.free = f.free[n-1], f.free[:n-1]
		f.list[at] = v
	} else {
		f.list = append(f.list, v)
	}
	return piece{at | isFar, uint32(size)}
}

func (f *far) remove(p piece) {
	at := p.at &^ isFar
	f.list[at], f.free = farValue{}, append(f.free, at)
	if len(f.free) == len(f.list) {
		*f = far{}
	}
}
