package route

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/wire"
)

// What clients change for the whole cluster is decided by the nodes that decide on the ring: its users, and its parameters.

// decision is such a change.
type decision struct {
	method protocol.Method
	change any    // the call's payload, as JSON
	of     string // what is changed, in errors: users
	look   string // where to see what has become of it
}

// noDecider is returned when no node can be asked.
func (d *decision) noDecider() error {
	return Refuse(fmt.Sprintf("CLUSTERDOWN no node can be asked to change %s; nothing was done, and the %[1]s that there are can be used on. Try again, and see 'quoll ring status' if it stays so", d.of))
}

// judge returns what is to be said of a change that was not made, nil if it was.
func (d *decision) judge(reply protocol.DecisionReply) error {
	switch {
	case reply.Nothing, reply.Version > 0:
		return nil
	case reply.Refused:
		return Refuse(fmt.Sprintf("ERR the %s were not changed: %s", d.of, reply.Reason))
	case reply.Unknown:
		return &ReplyError{Outcome: answer.Unknown, Text: fmt.Sprintf("UNKNOWN the change of %s was proposed, and nobody can tell what became of it: look at %s when a majority of the nodes that decide is there again (quoll ring status). %s", d.of, d.look, reply.Reason)}
	}
	return Refuse(fmt.Sprintf("ERR the %s were not changed; those that there are can be used on. A majority of the nodes that decide has to be there (quoll ring status). %s", d.of, reply.Reason))
}

// propose has some node propose a change, the next one if one cannot be asked.
func (c *Coordinator) propose(ctx context.Context, d *decision) (reply protocol.DecisionReply, err error) {
	view := c.ring.Load()
	if view == nil {
		return reply, ErrNotReady
	}
	payload, err := json.Marshal(d.change)
	if err != nil {
		return reply, err
	}
	ctx, cancel := context.WithTimeout(ctx, protocol.DecisionTime)
	defer cancel()
	err = d.noDecider()
	for _, l := range view.nodes {
		if !l.up.Load() {
			continue
		}
		payload, asked := l.caller.Call(ctx, d.method, payload)
		switch {
		case asked == nil:
			return reply, json.Unmarshal(payload, &reply)
		case errors.Is(asked, protocol.ErrCall), errors.Is(asked, wire.ErrDown): // it has done nothing
			err = Refuse(fmt.Sprintf("ERR the %s were not changed: node %s: %s", d.of, l.address, asked))
		default:
			return protocol.DecisionReply{Unknown: true, Reason: asked.Error()}, nil
		}
	}
	return reply, err
}
