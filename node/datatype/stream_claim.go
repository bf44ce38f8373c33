package datatype

import (
	"bytes"
	"fmt"
	"iter"
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// claim is an XCLAIM or an XAUTOCLAIM: entries that are pending are given to a consumer.
type claim struct {
	s       stream
	e       *streamEdit
	group   group
	name    []byte // of the consumer
	owner   consumer
	has     bool // owner was looked up
	now     int64
	minIdle int64
	at      int64 // when they count as delivered
	times   int64 // how often, -1: once more
	justID  bool
	force   bool
	last    streamID
	replies gathering
	problem string
	deleted []streamID
}

// pendingFor is pending of one consumer.
func (s stream) pendingFor(of, owner uint32, from streamID) iter.Seq2[streamID, pending] {
	return func(yield func(streamID, pending) bool) {
		for id := range s.owned(of, owner, from) {
			value, found := s.get(pendingKey(of, id))
			if p, ok := pendingIn(value); found && ok && !yield(id, p) {
				return
			}
		}
	}
}

// take gives an entry to the consumer, if it is there, pending, and idle for long enough. It reports whether it was given, and whether what was pending is of no entry, and was forgotten.
func (c *claim) take(id streamID) (taken, gone bool) {
	p, found := c.e.pendingOf(c.group.number, id)
	fields, there := c.e.entry(id)
	reply := c.replies.items
	switch {
	case c.justID:
		reply = appendID(reply, id)
	case there:
		reply = appendEntry(reply, id, fields) // before the next step
	}
	switch {
	case !there:
		return false, c.e.acknowledge(c.group.number, id)
	case !found && !c.force:
		return false, false
	case !found:
		p.times = 1
	case c.minIdle > 0 && c.now-p.delivered < c.minIdle:
		return false, false
	}
	if !c.has {
		var ok bool
		if c.owner, _, ok = c.e.consumer(c.group.number, c.name, c.now); !ok {
			c.problem = errNumbers
			return false, false
		}
		c.has = true
	}
	p.owner, p.delivered = c.owner.number, c.at
	if c.times >= 0 {
		p.times = c.times
	} else if !c.justID {
		p.times++
	}
	c.e.setPending(c.group.number, id, p)
	if !c.replies.add(reply) {
		c.problem = errMuchReply
	}
	return true, false
}

// open looks at the key and the group of a claim. problem is an error text, empty when all is well.
func (c *claim) open(st record.State, req *command.Request) (problem string) {
	if holdsOther(st, record.Stream) {
		return errWrongType
	}
	c.s = streamIn(st)
	var found bool
	if c.group, found = c.s.group(req.Args[2]); !found {
		return errNoKeyOrGroup(req.Args[1], req.Args[2])
	}
	c.e, c.name = c.s.edit(), req.Args[3]
	return ""
}

// xClaim serves XCLAIM.
func xClaim(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	c := claim{now: now, at: now, times: -1}
	problem := c.open(st, req)
	if problem == "" {
		c.minIdle, problem = parseMinIdle(req.Args[4], "XCLAIM")
	}
	if problem != "" {
		return refuse(dst, problem)
	}
	rest := req.Args[5:]
	var ids []streamID
	for ; len(rest) > 0; rest = rest[1:] {
		id, ok := parseID(rest[0], 0)
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	if problem = c.parse(rest); problem != "" {
		return refuse(dst, problem)
	}
	if c.group.last.less(c.last) {
		c.group.last = c.last
		c.e.putGroup(&c.group)
	}
	for _, id := range ids {
		if c.take(id); c.problem != "" {
			return refuse(dst, c.problem)
		}
	}
	return c.e.run(c.replies.appendTo(dst), len(dst), st, req)
}

func parseMinIdle(arg []byte, name string) (idle int64, problem string) {
	idle, ok := parseInt(arg)
	if !ok {
		return 0, "ERR Invalid min-idle-time argument for " + name
	}
	return max(idle, 0), ""
}

// parse reads the options of XCLAIM.
func (c *claim) parse(args [][]byte) (problem string) {
	const unset = -1
	at := int64(unset)
	for i := 0; i < len(args); i++ {
		opt, more := args[i], len(args)-1-i
		var ok bool
		switch {
		case isWord(opt, "force"):
			c.force = true
			continue
		case isWord(opt, "justid"):
			c.justID = true
			continue
		case more == 0:
			return fmt.Sprintf("ERR Unrecognized XCLAIM option '%s'", command.UntilZero(opt))
		case isWord(opt, "idle"):
			var idle int64
			idle, ok = parseInt(args[i+1])
			at = c.now - idle
		case isWord(opt, "time"):
			at, ok = parseInt(args[i+1])
		case isWord(opt, "retrycount"):
			c.times, ok = parseInt(args[i+1])
		case isWord(opt, "lastid"):
			if c.last, ok = parseID(args[i+1], 0); !ok {
				return errStreamID
			}
		default:
			return fmt.Sprintf("ERR Unrecognized XCLAIM option '%s'", command.UntilZero(opt))
		}
		if !ok {
			return fmt.Sprintf("ERR Invalid %s option argument for XCLAIM", bytes.ToUpper(opt))
		}
		i++
	}
	if at != unset && at >= 0 && at <= c.now {
		c.at = at
	}
	return ""
}

// xAutoClaim serves XAUTOCLAIM.
func xAutoClaim(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	const usual, triesEach = 100, 10
	c := claim{now: now, at: now, times: -1}
	var from streamID
	count := int64(usual)
	minIdle, problem := parseMinIdle(req.Args[4], "XAUTOCLAIM")
	if c.minIdle = minIdle; problem == "" {
		from, problem = parseStart(req.Args[5])
	}
	if problem != "" {
		return refuse(dst, problem)
	}
	for rest := req.Args[6:]; len(rest) > 0; rest = rest[1:] {
		switch {
		case isWord(rest[0], "count") && len(rest) > 1:
			var ok bool
			if count, ok = parseInt(rest[1]); !ok || count < 1 || count > math.MaxInt64/(triesEach+6) {
				return refuse(dst, "ERR COUNT must be > 0")
			}
			rest = rest[1:]
		case isWord(rest[0], "justid"):
			c.justID = true
		default:
			return refuse(dst, errSyntax)
		}
	}
	if problem = c.open(st, req); problem != "" {
		return refuse(dst, problem)
	}
	tries, next := count*triesEach, streamID{}
	for id := range c.s.pending(c.group.number, from) {
		if tries == 0 || count == 0 {
			next = id
			break
		}
		tries--
		taken, gone := c.take(id)
		if c.problem != "" {
			return refuse(dst, c.problem)
		}
		if gone {
			c.deleted = append(c.deleted, id)
		}
		if taken || gone {
			count--
		}
	}
	start := len(dst)
	dst = c.replies.appendTo(appendID(resp.AppendArray(dst, 3), next))
	dst = resp.AppendArray(dst, len(c.deleted))
	for _, id := range c.deleted {
		dst = appendID(dst, id)
	}
	return c.e.run(dst, start, st, req)
}
