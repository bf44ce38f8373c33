package session

import (
	"strconv"
	"sync"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

// subscribers are the clients of a proxy that subscribe to something. Any goroutine may use them.
type subscribers struct {
	mu    sync.RWMutex
	by    [protocol.InterestKinds]map[string]map[*Session]struct{}
	bytes int // that the nodes keep of it
}

func newSubscribers() *subscribers {
	t := new(subscribers)
	for kind := range t.by {
		t.by[kind] = map[string]map[*Session]struct{}{}
	}
	return t
}

var errTooManySubscriptions = route.Refuse("ERR the clients of this proxy subscribe to so many channels and patterns that the names would take more than " +
	strconv.Itoa(protocol.MaxInterest>>20) + " MiB; nothing was done. Use other proxies, or fewer names and patterns")

// add adds a client to names that it does not subscribe to, all or none, and tells the cluster. wait waits until all nodes know. It hears messages at once.
func (t *subscribers) add(s *Session, cluster route.Cluster, kind protocol.InterestKind, names []string) (wait func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	more := 0
	for _, name := range names {
		if t.by[kind][name] == nil {
			more += len(name) + protocol.InterestCost
		}
	}
	if t.bytes+more > protocol.MaxInterest {
		return nil, errTooManySubscriptions
	}
	t.bytes += more
	changed := make([]protocol.Interest, len(names))
	for i, name := range names {
		all := t.by[kind][name]
		if all == nil {
			all = map[*Session]struct{}{}
			t.by[kind][name] = all
		}
		all[s] = struct{}{}
		changed[i] = protocol.Interest{Kind: kind, Clients: uint64(len(all)), Name: []byte(name)}
	}
	return cluster.Interest(changed), nil
}

// remove removes a client from names that it subscribes to, and tells the cluster. It hears nothing more.
func (t *subscribers) remove(s *Session, cluster route.Cluster, kind protocol.InterestKind, names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed := make([]protocol.Interest, len(names))
	for i, name := range names {
		all := t.by[kind][name]
		delete(all, s)
		changed[i] = protocol.Interest{Kind: kind, Clients: uint64(len(all)), Name: []byte(name)}
		if len(all) == 0 {
			delete(t.by[kind], name)
			t.bytes -= len(name) + protocol.InterestCost
		}
	}
	_ = cluster.Interest(changed) // nobody waits
}

// hears reports whether a client subscribes to a name.
func (t *subscribers) hears(s *Session, kind protocol.InterestKind, name string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, is := t.by[kind][name][s]
	return is
}

// names is how many names of a kind somebody subscribes to.
func (t *subscribers) names(kind protocol.InterestKind) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.by[kind])
}

// hear hands a message to those who subscribe to it: first to those of the channel, then to those of each pattern. It is encoded once for each version of the protocol.
func (t *subscribers) hear(m *protocol.Message) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if m.Shard {
		push(t.by[protocol.OfShardChannel][string(m.Channel)], func(resp3 bool) []byte { return encode(resp3, "smessage", m.Channel, m.Payload) })
		return
	}
	push(t.by[protocol.OfChannel][string(m.Channel)], func(resp3 bool) []byte { return encode(resp3, "message", m.Channel, m.Payload) })
	for pattern, all := range t.by[protocol.OfPattern] {
		if scan.MatchChannel([]byte(pattern), m.Channel) {
			push(all, func(resp3 bool) []byte { return encode(resp3, "pmessage", []byte(pattern), m.Channel, m.Payload) })
		}
	}
}

// push pushes a message to clients.
func push(all map[*Session]struct{}, message func(resp3 bool) []byte) {
	var encoded [2][]byte
	for s := range all {
		version := 0
		if s.subs.resp3.Load() {
			version = 1
		}
		if encoded[version] == nil {
			encoded[version] = message(version == 1)
		}
		s.conn.Push(encoded[version])
	}
}

// encode returns a message as a client gets it: a push of RESP3, or an array.
func encode(resp3 bool, kind string, texts ...[]byte) []byte {
	size := 32
	for _, text := range texts {
		size += len(text) + 16
	}
	dst := resp.AppendBulk(appendPush(make([]byte, 0, size), 1+len(texts), resp3), kind)
	for _, text := range texts {
		dst = resp.AppendBulk(dst, text)
	}
	return dst
}

// appendPush appends the head of a message of n elements.
func appendPush(dst []byte, n int, resp3 bool) []byte {
	at := len(dst)
	if dst = resp.AppendArray(dst, n); resp3 {
		dst[at] = '>'
	}
	return dst
}
