package datatype

import (
	"encoding/binary"
	"iter"

	"github.com/quolldb/quoll/internal/algebra"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// mostCombined is how much memory (algebra.Weight) the sets of one command may take. It is as much as a proxy takes for those of several slots.
const mostCombined = 128 << 20

// combineAll serves the commands that put sets, or sorted sets, together: SINTER, ZUNIONSTORE and the others.
func combineAll(k *Keyspace, dst []byte, req *command.Request) []byte {
	sets, problem := algebra.Parse(req.Args)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	of, problem := k.collections(&sets)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	if sets.Into == nil {
		return sets.Reply(dst, of, req.RESP3)
	}
	n, members, problem := sets.Result(of)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	var st record.State
	switch {
	case n == 0:
	case sets.Sets():
		st = newSet(n, members)
	default:
		st = newZset(n, func(yield func(scored) bool) {
			var room []byte
			for member, score := range members {
				if room = append(room[:0], member...); !yield(scored{score, room}) {
					return
				}
			}
		})
	}
	class := notify.SortedSet
	if sets.Sets() {
		class = notify.Set
	}
	k.store(sets.Into, st, req, class, command.ByOp(req.Op).Name)
	return resp.AppendInt(dst, int64(n))
}

// collections returns what the keys of a command hold.
func (k *Keyspace) collections(sets *algebra.Command) (of []algebra.Collection, problem string) {
	read := make(map[string]algebra.Collection, len(sets.Keys))
	weight := 0
	for _, key := range sets.Keys {
		st := k.read(key)
		c, there := read[string(key)]
		if !there {
			switch {
			case !st.Live():
			case st.Type == record.Set:
				m := membersIn(st)
				if weight += algebra.Weight(m.size(), m.count()); weight <= mostCombined {
					c = algebra.Collection(m.appendCollection(make([]byte, 0, m.size()+1)))
				}
			case st.Type == record.SortedSet && !sets.Sets():
				z := zsetIn(st)
				if weight += algebra.Weight(z.size()+8*z.count(), z.count()); weight <= mostCombined {
					c = algebra.Collection(z.appendCollection(make([]byte, 0, z.size()+8*z.count()+1)))
				}
			default:
				return nil, errWrongType
			}
			read[string(key)] = c
		}
		of = append(of, c)
	}
	if weight > mostCombined {
		return nil, errMuchCombined
	}
	return of, ""
}

// newSet returns a set of so many members, which are different. Of a large one it is the object that it is in memory.
func newSet(n int, all iter.Seq2[string, float64]) record.State {
	size := parts.UvarintSize(n)
	for member := range all {
		size += parts.LengthenedSize(len(member)) + parts.LengthenedSize(0)
	}
	packed := binary.AppendUvarint(make([]byte, 0, size), uint64(n))
	var room []byte
	for member := range all {
		room = append(room[:0], member...)
		packed = parts.AppendItem(packed, room, nil)
	}
	return members{hash: hash{packed: packed}}.settled(new(space)).state(0)
}

// newZset returns a sorted set of so many members, which are different, and come in its order. Of a large one it is the object that it is in memory. The members are borrowed
// while they come.
func newZset(n int, all iter.Seq[scored]) record.State {
	size := parts.UvarintSize(n)
	for s := range all {
		size += s.size()
	}
	packed := binary.AppendUvarint(make([]byte, 0, size), uint64(n))
	for s := range all {
		packed = s.append(packed)
	}
	return zset{packed: packed}.settled().state(0)
}
