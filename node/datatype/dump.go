package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/rdb"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// dumped is how a value of a type is dumped: how many items it has, and what goes through them.
type dumped struct {
	kind  rdb.Kind
	count func(st record.State) int
	// each appends the items to a payload.
	each func(payload []byte, st record.State) []byte
	// write runs the command that adds items to a key; its arguments are made by restored.
	op    command.Op
	write handler
}

// dumps says it for each type. A new type has its line here.
var dumps = map[record.Type]dumped{
	record.String:    {rdb.String, func(record.State) int { return 1 }, dumpString, command.OpSet, nil},
	record.Hash:      {rdb.Hash, func(st record.State) int { return hashIn(st).count() }, dumpHash, command.OpHSet, hSet},
	record.List:      {rdb.List, func(st record.State) int { return listIn(st).count() }, dumpList, command.OpRPush, rPush},
	record.Set:       {rdb.Set, func(st record.State) int { return membersIn(st).count() }, dumpSet, command.OpSAdd, sAdd},
	record.SortedSet: {rdb.SortedSet, func(st record.State) int { return zsetIn(st).count() }, dumpSortedSet, command.OpZAdd, zAdd},
}

func dumpString(payload []byte, st record.State) []byte {
	t := textIn(st)
	return rdb.AppendItem(payload, t.slice(0, t.size()))
}

func dumpHash(payload []byte, st record.State) []byte {
	for field, value := range hashIn(st).all() {
		payload = rdb.AppendItem(rdb.AppendItem(payload, field), value)
	}
	return payload
}

func dumpList(payload []byte, st record.State) []byte {
	for element := range listIn(st).from(0) {
		payload = rdb.AppendItem(payload, element)
	}
	return payload
}

func dumpSet(payload []byte, st record.State) []byte {
	for member := range membersIn(st).all() {
		payload = rdb.AppendItem(payload, member)
	}
	return payload
}

func dumpSortedSet(payload []byte, st record.State) []byte {
	for m := range zsetIn(st).from(0) {
		payload = rdb.AppendScore(rdb.AppendItem(payload, m.member), m.score)
	}
	return payload
}

// dump serves DUMP: the value in Redis' format, without its expiry.
func dump(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	d, ok := dumps[st.Type]
	switch {
	case st.Type == record.Stream:
		return dumpStream(dst, st)
	case !ok:
		return refuse(dst, errNoDump)
	case st.Size() > maxReply:
		return refuse(dst, errMuchReply)
	}
	const spare = 64 // for what is around the value
	payload := rdb.Begin(make([]byte, 0, st.Size()+spare), d.kind, d.count(st))
	payload = rdb.Seal(d.each(payload, st))
	if len(payload) > maxReply {
		return refuse(dst, errMuchReply)
	}
	return resp.AppendBulk(dst, payload), noEffect
}
