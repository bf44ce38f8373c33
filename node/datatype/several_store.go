package datatype

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// zRangeStore serves ZRANGESTORE.
func zRangeStore(k *Keyspace, dst []byte, req *command.Request) []byte {
	o := rangeOptions{mayRev: true, stores: true}
	problem := o.parse(req.Args[5:])
	if problem == "" {
		problem = o.parseEnds(req.Args[3], req.Args[4])
	}
	var st record.State
	if problem == "" {
		st = k.read(req.Args[2])
	}
	if problem == "" && holdsOther(st, record.SortedSet) {
		problem = errWrongType
	}
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	z := zsetIn(st)
	from, to := o.ranks(z)
	var found record.State
	if from < to {
		found = newZset(to-from, z.span(from, to, false))
	}
	k.store(req.Args[1], found, req, notify.SortedSet, "zrangestore")
	return resp.AppendInt(dst, int64(max(to-from, 0)))
}

// geoStore serves GEOSEARCHSTORE, and GEORADIUS and GEORADIUSBYMEMBER, which may store what they find.
func geoStore(k *Keyspace, dst []byte, req *command.Request) []byte {
	key := req.Args[1]
	if req.Op == command.OpGeoSearchStore {
		key = req.Args[2]
	}
	g, found, problem := geoFind(k.read(key), req)
	switch {
	case problem != "":
		return resp.AppendError(dst, problem)
	case g.into == nil:
		dst, _ = g.reply(dst, found, req.RESP3)
		return dst
	}
	list := make([]scored, len(found))
	for i, f := range found {
		list[i] = f.scored
		if g.distances {
			list[i].score = f.distance / g.area.Unit
		}
	}
	slices.SortFunc(list, scored.compare)
	var st record.State
	if len(list) > 0 {
		st = newZset(len(list), slices.Values(list))
	}
	event := "georadiusstore"
	if req.Op == command.OpGeoSearchStore {
		event = "geosearchstore"
	}
	k.store(g.into, st, req, notify.SortedSet, event)
	return resp.AppendInt(dst, int64(len(list)))
}

// store stores a list of what SORT finds.
func (s *sorting) store(k *Keyspace, dst []byte, req *command.Request) []byte {
	st := k.read(req.Args[1])
	if s.asTheyAre && st.Type == record.Set { // so that it is the same on whichever server it is done
		s.asTheyAre, s.alpha, s.by = false, true, nil
	}
	elements, n, problem := s.find(st)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	from, to := s.ranks(n)
	gets := s.wanted()
	told := k.told.Len()
	list := func(yield func([]byte) bool) {
		k.told.Cut(told) // it is gone through twice, and what is not found is told once
		rank := -1
		for element := range elements {
			if rank++; rank >= to {
				return
			}
			for i := range gets {
				if rank < from {
					break
				}
				if value, _ := s.looked(&gets[i], element); !yield(value) {
					return
				}
			}
		}
	}
	count := (to - from) * len(gets)
	sorted, problem := newList(count, list, longestCollection(req))
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	k.store(s.into, sorted, req, notify.Lists, "sortstore")
	return resp.AppendInt(dst, int64(count))
}

// newList returns a list of so many elements, none if there are none. Of a large one it is the object that it is in memory. The elements are borrowed while they come. problem
// says that it would be too long.
func newList(n int, all iter.Seq[[]byte], longest int) (st record.State, problem string) {
	if n == 0 {
		return record.State{}, ""
	}
	size := parts.UvarintSize(n)
	for element := range all {
		if size += parts.LengthenedSize(len(element)); size > longest {
			return record.State{}, errTooLong(record.List)
		}
	}
	packed := binary.AppendUvarint(make([]byte, 0, size), uint64(n))
	for element := range all {
		packed = parts.AppendLengthened(packed, element)
	}
	return list{packed: packed}.settled().state(0), ""
}
