package broker

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// publisher gathers messages for proxies. It is for one goroutine.
type publisher struct {
	broker     *Broker
	interested []*Session
	outgoing   []outgoing
}

// outgoing is a frame of messages for a proxy.
type outgoing struct {
	to       *Session
	buf      []byte
	messages int
}

// publish adds a message to what is sent to those who are interested, and returns how often it will be heard.
func (p *publisher) publish(m *protocol.Message) (clients uint64) {
	p.broker.mu.RLock()
	p.interested, clients = p.broker.table.Find(p.interested[:0], m.Shard, m.Channel)
	p.broker.mu.RUnlock()
	for _, to := range p.interested {
		o := p.outgoingTo(to)
		if len(o.buf) == 0 {
			o.buf = wire.BeginFrame(o.buf, protocol.FrameMessages)
		}
		o.buf = protocol.AppendMessage(buffer.Reserve(o.buf, len(m.Channel)+len(m.Payload)+16), m)
		if o.messages++; len(o.buf) >= fullFrame {
			o.send()
		}
	}
	clear(p.interested)
	return clients
}

// outgoingTo returns the frame for a proxy. There are few of them.
func (p *publisher) outgoingTo(to *Session) *outgoing {
	for i := range p.outgoing {
		if p.outgoing[i].to == to {
			return &p.outgoing[i]
		}
	}
	if n := len(p.outgoing); n < cap(p.outgoing) { // with the memory of an earlier frame
		p.outgoing = p.outgoing[:n+1]
		p.outgoing[n].to = to
	} else {
		p.outgoing = append(p.outgoing, outgoing{to: to})
	}
	return &p.outgoing[len(p.outgoing)-1]
}

// flush sends all that is left.
func (p *publisher) flush() {
	for i := range p.outgoing {
		p.outgoing[i].send()
		p.outgoing[i].to = nil
	}
	p.outgoing = p.outgoing[:0]
}

// send sends the messages, unless too much waits for the proxy.
func (o *outgoing) send() {
	if o.messages == 0 {
		return
	}
	if !o.to.take(wire.EndFrame(o.buf, 0)) {
		o.to.broker.metrics.MessagesDropped.Add(uint64(o.messages))
	}
	if o.buf, o.messages = o.buf[:0], 0; cap(o.buf) > 2*fullFrame {
		buffer.Put(o.buf)
		o.buf = nil
	}
}
