package broker

import (
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/scan"
)

// ErrTooMuch is the error for a proxy that subscribes to more than it may.
var ErrTooMuch = errors.New("broker: a proxy subscribes to more than protocol.MaxInterest; it should have refused its clients")

// Table says who is interested in what. C is whoever is: a connection. It is not safe for use by several goroutines.
type Table[C comparable] struct {
	by   [protocol.InterestKinds]map[string]*audience[C]
	held map[C]*holding
	// hearers is how many names there are that may be those of channels of events.
	hearers int
}

// audience is who is interested in a name.
type audience[C comparable] struct {
	clients uint64 // of all
	members []member[C]
}

type member[C comparable] struct {
	conn    C
	clients uint64
}

// holding is what one connection is interested in.
type holding struct {
	names [protocol.InterestKinds]map[string]struct{}
	bytes int
}

// NewTable returns an empty table.
func NewTable[C comparable]() *Table[C] {
	t := &Table[C]{held: map[C]*holding{}}
	for kind := range t.by {
		t.by[kind] = map[string]*audience[C]{}
	}
	return t
}

// Set says how many clients of a connection subscribe to a name from now on. The name is copied.
func (t *Table[C]) Set(conn C, i protocol.Interest) error {
	h := t.held[conn]
	if i.Clients == 0 {
		if h != nil {
			t.remove(conn, h, i.Kind, string(i.Name))
		}
		return nil
	}
	if h == nil {
		h = &holding{}
		t.held[conn] = h
	}
	if _, there := h.names[i.Kind][string(i.Name)]; !there {
		cost := len(i.Name) + protocol.InterestCost
		if h.bytes+cost > protocol.MaxInterest {
			return ErrTooMuch
		}
		h.bytes += cost
	}
	t.put(conn, h, i)
	return nil
}

// put notes an interest for which there is room.
func (t *Table[C]) put(conn C, h *holding, i protocol.Interest) {
	a := t.by[i.Kind][string(i.Name)]
	if a == nil {
		a = &audience[C]{}
		t.by[i.Kind][string(i.Name)] = a
		t.heard(i.Kind, i.Name, 1)
	}
	at := slices.IndexFunc(a.members, func(m member[C]) bool { return m.conn == conn })
	if at >= 0 {
		a.clients += i.Clients - a.members[at].clients
		a.members[at].clients = i.Clients
		return
	}
	a.clients += i.Clients
	a.members = append(a.members, member[C]{conn, i.Clients})
	if h.names[i.Kind] == nil {
		h.names[i.Kind] = map[string]struct{}{}
	}
	h.names[i.Kind][string(i.Name)] = struct{}{}
}

func (t *Table[C]) remove(conn C, h *holding, kind protocol.InterestKind, name string) {
	if _, there := h.names[kind][name]; !there {
		return
	}
	delete(h.names[kind], name)
	h.bytes -= len(name) + protocol.InterestCost
	a := t.by[kind][name]
	at := slices.IndexFunc(a.members, func(m member[C]) bool { return m.conn == conn })
	a.clients -= a.members[at].clients
	if a.members = slices.Delete(a.members, at, at+1); len(a.members) == 0 {
		delete(t.by[kind], name)
		t.heard(kind, []byte(name), -1)
	}
}

// heard counts a name among the hearers, if it is one.
func (t *Table[C]) heard(kind protocol.InterestKind, name []byte, n int) {
	if (kind == protocol.OfChannel || kind == protocol.OfPattern) && notify.Heard(name, kind == protocol.OfPattern) {
		t.hearers += n
	}
}

// Events returns the classes of events that somebody asks for on channels that name keys, and on those that name events: none as long as nobody may hear of any.
func (t *Table[C]) Events() (space, event notify.Class) {
	a := t.by[protocol.OfEvents][""]
	if a == nil || t.hearers == 0 {
		return 0, 0
	}
	for _, m := range a.members {
		set := notify.Class(m.clients)
		space |= set.On(notify.Keyspace)
		event |= set.On(notify.Keyevent)
	}
	return space, event
}

// Drop forgets a connection.
func (t *Table[C]) Drop(conn C) {
	h := t.held[conn]
	if h == nil {
		return
	}
	for kind, names := range h.names {
		for name := range names {
			t.remove(conn, h, protocol.InterestKind(kind), name)
		}
	}
	delete(t.held, conn)
}

// Find appends to conns whoever is interested in a message on a channel, each once, and returns how often clients will hear it: a client that subscribes to
// the channel and to patterns that match it does so for each.
func (t *Table[C]) Find(conns []C, shard bool, channel []byte) (interested []C, clients uint64) {
	if shard {
		return t.by[protocol.OfShardChannel][string(channel)].add(conns, 0)
	}
	conns, clients = t.by[protocol.OfChannel][string(channel)].add(conns, 0)
	for pattern, a := range t.by[protocol.OfPattern] {
		if scan.MatchChannel([]byte(pattern), channel) {
			conns, clients = a.add(conns, clients)
		}
	}
	return conns, clients
}

// add appends the members that are not among conns.
func (a *audience[C]) add(conns []C, clients uint64) (more []C, sum uint64) {
	if a == nil {
		return conns, clients
	}
	for i := range a.members {
		if !slices.Contains(conns, a.members[i].conn) {
			conns = append(conns, a.members[i].conn)
		}
	}
	return conns, clients + a.clients
}

// Answer answers what PUBSUB asks.
func (t *Table[C]) Answer(q *protocol.PubSubQuestion) (a protocol.PubSubAnswer) {
	kind := protocol.OfChannel
	if q.Shard {
		kind = protocol.OfShardChannel
	}
	switch q.Query {
	case protocol.QueryNames:
		for name := range t.by[kind] {
			if len(q.Names) == 0 || scan.MatchChannel(q.Names[0], []byte(name)) {
				a.Names = append(a.Names, []byte(name))
			}
		}
	case protocol.QueryCounts:
		for _, name := range q.Names {
			_, clients := t.by[kind][string(name)].add(nil, 0)
			a.Counts = append(a.Counts, clients)
		}
	case protocol.QueryPatterns:
		a.Counts = []uint64{uint64(len(t.by[protocol.OfPattern]))}
	}
	return a
}
