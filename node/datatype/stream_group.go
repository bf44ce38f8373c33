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

// group returns a group by its name.
func (s stream) group(name []byte) (g group, found bool) {
	value, found := s.get(groupKey(name))
	if !found {
		return g, false
	}
	return groupIn(name, value)
}

// groups goes through the groups in the order of their names.
func (s stream) groups() iter.Seq[group] {
	return func(yield func(group) bool) {
		for name, value := range s.under([]byte{aboutGroup}, []byte{aboutGroup}) {
			if g, ok := groupIn(name, value); ok && !yield(g) {
				return
			}
		}
	}
}

// consumer returns a consumer of a group by its name.
func (s stream) consumer(of uint32, name []byte) (c consumer, found bool) {
	value, found := s.get(consumerKey(of, name))
	if !found {
		return c, false
	}
	return consumerIn(name, value)
}

// consumers goes through the consumers of a group in the order of their names.
func (s stream) consumers(of uint32) iter.Seq[consumer] {
	return func(yield func(consumer) bool) {
		prefix := ofGroup(aboutConsumer, of)
		for name, value := range s.under(prefix, prefix) {
			if c, ok := consumerIn(name, value); ok && !yield(c) {
				return
			}
		}
	}
}

// names returns the names of the consumers of a group by their numbers.
func (s stream) names(of uint32) map[uint32][]byte {
	names := make(map[uint32][]byte)
	for c := range s.consumers(of) {
		names[c.number] = c.name
	}
	return names
}

// pending goes through what is pending in a group, in the order of the IDs, from one on.
func (s stream) pending(of uint32, from streamID) iter.Seq2[streamID, pending] {
	return func(yield func(streamID, pending) bool) {
		for rest, value := range s.under(ofGroup(aboutPending, of), pendingKey(of, from)) {
			if p, ok := pendingIn(value); ok && !yield(idIn(rest), p) {
				return
			}
		}
	}
}

// owned goes through what is pending for a consumer, in the order of the IDs, from one on.
func (s stream) owned(of, owner uint32, from streamID) iter.Seq[streamID] {
	return func(yield func(streamID) bool) {
		for rest := range s.under(ownedBy(of, owner), ownedKey(of, owner, from)) {
			if !yield(idIn(rest)) {
				return
			}
		}
	}
}

// putGroup sets what a group has.
func (e *streamEdit) putGroup(g *group) { e.put(groupKey(g.name), g.append(nil)) }

// number returns a number for a group or a consumer that nobody has. It reports false if there is none left.
func (e *streamEdit) number() (n uint32, ok bool) {
	value, _ := e.lookup(headerKey)
	h, _ := headerIn(value)
	n = h.next
	if h.next++; h.next == 0 {
		return 0, false
	}
	e.put(headerKey, h.append(nil))
	return n, true
}

// consumer returns a consumer of a group, which is noted to have been seen, and is made if it is not there. It reports false if there is no number left.
func (e *streamEdit) consumer(of uint32, name []byte, now int64) (c consumer, created, ok bool) {
	key := consumerKey(of, name)
	p := e.find(key)
	found := p.found
	if c, ok = consumerIn(name, p.value); !found || !ok {
		c = consumer{name: name}
		if c.number, ok = e.number(); !ok {
			return c, false, false
		}
		p = e.find(key)
	}
	c.seen = now
	e.putAt(p, key, c.append(nil))
	return c, !found, true
}

// setPending gives an entry to a consumer, whoever has it.
func (e *streamEdit) setPending(of uint32, id streamID, p pending) {
	key := pendingKey(of, id)
	at := e.find(key)
	was, ok := pendingIn(at.value)
	if owned := at.found && (!ok || was.owner == p.owner); owned {
		e.putAt(at, key, p.append(nil))
		return
	}
	if at.found {
		e.remove(ownedKey(of, was.owner, id))
		at = e.find(key)
	}
	e.putAt(at, key, p.append(nil))
	e.put(ownedKey(of, p.owner, id), nil)
}

// pendingOf returns what is pending of an entry.
func (e *streamEdit) pendingOf(of uint32, id streamID) (p pending, found bool) {
	value, found := e.lookup(pendingKey(of, id))
	if !found {
		return p, false
	}
	return pendingIn(value)
}

// acknowledge removes what is pending of an entry, and reports whether there was anything.
func (e *streamEdit) acknowledge(of uint32, id streamID) bool {
	p, found := e.pendingOf(of, id)
	if found {
		e.remove(ownedKey(of, p.owner, id))
		e.remove(pendingKey(of, id))
	}
	return found
}

// errNumbers refuses what would need a number that there is none left of.
const errNumbers = "ERR this stream has had 4,294,967,295 groups and consumers, and can have no more; nothing was done"

// errNoSuchGroup is the error of XGROUP and XINFO for a group that is not there. As in Redis names in errors end at a zero byte.
func errNoSuchGroup(name, key []byte) string {
	_, key = database.Split(key)
	return fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", command.UntilZero(name), command.UntilZero(key))
}

// errNoKeyOrGroup is that of other commands.
func errNoKeyOrGroup(key, name []byte) string {
	_, key = database.Split(key)
	return fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s'", command.UntilZero(key), command.UntilZero(name))
}

// errSubcommand is the error of a subcommand that finds its arguments to be too many.
func errSubcommand(container string, subcommand []byte) string {
	return fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try %s HELP.", command.UntilZero(subcommand), container)
}

const errNoStream = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."

// groupSubcommand is a subcommand of XGROUP, of a key, with how many arguments it has as a node is asked for it, at least if negative.
type groupSubcommand struct {
	name  string
	arity int
	// needsGroup: the group has to be there.
	needsGroup bool
	run        func(c *groupCommand, dst []byte) ([]byte, record.Effect)
}

var groupSubcommands = []groupSubcommand{
	{"create", -5, false, (*groupCommand).create},
	{"setid", -5, true, (*groupCommand).setID},
	{"destroy", 4, false, (*groupCommand).destroy},
	{"createconsumer", 5, true, (*groupCommand).createConsumer},
	{"delconsumer", 5, true, (*groupCommand).deleteConsumer},
}

// groupCommand is a call of XGROUP.
type groupCommand struct {
	st    record.State
	req   *command.Request
	now   int64
	s     stream
	group group
	found bool
	read  int64
	makes bool // MKSTREAM
}

// run returns the reply, and the effect of an edit.
func (c *groupCommand) run(dst []byte, e *streamEdit, start int) ([]byte, record.Effect) {
	return e.run(dst, start, c.st, c.req)
}

// xGroup serves XGROUP on a key: key, subcommand, group, and what the subcommand has.
func xGroup(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	for i := range groupSubcommands {
		sub := &groupSubcommands[i]
		if !isWord(req.Args[2], sub.name) {
			continue
		}
		if n := len(req.Args); n != sub.arity && (sub.arity > 0 || n < -sub.arity) {
			return refuse(dst, "ERR wrong number of arguments for 'xgroup|"+sub.name+"' command")
		}
		c := groupCommand{st: st, req: req, now: now, read: unknownRead}
		if problem := c.prepare(sub); problem != "" {
			return refuse(dst, problem)
		}
		return sub.run(&c, dst)
	}
	return refuse(dst, fmt.Sprintf("ERR unknown subcommand '%.128s'. Try XGROUP HELP.", command.UntilZero(req.Args[2])))
}

// prepare reads the options, and looks at the key and the group.
func (c *groupCommand) prepare(sub *groupSubcommand) (problem string) {
	args := c.req.Args
	for rest := args[min(5, len(args)):]; len(rest) > 0; rest = rest[1:] {
		switch {
		case sub.name == "create" && isWord(rest[0], "mkstream"):
			c.makes = true
		case sub.arity < 0 && isWord(rest[0], "entriesread") && len(rest) > 1:
			n, ok := parseInt(rest[1])
			switch {
			case !ok:
				return errNotInteger
			case n < unknownRead:
				return "ERR value for ENTRIESREAD must be positive or -1"
			}
			c.read, rest = n, rest[1:]
		default:
			return errSubcommand("XGROUP", args[2])
		}
	}
	switch {
	case holdsOther(c.st, record.Stream):
		return errWrongType
	case !c.st.Live() && !c.makes:
		return errNoStream
	}
	c.s = streamIn(c.st)
	if c.group, c.found = c.s.group(args[3]); !c.found && sub.needsGroup {
		return errNoSuchGroup(args[3], args[1])
	}
	return ""
}

// position reads the ID that a group begins behind.
func (c *groupCommand) position() (id streamID, ok bool) {
	if arg := c.req.Args[4]; string(arg) != "$" {
		return parseID(arg, 0)
	}
	return c.s.header().last, true
}

func (c *groupCommand) create(dst []byte) ([]byte, record.Effect) {
	id, ok := c.position()
	switch {
	case !ok:
		return refuse(dst, errStreamID)
	case c.found:
		return refuse(dst, "BUSYGROUP Consumer Group name already exists")
	}
	e := c.s.edit()
	if !c.st.Live() {
		e.put(headerKey, new(streamHeader).append(nil))
	}
	g := group{name: c.req.Args[3], last: id, read: c.read}
	if g.number, ok = e.number(); !ok {
		return refuse(dst, errNumbers)
	}
	e.putGroup(&g)
	return c.run(append(dst, resp.OK...), e, len(dst))
}

func (c *groupCommand) setID(dst []byte) ([]byte, record.Effect) {
	id, ok := c.position()
	if bound, exclusive, is := parseIDBound(c.req.Args[4], 0); !ok && is && !exclusive { // Redis takes - and + here, too
		id, ok = bound, true
	}
	if !ok {
		return refuse(dst, errStreamID)
	}
	c.group.last, c.group.read = id, c.read
	e := c.s.edit()
	e.putGroup(&c.group)
	return c.run(append(dst, resp.OK...), e, len(dst))
}

func (c *groupCommand) destroy(dst []byte) ([]byte, record.Effect) {
	if !c.found {
		return appendBool(dst, false), noEffect
	}
	e := c.s.edit()
	e.remove(groupKey(c.group.name))
	for _, about := range []byte{aboutConsumer, aboutPending, aboutOwned} {
		e.cutUnder(ofGroup(about, c.group.number))
	}
	return c.run(appendBool(dst, true), e, len(dst))
}

func (c *groupCommand) createConsumer(dst []byte) ([]byte, record.Effect) {
	if _, found := c.s.consumer(c.group.number, c.req.Args[4]); found {
		return appendBool(dst, false), noEffect
	}
	e := c.s.edit()
	if _, _, ok := e.consumer(c.group.number, c.req.Args[4], c.now); !ok {
		return refuse(dst, errNumbers)
	}
	return c.run(appendBool(dst, true), e, len(dst))
}

func (c *groupCommand) deleteConsumer(dst []byte) ([]byte, record.Effect) {
	of, found := c.s.consumer(c.group.number, c.req.Args[4])
	if !found {
		return appendBool(dst, false), noEffect
	}
	of.name = bytes.Clone(of.name)
	e, n := c.s.edit(), int64(0)
	for id := range c.s.owned(c.group.number, of.number, streamID{}) {
		e.remove(pendingKey(c.group.number, id))
		n++
	}
	e.cutUnder(ownedBy(c.group.number, of.number))
	e.remove(consumerKey(c.group.number, of.name))
	return c.run(resp.AppendInt(dst, n), e, len(dst))
}
