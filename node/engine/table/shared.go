package table

import "github.com/quolldb/quoll/node/engine/arena"

// shared is what all pages of a table have together. It is on Go's heap, where the table keeps it: the garbage collector does not look into
// pages, which may be in the arena.
type shared struct {
	arena *arena.Arena // that the pages and their memory are of
	far   far
}

// forgetFar gives up all that is far.
func (s *shared) forgetFar() {
	for _, b := range s.far.list {
		if b != nil {
			s.arena.Lend(-farSize(len(b)))
		}
	}
	s.far = far{}
}

// far is what is longer than record.CopiedValue: each piece is memory of its own.
type far struct {
	list [][]byte // nil: free
	free []uint32 // the free ones of list
}

func (f *far) add(b []byte) piece {
	at := uint32(len(f.list))
	if n := len(f.free); n > 0 {
		at, f.free = f.free[n-1], f.free[:n-1]
		f.list[at] = b
	} else {
		f.list = append(f.list, b)
	}
	return piece{at | isFar, uint32(len(b))}
}

func (f *far) remove(p piece) {
	at := p.at &^ isFar
	f.list[at], f.free = nil, append(f.free, at)
	if len(f.free) == len(f.list) {
		*f = far{}
	}
}
