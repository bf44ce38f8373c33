package replicate

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// Replies hands on what one member answers to this node's homes. It belongs to the goroutine that reads the link.
type Replies struct {
	// Objects are those that come on the link.
	Objects

	from     uint16
	name     string
	round    *replica.Round // nil if none has begun
	group    replica.Group
	messages [replica.GroupSize]register.Message
}

// Replies returns what handles the answers of a member.
func (r *Replicator) Replies(from uint16, name string) *Replies {
	return &Replies{Objects: r.Objects(), from: from, name: name}
}

// Frame hands the replies of a frame to the homes that asked, in groups. What these send leaves with Flush.
func (r *Replies) Frame(body []byte) {
	if r.round == nil {
		r.round = r.replicator.host.Begin()
	}
	d := wire.NewDecoder(body)
	d.Ahead = r.object
	count := 0
	for d.More() {
		m := &r.messages[count]
		protocol.DecodeReply(&d, m)
		if err := d.Err(); err != nil {
			r.replicator.log.Warn("a peer sent a reply that makes no sense", "peer", r.name, "err", err)
			break
		}
		m.From = r.from
		if d.Missing() {
			r.replicator.metrics.ObjectsLost.Inc()
			continue
		}
		if m.Slot >= ring.Slots {
			continue
		}
		if m.Result == register.StaleEpoch {
			r.replicator.host.Later(r.from, m.Epoch)
		}
		if count++; count == replica.GroupSize {
			r.handle(count)
			count = 0
		}
	}
	r.handle(count)
}

// handle hands the first messages to their homes.
func (r *Replies) handle(count int) {
	r.replicator.host.HandleReplies(&r.group, r.messages[:count], r.round)
	clear(r.messages[:count])
}

// Flush ends the round, if one has begun.
func (r *Replies) Flush() {
	if round := r.round; round != nil {
		r.round = nil
		round.Flush()
	}
}
