package replicate

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// Session is what a connection from a node needs for homes' requests. Replicator.Session makes it. It belongs to the goroutine that reads the connection.
type Session struct {
	// Objects are those that come on the connection.
	Objects

	group    replica.Group // that is being executed
	messages [replica.GroupSize]register.Message
	answer   register.Message
}

// Session returns what a new connection needs.
func (r *Replicator) Session() Session { return Session{Objects: r.Objects()} }

// Requests executes a frame of homes' requests on this node's replicas, in groups, in a round of the connection. from is who is connected,
// nil if it is no node or does not say which. An error means that the frame makes no sense.
func (r *Replicator) Requests(c *replica.Conn, s *Session, from *ring.Member, body []byte) error {
	v := r.host.View()
	if v == nil || r.host.Failed() || v.Life(from) == 0 {
		r.metrics.RefusedNoVote.Inc()
		return nil // a vote is never given to, nor by, a process that is not of the ring
	}
	member := v.Life(from) // which it may not have heard of yet
	c.Begin(r.host)
	d := wire.NewDecoder(body)
	d.Ahead = s.object
	for d.More() {
		m := &s.messages[s.group.Len()]
		protocol.DecodeRequest(&d, m)
		if d.Err() != nil {
			break
		}
		if d.Missing() {
			r.metrics.ObjectsLost.Inc()
			continue
		}
		m.From, m.To = member, v.Self
		if s.group.Add(m.Slot, m.Key, useOf(m), false) || !d.More() {
			r.group(c, s)
			c.Goes()
		}
	}
	if s.group.Len() > 0 {
		r.group(c, s)
	}
	return d.Err()
}

// useOf says what a request will do with its key in the engine.
func useOf(m *register.Message) engine.Use {
	if at, n, ok := record.PatchPlace(m.Delta); ok {
		return engine.UsePatch(at, n)
	}
	return engine.UseWrite
}

// group executes the requests that have been gathered.
func (r *Replicator) group(c *replica.Conn, s *Session) {
	r.host.LockGroup(&s.group, c.Round())
	defer r.host.UnlockGroup(&s.group)
	r.host.PrefetchKeys(&s.group)
	for i := range s.group.Len() {
		m := &s.messages[i]
		st := r.host.Stripe(m.Slot)
		sl, err := st.Slot(m.Slot)
		if err == nil && r.host.Unknown(sl, m.Slot, m.Epoch) {
			r.host.Later(m.From, m.Epoch)
			continue
		}
		if err == nil && r.overflows(sl, m) {
			continue
		}
		if err == nil {
			if err = st.Handle(sl, m, &s.answer); err != nil {
				st.Fail(m.Slot, sl, err)
			}
		}
		if err != nil {
			r.host.Later(m.From, m.Epoch) // this node may hold the slot by now
			continue                      // no answer: no vote
		}
		r.count(&s.answer)
		c.Round().Vote(c, &s.answer)
	}
	clear(s.messages[:s.group.Len()])
}

// count counts an answer.
func (r *Replicator) count(reply *register.Message) {
	switch {
	case reply.Result == register.StaleEpoch:
		r.metrics.RefusedEpoch.Inc()
	case reply.Result == register.StaleBallot:
		r.metrics.RefusedBallot.Inc()
	case reply.Kind == register.Accept && reply.Result == register.OK:
		r.metrics.Accepts.Inc()
	}
}

// overflows reports whether a request of another home would make the data of a brimful node grow, which is left to the others as long as these have room. If they have none either the home takes no command any more
// that may make the data grow: what still comes belongs to one that deletes, or moves, and would never be done.
func (r *Replicator) overflows(sl *replica.Slot, m *register.Message) bool {
	if !r.host.Space.Brimful() || m.Kind != register.Accept || !m.IsDelta && !m.State.Live() || !r.host.Spared(sl) {
		return false
	}
	grows, err := sl.Grows(&m.Change)
	return err == nil && grows
}
