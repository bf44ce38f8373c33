package datatype

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// readOptions are what XREAD and XREADGROUP have before STREAMS.
type readOptions struct {
	count           int64 // 0: all
	group, consumer []byte
	noAck           bool
}

// parseReadOptions reads them, up to STREAMS, which may not be there, and returns what is behind it. problem is an error text, empty when all is well. How long to BLOCK is read, and for
// the proxy to know: a node never waits.
func parseReadOptions(args [][]byte, ofGroup bool) (o readOptions, streams [][]byte, problem string) {
	for i := 0; i < len(args); i++ {
		more := len(args) - i - 1
		switch opt := args[i]; {
		case isWord(opt, "block") && more > 0:
			i++
			if problem := checkBlock(args[i]); problem != "" {
				return o, nil, problem
			}
		case isWord(opt, "count") && more > 0:
			i++
			n, ok := parseInt(args[i])
			if !ok {
				return o, nil, errNotInteger
			}
			o.count = max(n, 0)
		case isWord(opt, "streams") && more > 0:
			return o, args[i+1:], ""
		case isWord(opt, "group") && more > 1:
			if !ofGroup {
				return o, nil, "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
			}
			o.group, o.consumer = args[i+1], args[i+2]
			i += 2
		case isWord(opt, "noack"):
			if !ofGroup {
				return o, nil, "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
			}
			o.noAck = true
		default:
			return o, nil, errSyntax
		}
	}
	return o, nil, ""
}

// checkBlock says what is wrong with how long to BLOCK, in milliseconds.
func checkBlock(arg []byte) (problem string) {
	switch n, ok := parseInt(arg); {
	case !ok:
		return "ERR timeout is not an integer or out of range"
	case n < 0:
		return "ERR timeout is negative"
	}
	return ""
}

// errNoReadGroup is the error of XREADGROUP for a group that is not there.
func errNoReadGroup(key, name []byte) string {
	_, key = database.Split(key)
	return fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", command.UntilZero(key), command.UntilZero(name))
}

// Nothing there: what XREAD and XREADGROUP answer if there is nothing to be read is nothingToRead, and nothing else is. Whoever executes them may wait, and ask again. An ID of $ is the last one at the
// moment of the execution: for the next one it is to be what it was at the first.
func nothingToRead(dst []byte, req *command.Request) []byte {
	return resp.AppendNullArray(dst, req.RESP3)
}

// appendRead appends what was read of one stream: an array of one pair, or in RESP3 a map.
func appendRead(dst []byte, req *command.Request, entries *gathering) []byte {
	dst = resp.AppendMap(dst, 1, req.RESP3)
	if !req.RESP3 { // an array of pairs, not a flat one
		dst = append(dst[:len(dst)-len("*2\r\n")], "*1\r\n*2\r\n"...)
	}
	return entries.appendTo(appendName(dst, req.Args[1]))
}

// xRead serves XREAD on a key: key, ID, options.
func xRead(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	o, _, problem := parseReadOptions(req.Args[3:], false)
	if problem != "" {
		return refuse(dst, problem)
	}
	if holdsOther(st, record.Stream) {
		return refuse(dst, errWrongType)
	}
	s := streamIn(st)
	var id streamID
	switch arg := req.Args[2]; string(arg) {
	case "$":
		id = s.header().last
	case ">":
		return refuse(dst, "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.")
	default:
		var ok bool
		if id, ok = parseID(arg, 0); !ok {
			return refuse(dst, errStreamID)
		}
	}
	from, ok := id.next()
	if !ok || s.top().less(from) {
		return nothingToRead(dst, req), noEffect
	}
	entries, ok := gatherEntries(s.entries(from, highestID, o.count))
	if !ok {
		return refuse(dst, errMuchReply)
	}
	return appendRead(dst, req, &entries), noEffect
}

// xReadGroup serves XREADGROUP on a key: key, ID, options.
func xReadGroup(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	o, _, problem := parseReadOptions(req.Args[3:], true)
	switch {
	case problem != "":
		return refuse(dst, problem)
	case o.group == nil:
		return refuse(dst, errNoGroup)
	case holdsOther(st, record.Stream):
		return refuse(dst, errWrongType)
	}
	s := streamIn(st)
	g, found := s.group(o.group)
	if !found {
		return refuse(dst, errNoReadGroup(req.Args[1], o.group))
	}
	id := highestID
	switch arg := req.Args[2]; string(arg) {
	case "$":
		return refuse(dst, "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.")
	case ">":
	default:
		var ok bool
		if id, ok = parseID(arg, 0); !ok {
			return refuse(dst, errStreamID)
		}
	}
	r := groupRead{s: s, e: s.edit(), options: &o, group: g, now: now}
	if id != highestID {
		return r.history(dst, st, req, id)
	}
	if !g.last.less(s.top()) {
		return nothingToRead(dst, req), noEffect
	}
	return r.fresh(dst, st, req)
}

const errNoGroup = "ERR Missing GROUP option for XREADGROUP"

// groupRead is an XREADGROUP that reads something.
type groupRead struct {
	s       stream
	e       *streamEdit
	options *readOptions
	group   group
	now     int64
}

// fresh reads what the group has not delivered yet.
func (r *groupRead) fresh(dst []byte, st record.State, req *command.Request) ([]byte, record.Effect) {
	var entries gathering
	var ids []streamID
	from, _ := r.group.last.next()
	c := counters(r.s)
	for id, fields := range r.s.entries(from, highestID, r.options.count) {
		if !entries.add(appendEntry(entries.items, id, fields)) {
			return refuse(dst, errMuchReply)
		}
		ids = append(ids, id)
		r.group.read = c.readUpTo(id, r.group.read)
		r.group.last = id
	}
	owner, _, ok := r.e.consumer(r.group.number, r.options.consumer, r.now)
	if !ok {
		return refuse(dst, errNumbers)
	}
	r.e.putGroup(&r.group)
	if !r.options.noAck {
		for _, id := range ids {
			r.e.setPending(r.group.number, id, pending{owner.number, r.now, 1})
		}
	}
	return r.e.run(appendRead(dst, req, &entries), len(dst), st, req)
}

// history reads what is pending for the consumer, and delivers it once more.
func (r *groupRead) history(dst []byte, st record.State, req *command.Request, behind streamID) ([]byte, record.Effect) {
	var entries gathering
	var ids []streamID
	from, more := behind.next()
	owner, there := r.s.consumer(r.group.number, r.options.consumer)
	var mine iter.Seq[streamID] = func(func(streamID) bool) {}
	if there && more {
		mine = r.s.owned(r.group.number, owner.number, from)
	}
	for id := range mine {
		fields, there := r.s.entry(id)
		if there {
			entries.items = appendEntry(entries.items, id, fields)
			ids = append(ids, id)
		} else {
			entries.items = resp.AppendNullArray(appendID(resp.AppendArray(entries.items, 2), id), req.RESP3)
		}
		if !entries.add(entries.items) {
			return refuse(dst, errMuchReply)
		}
		if entries.n == int(r.options.count) {
			break
		}
	}
	if _, _, ok := r.e.consumer(r.group.number, r.options.consumer, r.now); !ok {
		return refuse(dst, errNumbers)
	}
	for _, id := range ids {
		if p, found := r.e.pendingOf(r.group.number, id); found {
			p.delivered, p.times = r.now, p.times+1
			r.e.setPending(r.group.number, id, p)
		}
	}
	return r.e.run(appendRead(dst, req, &entries), len(dst), st, req)
}

// readOnce serves XREAD and XREADGROUP as clients write them, of one key or several.
func readOnce(k *Keyspace, dst []byte, req *command.Request) []byte {
	ofGroup, op := req.Op == command.OpXReadGroup, command.OpXReadKey
	if ofGroup {
		op = command.OpXReadGroupKey
	}
	o, streams, problem := parseReadOptions(req.Args[1:], ofGroup)
	switch {
	case problem != "":
	case streams == nil:
		problem = errSyntax
	case len(streams)%2 != 0:
		problem = "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
	case ofGroup && o.group == nil:
		problem = errNoGroup
	}
	r, ok := command.StreamReadOf(req.Args)
	if problem == "" && !ok {
		problem = errSyntax
	}
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	var replies [][]byte
	size := 0
	for i := range r.Keys() {
		part := *req
		part.Op, part.Args = op, r.One(i)
		reply := k.on(nil, &part)
		if len(reply) == 0 || reply[0] == '-' {
			return append(dst, reply...)
		}
		if size += len(reply); size > maxReply {
			return resp.AppendError(dst, errMuchReply)
		}
		replies = append(replies, reply)
	}
	return command.AppendStreamsRead(dst, replies, req.RESP3)
}

// keyFirst serves XGROUP and XINFO as clients write them.
func keyFirst(k *Keyspace, dst []byte, req *command.Request) []byte {
	op, args, ok := command.KeyFirst(req.Op, req.Args)
	if !ok {
		return resp.AppendError(dst, errSubcommand(string(bytes.ToUpper(req.Args[0])), req.Args[1]))
	}
	part := *req
	part.Op, part.Args = op, args
	return k.on(dst, &part)
}
