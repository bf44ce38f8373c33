package datatype

import (
	"github.com/quolldb/quoll/internal/algebra"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// allMembers serves the internal Members key SET|ANY limit, see command.OpMembers.
func allMembers(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	limit, ok := parseInt(req.Args[3])
	switch {
	case !ok || !isWord(req.Args[2], "set") && !isWord(req.Args[2], "any"):
		return refuse(dst, errSyntax)
	case !st.Live():
		return resp.AppendNull(dst, req.RESP3), noEffect
	case st.Type == record.Set:
		m := membersIn(st)
		return membersReply(dst, m.size(), m.count(), limit, m.appendCollection)
	case st.Type == record.SortedSet && isWord(req.Args[2], "any"):
		z := zsetIn(st)
		return membersReply(dst, z.size()+8*z.count(), z.count(), limit, z.appendCollection)
	}
	return refuse(dst, errWrongType)
}

// membersReply replies a collection of about so many bytes and members, which is appended by collection, or its weight.
func membersReply(dst []byte, bytes, members int, limit int64, collection func(dst []byte) []byte) ([]byte, record.Effect) {
	weight := algebra.Weight(bytes, members)
	if int64(weight) > limit {
		return resp.AppendInt(dst, int64(weight)), noEffect
	}
	if bytes > maxReply {
		return refuse(dst, errMuchReply)
	}
	return resp.AppendBulk(dst, collection(make([]byte, 0, bytes+1))), noEffect
}

// appendCollection appends all members and their scores.
func (z zset) appendCollection(dst []byte) []byte {
	dst = algebra.AppendSortedSet(dst)
	for s := range z.from(0) {
		dst = algebra.AppendScored(dst, s.member, s.score)
	}
	return dst
}

// appendCollection appends all members.
func (m members) appendCollection(dst []byte) []byte {
	dst = algebra.AppendSet(dst)
	for member := range m.all() {
		dst = algebra.AppendMember(dst, member)
	}
	return dst
}
