package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
)

// The events of a command, as Redis tells them, follow from what was there before, the reply and what is there afterwards. So handlers need not know of them, and who wants none pays nothing. What
// follows for each command is in the table of events_table.go; commands of several keys tell what they do themselves, or have it done by commands of one.

// Before is what has to be known of a key before a command is executed on it, to say afterwards what it did: the state itself may be changed in place.
type Before struct {
	live     bool
	entries  int  // of a stream
	consumer bool // that the command names is there
	fields   bool // BITFIELD changes one
}

// Look looks at a state on which a command is about to be executed.
func Look(st record.State, req *command.Request) Before {
	b := Before{live: st.Live()}
	if st.Type == record.Stream && req.Events&notify.Stream != 0 {
		b.entries, b.consumer = streamIn(st).length(), hasConsumer(st, req)
	}
	if req.Op == command.OpBitField && req.Events&notify.String != 0 {
		b.fields = changesField(st, req)
	}
	return b
}

// Tell adds the events of a command on one key that was executed, of which the reply and the effect are given.
func (b Before) Tell(l *notify.List, req *command.Request, reply []byte, effect *record.Effect) {
	if req.Op == command.OpFlushKey {
		return
	}
	if req.Expired {
		l.Add(notify.Expired, "expired", req.Args[1])
	}
	b.told(l, req, reply, effect)
}

func (b Before) told(l *notify.List, req *command.Request, reply []byte, effect *record.Effect) {
	key := req.Args[1]
	refused := len(reply) > 0 && reply[0] == '-'
	if !b.live && Misses(req) && (!refused || looksFirst(req, reply)) {
		for range looks(req) {
			l.Add(notify.Missed, "keymiss", key)
		}
	}
	if refused {
		return
	}
	t := telling{Before: b, list: l, req: req, reply: reply, effect: effect, is: b.live, changed: effect.Kind != record.Unchanged}
	if t.changed {
		t.is = effect.State.Live()
	}
	if !b.live && t.is {
		l.Add(notify.New, "new", key)
	}
	if int(req.Op) < len(events) && events[req.Op] != nil {
		events[req.Op](&t)
	}
}

// telling is a command that was executed, and not refused, as the rules see it.
type telling struct {
	Before
	list    *notify.List
	req     *command.Request
	reply   []byte
	effect  *record.Effect
	is      bool // something is there now
	changed bool
}

// rule adds the events of a command that was not refused.
type rule func(t *telling)

// add adds an event of the command's key.
func (t *telling) add(class notify.Class, name string) { t.list.Add(class, name, t.req.Args[1]) }

// emptied adds that the key is gone, if it was there and is not any more.
func (t *telling) emptied() {
	if t.live && !t.is {
		t.add(notify.Generic, "del")
	}
}

// none reports whether the reply is that nothing was done: 0, or null.
func (t *telling) none() bool { return bytes.Equal(t.reply, []byte(":0\r\n")) || t.null() }

func (t *telling) null() bool {
	for _, null := range []string{"$-1\r\n", "*-1\r\n", "_\r\n"} {
		if string(t.reply) == null {
			return true
		}
	}
	return false
}

// always is the rule of a command that tells one thing whenever it is not refused.
func always(class notify.Class, name string) rule {
	return func(t *telling) { t.add(class, name) }
}

// ifChanged is that of a command which tells it if it changes something. Of a value that is empty then, the key is gone.
func ifChanged(class notify.Class, name string) rule {
	return func(t *telling) {
		if t.changed {
			t.add(class, name)
			t.emptied()
		}
	}
}

// ifDone is that of a command whose reply is 0 or null if it does nothing.
func ifDone(class notify.Class, name string) rule {
	return func(t *telling) {
		if !t.none() {
			t.add(class, name)
			t.emptied()
		}
	}
}
