package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// sAdd serves SADD: how many members are new.
func sAdd(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	m := membersIn(st)
	var room [usual]fieldChange
	e := edit{list: room[:0]}
	for _, member := range req.Args[2:] {
		if m.hash.parts != nil && m.has(member) { // to write it again would be a change
			continue
		}
		e = e.add(fieldChange{field: member})
	}
	dst, s := e.setSpace(dst, m)
	next, found := e.applyToSet(m, &s)
	reply := resp.AppendInt(dst, int64(len(e.list)-found))
	if found == len(e.list) {
		return reply, noEffect
	}
	return run(e, reply, len(dst), st, next, req, &s)
}

// sRem serves SREM: how many of the members were there.
func sRem(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	m := membersIn(st)
	var room [usual]fieldChange
	e := edit{list: room[:0]}
	for _, member := range req.Args[2:] {
		e = e.add(fieldChange{field: member, remove: true})
	}
	dst, s := e.setSpace(dst, m)
	next, found := e.applyToSet(m, &s)
	reply := resp.AppendInt(dst, int64(found))
	if found == 0 {
		return reply, noEffect
	}
	return run(e, reply, len(dst), st, next, req, &s)
}

// sMove serves SMOVE from a key to itself, which changes nothing: whether the member is there.
func sMove(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	return appendBool(dst, membersIn(st).has(req.Args[3])), noEffect
}

// sPop serves SPOP key [count]. The home chooses: the effect says which members go.
func sPop(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if len(req.Args) > 2 {
		return sPopSome(dst, st, req)
	}
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	m, d := membersIn(st), dice(req.Random)
	member, _ := m.at(d.below(m.count()))
	gone := [1]fieldChange{{field: member, remove: true}}
	e := edit{list: gone[:]}
	start := len(dst)
	dst, s := e.setSpace(resp.AppendBulk(dst, member), m)
	next, _ := e.applyToSet(m, &s)
	return run(e, dst, start, st, next, req, &s)
}

// sPopSome serves SPOP with a count.
func sPopSome(dst []byte, st record.State, req *command.Request) ([]byte, record.Effect) {
	if len(req.Args) > 3 {
		return refuse(dst, errSyntax)
	}
	count, ok := parseInt(req.Args[2])
	switch {
	case !ok || count < 0:
		return refuse(dst, errNotPositive)
	case holdsOther(st, record.Set):
		return refuse(dst, errWrongType)
	case !st.Live() || count == 0:
		return resp.AppendSet(dst, 0, req.RESP3), noEffect
	}
	m, d, start := membersIn(st), dice(req.Random), len(dst)
	missing := int(min(count, int64(m.count())))
	dst = resp.AppendSet(dst, missing, req.RESP3)
	var room [usual]fieldChange
	e := edit{list: room[:0]}
	for member := range d.choose(missing, m) {
		if dst = resp.AppendBulk(dst, member); len(dst)-start > maxReply {
			return refuse(dst[:start], errMuchReply)
		}
		e = e.add(fieldChange{field: member, remove: true})
	}
	if missing == m.count() {
		return dst, deleted()
	}
	dst, s := e.setSpace(dst, m)
	next, _ := e.applyToSet(m, &s)
	return run(e, dst, start, st, next, req, &s)
}
