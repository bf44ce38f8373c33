package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
)

// setEvents are those of SET, SETEX and PSETEX. With an expiry in the past the key is gone at once here, which Redis notices later.
func setEvents(t *telling) {
	if !t.changed {
		return
	}
	if !t.live && !t.is {
		t.add(notify.New, "new")
	}
	t.add(notify.String, "set")
	opts := stringOptions{ttl: ttlEX}
	if t.req.Op == command.OpSet {
		opts, _ = parseSetOptions(t.req.Args[3:])
	}
	if opts.ttl >= ttlEX {
		t.add(notify.Generic, "expire")
	}
	if !t.is {
		t.add(notify.Expired, "expired")
	}
}

func getEXEvents(t *telling) {
	if !t.changed {
		return
	}
	opts, _ := parseGetOptions(t.req.Args[2:])
	switch {
	case !t.is:
		t.add(notify.Generic, "del")
	case opts.ttl == ttlPersist:
		t.add(notify.Generic, "persist")
	default:
		t.add(notify.Generic, "expire")
	}
}

// bitFieldEvents are those of BITFIELD, which may change a field and change it back.
func bitFieldEvents(t *telling) {
	if t.fields {
		t.add(notify.String, "setbit")
	}
}

// changesField reports whether an operation of BITFIELD changes its field, or makes the value longer and does not fail.
func changesField(st record.State, req *command.Request) bool {
	ops, problem := parseFieldOps(nil, req.Args[2:], longest(req))
	if problem != "" || holdsOther(st, record.String) {
		return false
	}
	size := 0
	for _, op := range ops {
		if op.kind != fieldGet {
			size = max(size, op.endByte())
		}
	}
	old := textIn(st)
	if size == 0 {
		return false
	}
	n := max(size, old.size())
	d := draft{text{bytes: resized(old.slice(0, old.size()), n)}, n} // a draft of a long string could take its memory over
	for _, op := range ops {
		was := op.read(d.text)
		if _, ok := op.run(&d); ok && op.kind != fieldGet && (size > old.size() || op.read(d.text) != was) {
			return true
		}
	}
	return false
}

func expireEvents(t *telling) {
	switch {
	case t.none():
	case t.is:
		t.add(notify.Generic, "expire")
	default:
		t.add(notify.Generic, "del")
	}
}

// restoreEvents are those of RESTORE, which deletes what there was before.
func restoreEvents(t *telling) {
	if t.live && t.is {
		t.add(notify.New, "new")
	}
	if t.is {
		t.add(notify.Generic, "restore")
		return
	}
	t.emptied()
}

// poppedEvents are those of LMPOP and ZMPOP, which have the end behind the key.
func poppedEvents(t *telling) {
	if !t.changed {
		return
	}
	end := t.req.Args[2]
	switch {
	case isWord(end, "left"):
		t.add(notify.Lists, "lpop")
	case isWord(end, "right"):
		t.add(notify.Lists, "rpop")
	case isWord(end, "min"):
		t.add(notify.SortedSet, "zpopmin")
	default:
		t.add(notify.SortedSet, "zpopmax")
	}
	t.emptied()
}

// turnedEvents are those of LMOVE and RPOPLPUSH with one list.
func turnedEvents(t *telling) {
	if t.null() {
		return
	}
	left, toLeft := false, true
	if t.req.Op == command.OpLMove {
		left, _ = isEnd(t.req.Args[3])
		toLeft, _ = isEnd(t.req.Args[4])
	}
	t.add(notify.Lists, sided(toLeft, "push"))
	t.add(notify.Lists, sided(left, "pop"))
}

func sided(left bool, what string) string {
	if left {
		return "l" + what
	}
	return "r" + what
}

func zAddEvents(t *telling) {
	if !t.changed {
		return
	}
	var o addOptions
	for _, arg := range t.req.Args[2:] {
		if !o.parse(arg) {
			break
		}
	}
	if o.incr {
		t.add(notify.SortedSet, "zincr")
		return
	}
	t.add(notify.SortedSet, "zadd")
}

// after is what the key has now.
func (t *telling) after() stream { return streamIn(t.effect.Whole()) }

func xAddEvents(t *telling) {
	if !t.changed {
		return
	}
	t.add(notify.Stream, "xadd")
	if t.list.Wanted&notify.Stream != 0 && t.after().length() <= t.entries {
		t.add(notify.Stream, "xtrim")
	}
}

func xGroupEvents(t *telling) {
	name := string(bytes.ToLower(t.req.Args[2]))
	switch name {
	case "create", "setid":
		t.add(notify.Stream, "xgroup-"+name)
	default: // which may find nothing to do
		if t.changed {
			t.add(notify.Stream, "xgroup-"+name)
		}
	}
}

// consumerEvents are those of the commands that make the consumer which they name, if it is not there.
func consumerEvents(t *telling) {
	if t.changed && !t.consumer && t.list.Wanted&notify.Stream != 0 && hasConsumer(t.effect.Whole(), t.req) {
		t.add(notify.Stream, "xgroup-createconsumer")
	}
}

// hasConsumer reports whether the consumer that such a command names is there.
func hasConsumer(st record.State, req *command.Request) bool {
	var name, consumer []byte
	switch req.Op {
	case command.OpXReadGroupKey:
		o, _, _ := parseReadOptions(req.Args[3:], true)
		name, consumer = o.group, o.consumer
	case command.OpXClaim, command.OpXAutoClaim:
		name, consumer = req.Args[2], req.Args[3]
	default:
		return false
	}
	s := streamIn(st)
	g, found := s.group(name)
	if found {
		_, found = s.consumer(g.number, consumer)
	}
	return found
}
