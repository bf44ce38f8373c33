package sim

import (
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// Commands that read all keys of the database in slot 1, as transactions with DBSIZE or FLUSHDB do: the client lists the keys, and the home says which it misses.

// listing is what a client knows of the keys of the database.
type listing struct {
	also   []string // keys that it has been told of, but for the one that the command names first
	listed record.Ballot
	shown  []*quorum.Shown // what members have answered of the listing that is under way, in their order
	config *register.Config
}

// whole reports whether a command is one of these.
func (c cmd) whole() bool { return c.Name == "census" || c.Name == "wipe" }

// unlisted begins the replies of a home that does not know all keys, or does not know whether it does.
const unlisted = "?unlisted"

// census returns the command as a home gets it: on the first of its keys, the name of all, and those that the client has been told of.
func (o *operation) census(attempt int, born int64) *register.Request {
	first, other, _ := strings.Cut(o.cmd.Key, between)
	names := [][]byte{[]byte(first), placed.All()}
	if slices.Contains(o.also, other) {
		names = append(names, []byte(other))
	}
	w := &register.Whole{Database: placed, Listed: o.listed}
	run := func(dst []byte, held []record.Record, now int64) ([]byte, []record.Effect, error) {
		if w.Unlisted || len(w.Missing) > 0 {
			dst = append(dst, unlisted...)
			for _, name := range w.Missing {
				dst = append(append(dst, ' '), name...)
			}
			if w.Unlisted {
				dst = append(dst, " ?"...)
			}
			return dst, make([]record.Effect, len(held)), nil
		}
		both := []record.Record{held[0], {}}
		if len(held) > 2 {
			both[1] = held[2]
		}
		dst, effects, err := o.cmd.run(dst, both, now)
		all := make([]record.Effect, len(held))
		if all[0] = effects[0]; len(held) > 2 {
			all[2] = effects[1]
		}
		return dst, all, err
	}
	r := register.NewBatch(names, run, o, uint64(attempt), born)
	r.ReadAll(w)
	return r
}

// unlisted goes on with a command that a home has not done, for it misses keys. It reports false if it was no such command.
func (o *operation) unlisted(reply string) bool {
	rest, is := strings.CutPrefix(reply, unlisted)
	if !is {
		return false
	}
	s := o.client.sim
	again := false
	for name := range strings.FieldsSeq(rest) {
		if again = again || name == "?"; name != "?" {
			s.count("census-missed", 1)
			o.also = append(o.also, name)
		}
	}
	o.begin()
	if again {
		o.list()
		return true
	}
	o.forward(0)
	return true
}

// list asks the members what keys they hold, each some time. One that is not answered is begun again.
func (o *operation) list() {
	p, s, attempt := o.client, o.client.sim, o.attempt
	config := p.config(int(o.cmd.Slot))
	members := config.Members()
	o.config, o.shown = config, make([]*quorum.Shown, len(members))
	shown := o.shown
	for i, id := range members {
		s.after(s.rand.IntN(20), func() {
			s.once(p.id, id, func() {
				s.nodes[id].list(o.cmd.Slot, config.Epoch(), func(one *quorum.Shown, epoch uint64) {
					s.once(id, p.id, func() {
						p.learn(o.cmd.Slot, epoch)
						if shown[i] = one; one != nil && !o.done && o.attempt == attempt {
							o.listedBy(shown)
						}
					})
				})
			})
		})
	}
	s.after(60+s.rand.IntN(60), func() {
		if !o.done && o.attempt == attempt {
			o.begin()
			o.list()
		}
	})
}

// listedBy goes on if enough members have answered.
func (o *operation) listedBy(shown []*quorum.Shown) {
	members := o.config.Members()
	names, ballot, ok := quorum.List(shown, func(such func(i int) bool) bool {
		return o.config.Quorum(func(id uint16) bool { return such(slices.Index(members, id)) })
	})
	if !ok {
		return
	}
	o.client.sim.count("census-listed", 1)
	o.listed = ballot
	for _, name := range names {
		o.also = append(o.also, string(name))
	}
	o.begin()
	o.forward(0)
}

// list shows the keys of the database that a replica holds, as soon as that is durable; nil if it cannot.
func (n *node) list(slot uint16, epoch uint64, reply func(shown *quorum.Shown, epoch uint64)) {
	n.do(func() {
		if n.lost || n.damaged[slot] || n.store.failing || n.store.spoilt(slot) || !n.meet(slot, epoch) || n.epochs[slot].number != epoch {
			reply(nil, n.epochs[slot].number)
			return
		}
		im := &n.store.staged.slots[slot]
		one := &quorum.Shown{Promised: im.meta.Promised, Cleared: im.meta.Cleared, Unsure: im.meta.Unsure}
		for _, name := range keysIn(slot) {
			if rec, held := im.records[name]; held {
				one.Keys = append(one.Keys, quorum.ShownKey{Name: []byte(name), Version: rec.Version, Live: rec.State.Live()})
			}
		}
		n.hold(func() { reply(one, epoch) })
	})
}

// spoilt reports whether some record of a slot cannot be read.
func (s *store) spoilt(slot uint16) bool { return len(s.staged.slots[slot].rotten) > 0 }
