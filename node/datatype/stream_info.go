package datatype

import (
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// infoSubcommand is a subcommand of XINFO, of a key, with how many arguments it has as a node is asked for it, at least if negative.
type infoSubcommand struct {
	name  string
	arity int
	run   func(i *streamInfo, args [][]byte) (problem string)
}

var infoSubcommands = []infoSubcommand{
	{"stream", -3, (*streamInfo).stream},
	{"groups", 3, (*streamInfo).groups},
	{"consumers", 4, (*streamInfo).consumers},
}

// streamInfo is a reply of XINFO as it grows.
type streamInfo struct {
	s     stream
	count streamCounters
	now   int64
	resp3 bool
	dst   []byte
	start int // of the reply in dst
}

// xInfo serves XINFO on a key: key, subcommand, and what the subcommand has.
func xInfo(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	for i := range infoSubcommands {
		sub := &infoSubcommands[i]
		if !isWord(req.Args[2], sub.name) {
			continue
		}
		switch n := len(req.Args); {
		case n != sub.arity && (sub.arity > 0 || n < -sub.arity):
			return refuse(dst, "ERR wrong number of arguments for 'xinfo|"+sub.name+"' command")
		case !st.Live():
			return refuse(dst, errNoKey)
		case st.Type != record.Stream:
			return refuse(dst, errWrongType)
		}
		s := streamIn(st)
		info := streamInfo{s: s, count: counters(s), now: now, resp3: req.RESP3, dst: dst, start: len(dst)}
		problem := sub.run(&info, req.Args)
		if problem == "" && info.long() {
			problem = errMuchReply
		}
		if problem != "" {
			return refuse(dst, problem)
		}
		return info.dst, noEffect
	}
	return refuse(dst, fmt.Sprintf("ERR unknown subcommand '%.128s'. Try XINFO HELP.", command.UntilZero(req.Args[2])))
}

// long reports whether the reply is longer than one may be.
func (i *streamInfo) long() bool { return len(i.dst)-i.start > maxReply }

// The parts of a reply.

func (i *streamInfo) fields(n int)     { i.dst = resp.AppendMap(i.dst, n, i.resp3) }
func (i *streamInfo) array(n int)      { i.dst = resp.AppendArray(i.dst, n) }
func (i *streamInfo) name(name string) { i.dst = resp.AppendBulk(i.dst, name) }
func (i *streamInfo) text(text []byte) { i.dst = resp.AppendBulk(i.dst, text) }
func (i *streamInfo) number(n int64)   { i.dst = resp.AppendInt(i.dst, n) }
func (i *streamInfo) id(id streamID)   { i.dst = appendID(i.dst, id) }
func (i *streamInfo) null()            { i.dst = resp.AppendNull(i.dst, i.resp3) }
func (i *streamInfo) maybe(n int64, has bool) {
	if !has {
		i.null()
		return
	}
	i.number(n)
}

// stream is XINFO STREAM key [FULL [COUNT count]].
func (i *streamInfo) stream(args [][]byte) (problem string) {
	full, most := false, int64(10)
	if rest := args[3:]; len(rest) > 0 {
		if len(rest) != 1 && len(rest) != 3 || !isWord(rest[0], "full") || len(rest) == 3 && !isWord(rest[1], "count") {
			return errSubcommand("XINFO", args[2])
		}
		full = true
		if len(rest) == 3 {
			n, ok := parseInt(rest[2])
			if !ok {
				return errNotInteger
			}
			if n >= 0 {
				most = n
			}
		}
	}
	if full {
		i.fields(9)
	} else {
		i.fields(10)
	}
	i.name("length")
	i.number(i.count.length)
	nodes := (i.count.length + trimmedTogether - 1) / trimmedTogether
	i.name("radix-tree-keys")
	i.number(nodes)
	i.name("radix-tree-nodes")
	i.number(nodes + 1)
	i.name("last-generated-id")
	i.id(i.count.last)
	i.name("max-deleted-entry-id")
	i.id(i.count.deleted)
	i.name("entries-added")
	i.number(i.count.added)
	i.name("recorded-first-entry-id")
	i.id(i.count.first)
	if full {
		return i.all(most)
	}
	i.name("groups")
	i.number(int64(i.s.countUnder([]byte{aboutGroup})))
	i.name("first-entry")
	i.edge(i.count.first)
	i.name("last-entry")
	i.edge(i.count.top)
	return ""
}

// edge appends the first or the last entry.
func (i *streamInfo) edge(id streamID) {
	fields, found := i.s.entry(id)
	if !found {
		i.null()
		return
	}
	i.dst = appendEntry(i.dst, id, fields)
}

// all appends the entries and the groups, with up to so many entries each; 0 is all.
func (i *streamInfo) all(most int64) (problem string) {
	i.name("entries")
	entries, ok := gatherEntries(i.s.entries(streamID{}, highestID, most))
	if !ok {
		return errMuchReply
	}
	i.dst = entries.appendTo(i.dst)
	i.name("groups")
	i.array(i.s.countUnder([]byte{aboutGroup}))
	for g := range i.s.groups() {
		i.fields(7)
		i.groupHead(&g)
		i.name("pel-count")
		pending := i.s.countUnder(ofGroup(aboutPending, g.number))
		i.number(int64(pending))
		i.name("pending")
		i.pending(&g, limited(pending, most))
		i.name("consumers")
		i.array(i.s.countUnder(ofGroup(aboutConsumer, g.number)))
		for c := range i.s.consumers(g.number) {
			i.fullConsumer(&g, &c, most)
			if i.long() {
				return errMuchReply
			}
		}
	}
	return ""
}

// limited returns how many of some are shown.
func limited(n int, most int64) int {
	if most > 0 {
		return int(min(int64(n), most))
	}
	return n
}

// groupHead appends what both forms say of a group first.
func (i *streamInfo) groupHead(g *group) {
	i.name("name")
	i.text(g.name)
	i.name("last-delivered-id")
	i.id(g.last)
	i.progress(g)
}

// progress appends how far a group has come.
func (i *streamInfo) progress(g *group) {
	i.name("entries-read")
	i.maybe(g.read, g.read != unknownRead)
	i.name("lag")
	i.maybe(i.count.lag(g))
}

// pending appends so many entries that are pending in a group.
func (i *streamInfo) pending(g *group, n int) {
	names := i.s.names(g.number)
	i.array(n)
	if n == 0 {
		return
	}
	for id, p := range i.s.pending(g.number, streamID{}) {
		i.array(4)
		i.id(id)
		i.text(names[p.owner])
		i.number(p.delivered)
		i.number(p.times)
		if n--; n == 0 || i.long() {
			return
		}
	}
}

func (i *streamInfo) fullConsumer(g *group, c *consumer, most int64) {
	n := i.s.countUnder(ownedBy(g.number, c.number))
	i.fields(4)
	i.name("name")
	i.text(c.name)
	i.name("seen-time")
	i.number(c.seen)
	i.name("pel-count")
	i.number(int64(n))
	i.name("pending")
	n = limited(n, most)
	i.array(n)
	if n == 0 {
		return
	}
	for id, p := range i.s.pendingFor(g.number, c.number, streamID{}) {
		i.array(3)
		i.id(id)
		i.number(p.delivered)
		i.number(p.times)
		if n--; n == 0 || i.long() {
			return
		}
	}
}

// groups is XINFO GROUPS key.
func (i *streamInfo) groups([][]byte) (problem string) {
	i.array(i.s.countUnder([]byte{aboutGroup}))
	for g := range i.s.groups() {
		i.fields(6)
		i.name("name")
		i.text(g.name)
		i.name("consumers")
		i.number(int64(i.s.countUnder(ofGroup(aboutConsumer, g.number))))
		i.name("pending")
		i.number(int64(i.s.countUnder(ofGroup(aboutPending, g.number))))
		i.name("last-delivered-id")
		i.id(g.last)
		i.progress(&g)
		if i.long() {
			return errMuchReply
		}
	}
	return ""
}

// consumers is XINFO CONSUMERS key group.
func (i *streamInfo) consumers(args [][]byte) (problem string) {
	g, found := i.s.group(args[3])
	if !found {
		return errNoSuchGroup(args[3], args[1])
	}
	i.array(i.s.countUnder(ofGroup(aboutConsumer, g.number)))
	for c := range i.s.consumers(g.number) {
		i.fields(3)
		i.name("name")
		i.text(c.name)
		i.name("pending")
		i.number(int64(i.s.countUnder(ownedBy(g.number, c.number))))
		i.name("idle")
		i.number(max(i.now-c.seen, 0))
		if i.long() {
			return errMuchReply
		}
	}
	return ""
}
