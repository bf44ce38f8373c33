package proxytest

import (
	"context"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
)

// Listen implements route.Cluster.
func (c *Cluster) Listen(hear func(*protocol.Message)) {
	c.Lock()
	defer c.Unlock()
	c.hear = hear
}

// Interest implements route.Cluster.
func (c *Cluster) Interest(changed []protocol.Interest) (wait func()) {
	c.interests.Lock()
	defer c.interests.Unlock()
	for _, i := range changed {
		if c.interest[i.Kind][string(i.Name)] = i.Clients; i.Clients == 0 {
			delete(c.interest[i.Kind], string(i.Name))
		}
	}
	return func() {}
}

// publish has a message heard, and returns how often.
func (c *Cluster) publish(m *protocol.Message) []byte {
	kind := protocol.OfChannel
	if m.Shard {
		kind = protocol.OfShardChannel
	}
	c.interests.Lock()
	n := c.interest[kind][string(m.Channel)]
	for pattern, clients := range c.interest[protocol.OfPattern] {
		if !m.Shard && scan.MatchChannel([]byte(pattern), m.Channel) {
			n += clients
		}
	}
	c.interests.Unlock()
	c.hear(m)
	return resp.AppendInt(nil, int64(n))
}

// PubSub implements route.Cluster.
func (c *Cluster) PubSub(_ context.Context, q *protocol.PubSubQuestion) (a protocol.PubSubAnswer, err error) {
	c.interests.Lock()
	defer c.interests.Unlock()
	kind := protocol.OfChannel
	if q.Shard {
		kind = protocol.OfShardChannel
	}
	switch q.Query {
	case protocol.QueryNames:
		for name := range c.interest[kind] {
			if len(q.Names) == 0 || scan.MatchChannel(q.Names[0], []byte(name)) {
				a.Names = append(a.Names, []byte(name))
			}
		}
	case protocol.QueryCounts:
		for _, name := range q.Names {
			a.Counts = append(a.Counts, c.interest[kind][string(name)])
		}
	case protocol.QueryPatterns:
		a.Counts = []uint64{uint64(len(c.interest[protocol.OfPattern]))}
	}
	return a, c.Err
}
