package datatype

import (
	"math"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// xAck serves XACK. As in Redis the IDs are not looked at if there is no such group.
func xAck(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.Stream) {
		return refuse(dst, errWrongType)
	}
	s := streamIn(st)
	g, found := s.group(req.Args[2])
	if !found {
		return resp.AppendInt(dst, 0), noEffect
	}
	ids, ok := parseIDs(req.Args[3:])
	if !ok {
		return refuse(dst, errStreamID)
	}
	e, n := s.edit(), int64(0)
	for _, id := range ids {
		if e.acknowledge(g.number, id) {
			n++
		}
	}
	return e.run(resp.AppendInt(dst, n), len(dst), st, req)
}

// pendingOptions are what XPENDING asks for of single entries.
type pendingOptions struct {
	idle, count int64
	from, to    streamID
	consumer    []byte // nil: all
}

// parsePendingOptions reads what is behind the group of XPENDING: [IDLE min-idle] start end count [consumer]. problem is an error text, empty when all is well.
func parsePendingOptions(args [][]byte) (o pendingOptions, problem string) {
	const least, most = 3, 6 // Redis does not look at one that is too many
	if len(args) < least || len(args) > most {
		return o, errSyntax
	}
	var ok bool
	if isWord(args[0], "idle") {
		if o.idle, ok = parseInt(args[1]); !ok {
			return o, errNotInteger
		}
		if args = args[2:]; len(args) < least {
			return o, errSyntax
		}
	}
	if o.count, ok = parseInt(args[2]); !ok {
		return o, errNotInteger
	}
	if o.from, problem = parseStart(args[0]); problem == "" {
		o.to, problem = parseEnd(args[1])
	}
	if len(args) > least {
		o.consumer = args[3]
	}
	return o, problem
}

// xPending serves XPENDING.
func xPending(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	var o pendingOptions
	if len(req.Args) > 3 {
		var problem string
		if o, problem = parsePendingOptions(req.Args[3:]); problem != "" {
			return refuse(dst, problem)
		}
	}
	if holdsOther(st, record.Stream) {
		return refuse(dst, errWrongType)
	}
	s := streamIn(st)
	g, found := s.group(req.Args[2])
	switch {
	case !found:
		return refuse(dst, errNoKeyOrGroup(req.Args[1], req.Args[2]))
	case len(req.Args) == 3:
		return s.appendPending(dst, &g, req.RESP3)
	}
	return s.appendPendingOf(dst, &g, &o, now)
}

// appendPending appends how much is pending in a group, and for whom.
func (s stream) appendPending(dst []byte, g *group, resp3 bool) ([]byte, record.Effect) {
	prefix := ofGroup(aboutPending, g.number)
	first, end := s.search(prefix), s.search(behindPrefix(prefix))
	dst = resp.AppendInt(resp.AppendArray(dst, 4), int64(end-first))
	if first == end {
		return resp.AppendNullArray(resp.AppendNull(resp.AppendNull(dst, resp3), resp3), resp3), noEffect
	}
	for _, rank := range []int{first, end - 1} {
		dst = appendID(dst, idIn(keyOf(s.at(rank))[len(prefix):]))
	}
	var all gathering
	for c := range s.consumers(g.number) {
		n := s.countUnder(ownedBy(g.number, c.number))
		if n == 0 {
			continue
		}
		item := resp.AppendBulk(resp.AppendArray(all.items, 2), c.name)
		if !all.add(resp.AppendBulk(item, strconv.Itoa(n))) {
			return refuse(nil, errMuchReply)
		}
	}
	return all.appendTo(dst), noEffect
}

// appendPendingOf appends what is pending of single entries.
func (s stream) appendPendingOf(dst []byte, g *group, o *pendingOptions, now int64) ([]byte, record.Effect) {
	var names map[uint32][]byte
	all := s.pending(g.number, o.from)
	if o.consumer != nil {
		c, found := s.consumer(g.number, o.consumer)
		if !found {
			return resp.AppendArray(dst, 0), noEffect
		}
		names = map[uint32][]byte{c.number: o.consumer}
		all = s.pendingFor(g.number, c.number, o.from)
	} else {
		names = s.names(g.number)
	}
	var list gathering
	for id, p := range all {
		if o.to.less(id) || int64(list.n) >= o.count {
			break
		}
		idle := now - p.delivered
		if o.idle != 0 && idle < o.idle {
			continue
		}
		item := resp.AppendBulk(appendID(resp.AppendArray(list.items, 4), id), names[p.owner])
		if !list.add(resp.AppendInt(resp.AppendInt(item, max(idle, 0)), p.times)) {
			return refuse(dst, errMuchReply)
		}
	}
	return list.appendTo(dst), noEffect
}

// counters are what a stream knows of how many entries there have been.
type streamCounters struct {
	streamHeader
	length     int64
	first, top streamID
}

func counters(s stream) streamCounters {
	rank, element := s.locate(aboutEntries)
	first, _ := entryID(element)
	return streamCounters{s.header(), int64(s.count() - rank), first, s.top()}
}

// gaps reports whether an entry was deleted that is not before an ID, by what is known of it: see Redis' streamRangeHasTombstones.
func (c *streamCounters) gaps(from streamID) bool {
	return c.length > 0 && !c.deleted.isZero() && !c.deleted.less(c.first) && !c.deleted.less(from)
}

// upTo returns how many entries there have been up to an ID, or unknownRead: see Redis' streamEstimateDistanceFromFirstEverEntry.
func (c *streamCounters) upTo(id streamID) int64 {
	switch {
	case c.added == 0:
		return 0
	case c.length == 0 && !c.last.less(id), id == c.last:
		return c.added
	case c.last.less(id):
		return unknownRead
	case c.deleted.isZero() || c.deleted.less(c.first):
		if id.less(c.first) {
			return c.added - c.length
		} else if id == c.first {
			return c.added - c.length + 1
		}
	}
	return unknownRead
}

// readUpTo returns how many entries a group has read that has read so many before, and then one more.
func (c *streamCounters) readUpTo(id streamID, before int64) int64 {
	switch {
	case before != unknownRead && !c.gaps(id):
		if before == math.MaxInt64 {
			return before
		}
		return before + 1
	case c.added > 0:
		return c.upTo(id)
	}
	return before
}

// lag returns how many entries a group has not read yet. It reports false if nobody knows.
func (c *streamCounters) lag(g *group) (n int64, known bool) {
	switch {
	case c.added == 0:
		return 0, true
	case g.read != unknownRead && !c.gaps(g.last):
		return c.added - g.read, true
	}
	read := c.upTo(g.last)
	return c.added - read, read != unknownRead
}
