package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// sIsMember serves SISMEMBER.
func sIsMember(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	return appendBool(dst, membersIn(st).has(req.Args[2])), noEffect
}

// sMIsMember serves SMISMEMBER.
func sMIsMember(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	m, asked := membersIn(st), req.Args[2:]
	dst = resp.AppendArray(dst, len(asked))
	if m.ints != nil || m.hash.parts != nil || len(asked) <= searched {
		for _, member := range asked {
			dst = appendBool(dst, m.has(member))
		}
		return dst, noEffect
	}
	there := make(map[string]struct{}, m.count())
	for member := range m.all() {
		there[string(member)] = struct{}{}
	}
	for _, member := range asked {
		_, found := there[string(member)]
		dst = appendBool(dst, found)
	}
	return dst, noEffect
}

// sCard serves SCARD.
func sCard(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	return resp.AppendInt(dst, int64(membersIn(st).count())), noEffect
}

// sMembers serves SMEMBERS: a set in RESP3.
func sMembers(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Set) {
		return refuse(dst, errWrongType)
	}
	m, start := membersIn(st), len(dst)
	dst = roomFor(resp.AppendSet(dst, m.count(), req.RESP3), m.count(), m.count(), st.Size())
	for member := range m.all() {
		if dst = resp.AppendBulk(dst, member); len(dst)-start > maxReply {
			return refuse(dst[:start], errMuchReply)
		}
	}
	return dst, noEffect
}

// sScan serves SSCAN.
func sScan(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return scanned{
		of:     record.Set,
		open:   asElements,
		append: func(page [][]byte, member, _ []byte) [][]byte { return append(page, member) },
	}.page(dst, st, req)
}

// sRandMember serves SRANDMEMBER key [count].
func sRandMember(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if len(req.Args) > 3 {
		return refuse(dst, errSyntax)
	}
	return random{of: record.Set, open: asElements}.serve(dst, st, req)
}
