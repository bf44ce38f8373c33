package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

const unknown = "?"

// client is a proxy with one client, which sends pipelines: up to four commands,
// often of one key, whose answers it awaits before it sends the next.
type client struct {
	sim   *Sim
	id    uint16 // its address in the network
	epoch uint64
	left  int           // operations
	open  int           // operations of the pipeline that are not answered
	homes [slots]uint16 // where the homes are thought to be, 0 for no idea
}

// operation is one command of a client.
type operation struct {
	client  *client
	attempt int // answers to earlier ones are late
	cmd     cmd
	start   int
	done    bool
	read    *quorumRead // under way, nil if none
}

// quorumRead is the votes on a read (R10).
type quorumRead struct {
	votes quorum.Votes
	from  uint16 // the replica that was asked for the reply
	reply record.Record
}

// maxWait is how long a client waits for an operation.
const maxWait = 900

// next sends a pipeline.
func (p *client) next() {
	if p.left == 0 || p.open > 0 {
		return
	}
	s := p.sim
	size := min(p.left, 1+max(0, s.rand.IntN(7)-3))
	p.left -= size
	p.open = size
	var ops []*operation
	for range size {
		o := &operation{client: p, cmd: s.randomCommand(), start: s.now}
		if len(ops) > 0 && s.chance(2) && o.cmd.Key != "" && ops[0].cmd.Key != "" { // of one key
			o.cmd.Key, o.cmd.Slot = ops[0].cmd.Key, ops[0].cmd.Slot
		}
		ops = append(ops, o)
		p.watch(o)
	}
	if size > 1 {
		s.count("pipeline", 1)
	}
	p.send(ops)
}

// watch ends the wait for an operation. One that began when a majority was well has
// to be done by then.
func (p *client) watch(o *operation) {
	if p.sim.healed {
		p.sim.after(bound, o.giveUp)
		return
	}
	p.sim.after(maxWait, func() {
		if !o.done {
			o.finish(register.Unknown, "")
		}
	})
}

// giveUp ends an operation that should have ended long ago.
func (o *operation) giveUp() {
	if !o.done {
		s := o.client.sim
		s.overdue = append(s.overdue, fmt.Sprintf("client %d: %v, begun at %d, is not finished at %d", o.client.id, o.cmd, o.start, s.now))
		o.finish(register.Unknown, "")
	}
}

// send sends the commands of a pipeline: reads to replicas, the others in one frame for
// each slot.
func (p *client) send(ops []*operation) {
	var frames [slots][]*operation
	for _, o := range ops {
		if o.cmd.Name == "get" && p.sim.rand.IntN(10) < 6 && o.startRead() {
			continue
		}
		o.begin()
		frames[o.cmd.Slot] = append(frames[o.cmd.Slot], o)
	}
	for slot, frame := range frames {
		if len(frame) > 0 {
			p.sim.sendRequests(p, frame, p.home(slot), p.sim.rand.IntN(100) < p.sim.rivalry)
		}
	}
}

// begin starts an attempt. A read that is not answered soon is tried again.
func (o *operation) begin() {
	o.attempt++
	o.read = nil
	if o.cmd.Name != "get" {
		return
	}
	s, attempt := o.client.sim, o.attempt
	s.after(50+s.rand.IntN(40), func() {
		if !o.done && o.attempt == attempt {
			o.client.homes[o.cmd.Slot] = 0
			o.retry(true)
		}
	})
}

// retry tries an operation again, which was certainly not executed or only reads.
func (o *operation) retry(force bool) {
	if o.cmd.Name == "get" && o.client.sim.chance(2) && o.startRead() {
		return
	}
	o.begin()
	o.forward(force)
}

// forward sends the command to the home; any member may serve as one.
func (o *operation) forward(force bool) {
	p := o.client
	p.sim.sendRequests(p, []*operation{o}, p.home(int(o.cmd.Slot)), force || p.sim.rand.IntN(100) < p.sim.rivalry)
}

// home returns where to send a command of a slot: where the last answer said, or to
// any member.
func (p *client) home(slot int) uint16 {
	s, members := p.sim, p.config(slot).Members()
	home := p.homes[slot]
	switch {
	case s.healed:
		usable := func(id uint16) bool { return !s.nodes[id].ill }
		if !slices.Contains(members, home) || !usable(home) {
			home = members[slices.IndexFunc(members, usable)]
		}
	case home == 0 && !s.weather.faulty:
		home = members[0]
	case home == 0 || s.rand.IntN(100) < s.rivalry:
		home = members[s.rand.IntN(len(members))]
	}
	p.homes[slot] = home
	return home
}

func (p *client) config(slot int) *register.Config { return p.sim.epochs[p.epoch-1].configs[slot] }

// handleAnswer takes what a home says.
func (o *operation) handleAnswer(attempt int, a register.Answer, epoch uint64) {
	p := o.client
	p.epoch = max(p.epoch, epoch)
	if o.done || attempt != o.attempt {
		return
	}
	if a.Outcome != register.NotDone {
		o.finish(a.Outcome, string(a.Reply))
		return
	}
	p.homes[o.cmd.Slot] = a.Hint
	o.attempt++
	again := o.attempt
	p.sim.after(1+p.sim.rand.IntN(15), func() {
		if !o.done && o.attempt == again {
			o.retry(a.Hint != 0)
		}
	})
}

// startRead asks a majority, or all, of the replicas. While the epoch is joint the
// home reads: a majority of all members need not be one of the old and one of the new (R16).
func (o *operation) startRead() bool {
	p, s := o.client, o.client.sim
	config := p.config(int(o.cmd.Slot))
	if config.Joint() {
		return false
	}
	o.begin()
	members := s.shuffled(config.Members())
	asked := len(members)
	if s.chance(2) {
		asked = quorum.Majority(len(members))
	}
	o.read = &quorumRead{votes: quorum.Start(len(members), asked), from: members[0]}
	for _, id := range members[:asked] {
		s.sendRead(o, id)
	}
	return true
}

// handleVote counts what a replica says (R10).
func (o *operation) handleVote(attempt int, v vote) {
	o.client.epoch = max(o.client.epoch, v.epoch)
	if o.done || attempt != o.attempt || o.read == nil {
		return
	}
	s, r := o.client.sim, o.read
	var decision quorum.Decision
	switch {
	case v.refused:
		decision = r.votes.Fail()
	case v.expired:
		s.count("expired-read", 1)
		decision = r.votes.Expire()
	case v.from == r.from:
		r.reply = v.record
		decision = r.votes.AddValue(v.record.Version)
	default:
		decision = r.votes.Add(v.record.Version)
	}
	switch decision {
	case quorum.Agreed:
		s.count("quorum-read", 1)
		o.finish(register.Done, show(r.reply.State))
	case quorum.AskHome:
		s.count("read-to-home", 1)
		o.begin()
		o.forward(false)
	case quorum.Failed:
		s.count("read-failed", 1)
		o.begin()
		o.forward(false)
	}
}

// finish notes what the client was told.
func (o *operation) finish(outcome register.Outcome, reply string) {
	o.done = true
	p, s := o.client, o.client.sim
	s.ghosts++ // the commands of a pipeline run side by side: to Porcupine each is a client of its own
	op := porcupine.Operation{ClientId: s.ghosts, Input: o.cmd, Call: int64(o.start) * 2, Output: reply, Return: int64(s.now)*2 + 1}
	read := o.cmd.Name == "get"
	if outcome == register.Unknown {
		op.Output, op.Return = unknown, math.MaxInt64 // it never ends
		if !read {
			s.count("writes-unknown", 1)
		}
		if o.start > horizon+settling && s.healed {
			s.count(unknownWhenWell, 1)
		}
	}
	if o.start > horizon+settling && s.healed {
		s.count(begunWhenWell, 1)
	}
	if !read {
		s.count("writes", 1)
	}
	if outcome == register.Done || !read {
		s.history = append(s.history, op)
	}
	s.trace("client %d: %v -> %v", p.id, o.cmd, op.Output)
	if p.open--; p.open == 0 {
		s.after(s.rand.IntN(s.think), p.next)
	}
}
