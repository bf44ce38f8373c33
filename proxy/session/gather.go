package session

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/quolldb/quoll/internal/algebra"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/lcs"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// How much memory the collections of one command may take (algebra.Weight). Up to gatherAtOnce together they are read at once, in the batch of the command. Of
// larger ones that read says how large they are, and only then they are read, by one client at a time, up to gatherMost: so a proxy never
// has more than that of them, besides what every client may have at once.
const (
	gatherAtOnce = 1 << 20
	gatherMost   = 128 << 20
)

// errGatherMost is the error for collections that are together larger than gatherMost.
func errGatherMost(weight int) error {
	return route.Refuse(fmt.Sprintf("ERR these sets are too large to be put together: that would take %d MiB of the proxy, and at most %d MiB are allowed; nothing was done",
		(weight+1<<20-1)>>20, gatherMost>>20))
}

var (
	getName     = []byte("GET")
	membersName = []byte("MEMBERS")
	setsOnly    = []byte("SET")
	anySets     = []byte("ANY")
)

// gather plans a command whose reply is computed of what several keys hold. LCS reads its two by GET, what puts sets together each as a whole, and once, also if it
// is named twice.
func (s *Session) gather(cmd *command.Command, args [][]byte) {
	if cmd.Op == command.OpLCS {
		keys, _ := distinct(args[1:3])
		reads := make([]command.Request, len(keys))
		for i, key := range keys {
			reads[i] = command.Request{Op: command.OpGet, RESP3: s.resp3, Args: [][]byte{getName, key}}
		}
		s.plan.reads(cmd, args, reads)
		return
	}
	if cmd.Op == command.OpXRead {
		s.readStreams(cmd, args)
		return
	}
	sets, problem := algebra.Parse(args)
	if problem != "" {
		s.refuse(cmd.Op, route.Refuse(problem))
		return
	}
	keys, _ := distinct(sets.Keys)
	reads := make([]command.Request, len(keys))
	for i, key := range keys {
		reads[i] = s.readMembers(key, kinds(&sets), gatherAtOnce/len(keys))
	}
	s.plan.reads(cmd, args, reads)
}

// readMembers returns the operation that reads a collection if it is within a limit.
func (s *Session) readMembers(key, kinds []byte, limit int) command.Request {
	return command.Request{Op: command.OpMembers, RESP3: s.resp3, Args: [][]byte{membersName, key, kinds, strconv.AppendInt(nil, int64(limit), 10)}}
}

// kinds returns which types a command takes.
func kinds(sets *algebra.Command) []byte {
	if sets.Sets() {
		return setsOnly
	}
	return anySets
}

// distinct returns different keys, and which of them each key is.
func distinct(keys [][]byte) (different [][]byte, which []int) {
	places := make(map[string]int, len(keys))
	for _, key := range keys {
		place, there := places[string(key)]
		if !there {
			place = len(different)
			places[string(key)] = place
			different = append(different, key)
		}
		which = append(which, place)
	}
	return different, which
}

// gathered returns the reply of a command whose operations were all done, at one moment or each at its own.
func (s *Session) gathered(c *planned, ops []route.Op, atOnce bool) []byte {
	if c.cmd.Op == command.OpLCS {
		s.scratch = lcs.LCS(s.scratch[:0], bulkValue(ops[0].Reply), bulkValue(ops[len(ops)-1].Reply), c.args[3:], ops[0].Req.RESP3)
		return s.scratch
	}
	if c.cmd.Op == command.OpXRead {
		return s.streamsRead(ops)
	}
	sets, _ := algebra.Parse(c.args) // which it did before
	weight, large := 0, false
	for i := range ops {
		n, tooLarge := weightOf(ops[i].Reply)
		weight, large = weight+n, large || tooLarge
	}
	switch {
	case !large:
		return s.combined(&sets, ops)
	case weight > gatherMost:
		return route.AppendReply(nil, errGatherMost(weight))
	}
	s.service.large.Lock()
	defer s.service.large.Unlock()
	fetch := s.fetch
	if atOnce {
		fetch = s.fetchTogether
	}
	ops, failure := fetch(ops)
	if failure != nil {
		return failure
	}
	return s.combined(&sets, ops)
}

// fetch reads the collections that were too large to be read at once, one after the other.
func (s *Session) fetch(ops []route.Op) (all []route.Op, failure []byte) {
	all = append(all, ops...)
	left := gatherMost
	for i := range all {
		if n, tooLarge := weightOf(all[i].Reply); !tooLarge {
			left -= n
		}
	}
	for i := range all {
		if _, tooLarge := weightOf(all[i].Reply); !tooLarge {
			continue
		}
		args := all[i].Req.Args
		all[i] = s.execute(s.readMembers(args[1], args[2], left), false)
		if all[i].Outcome != answer.Done || all[i].Reply[0] == '-' {
			return nil, all[i].Reply
		}
		n, tooLarge := weightOf(all[i].Reply)
		if left -= n; tooLarge { // it has grown meanwhile
			return nil, route.AppendReply(nil, errGatherMost(gatherMost-left))
		}
	}
	return all, nil
}

// weightOf returns the weight of a collection by the reply to the operation that reads it, and whether that is all that the reply says.
func weightOf(reply []byte) (weight int, tooLarge bool) {
	if reply[0] != ':' {
		return algebra.Collection(bulkValue(reply)).Weight(), false
	}
	n, _ := resp.ParseInt(bytes.TrimSuffix(reply[1:], crlf))
	return int(n), true
}

// combined returns the reply of a command on sets, whose keys have been read.
func (s *Session) combined(sets *algebra.Command, ops []route.Op) []byte {
	read := make([]algebra.Collection, len(ops))
	for i := range ops {
		read[i] = algebra.Collection(bulkValue(ops[i].Reply))
	}
	_, which := distinct(sets.Keys)
	of := make([]algebra.Collection, len(which))
	for i, place := range which {
		of[i] = read[place]
	}
	reply := sets.Reply(s.scratch[:0], of, ops[0].Req.RESP3)
	if cap(reply) <= maxScratch {
		s.scratch = reply
	}
	return reply
}
