package broker

import (
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/protocol"
)

// Events of keys are published as messages are, by the node that is the home of the key: to whoever is interested in one of the two channels of an event, as long as some proxy asks for its class.
// It is not asked which: the setting is made at one proxy, and the clients that subscribe may be at others.

// eventBits is by how much the classes of channels that name events are above the others.
const eventBits = 16

// noteEvents notes what is wanted now. The table is locked.
func (b *Broker) noteEvents() {
	space, event := b.table.Events()
	b.events.Store(uint32(space) | uint32(event)<<eventBits)
}

// Wanted are the classes of events that somebody wants to hear of.
func (b *Broker) Wanted() notify.Class {
	wanted := b.events.Load()
	return notify.Class(wanted) | notify.Class(wanted>>eventBits)
}

// eventPublisher publishes events.
type eventPublisher struct {
	publisher
	channel []byte
}

// Tell publishes events, as notify.Events goes through them, in their order. They are borrowed. Nobody is waited for.
func (b *Broker) Tell(events []byte) {
	wanted := b.events.Load()
	if wanted == 0 {
		return
	}
	p := b.publishers.Get().(*eventPublisher)
	defer b.publishers.Put(p)
	for e := range notify.Events(events) {
		if notify.Class(wanted)&e.Class != 0 {
			p.channel = e.AppendSpace(p.channel[:0])
			p.tell(e.Name)
		}
		if notify.Class(wanted>>eventBits)&e.Class != 0 {
			p.channel = e.AppendEvent(p.channel[:0])
			p.tell(e.ClientsKey())
		}
	}
	p.flush()
	if cap(p.channel) > protocol.MaxName {
		p.channel = nil
	}
}

// tell publishes a message on the channel, unless a name in it is longer than those of messages may be.
func (p *eventPublisher) tell(payload []byte) {
	if len(p.channel) <= protocol.MaxName && len(payload) <= protocol.MaxMessage {
		p.publish(&protocol.Message{Channel: p.channel, Payload: payload})
	}
}
