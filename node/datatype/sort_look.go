package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// What SORT looks up in other keys: the weights of elements (BY), and what it replies instead of them (GET). Which keys these are follows from the elements. So the
// keyspace takes those that it does not have for absent, and says which they are (Guess): whoever has sent the command sends it again, together with them.

// sortGet is one GET of SORT.
type sortGet struct {
	itself  bool   // #: the element
	pattern []byte // with a *; nil: it names no key, and nothing is found
}

// looked returns what a GET gets for an element, and whether there is anything.
func (s *sorting) looked(g *sortGet, element []byte) (value []byte, found bool) {
	switch {
	case g.itself:
		return element, true
	case g.pattern == nil:
		return nil, false
	}
	return s.look(g.pattern, element)
}

// lookup returns the function that looks up patterns, of a database.
func (k *Keyspace) lookup(id database.ID) func(pattern, element []byte) (value []byte, found bool) {
	k.Guess()
	return func(pattern, element []byte) (value []byte, found bool) {
		key, field := command.SortedBy(pattern, element)
		st := k.read(id.Key(key))
		switch {
		case field == nil && st.Live() && st.Type == record.String:
			text := textIn(st)
			return text.slice(0, text.size()), true
		case field != nil && st.Live() && st.Type == record.Hash:
			return hashIn(st).get(field)
		}
		return nil, false
	}
}

// sortMay serves SORT and SORT_RO, which may look at other keys, and SORT that stores.
func sortMay(k *Keyspace, dst []byte, req *command.Request) []byte {
	var s sorting
	problem := s.parse(req.Args[2:], req.Op == command.OpSortRO)
	if problem != "" || s.into == nil && !s.names {
		return k.on(dst, req)
	}
	id, _ := database.Split(req.Args[1])
	if s.names {
		s.look = k.lookup(id)
	}
	if s.into != nil {
		return s.store(k, dst, req)
	}
	dst, _ = s.answer(dst, k.read(req.Args[1]), req.RESP3)
	return dst
}

// compareLooked compares what was looked up for two elements. What was not found comes first.
func compareLooked(a, b sorted) int {
	switch {
	case !a.looked && !b.looked:
		return 0
	case !a.looked:
		return -1
	case !b.looked:
		return 1
	}
	return bytes.Compare(a.weight, b.weight)
}
