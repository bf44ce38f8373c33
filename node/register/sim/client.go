package sim

import (
	"slices"

	"github.com/quolldb/quoll/node/register"
)

const unknown = "?"

// client is a proxy with one client, which sends pipelines: up to four commands,
// often of one key, whose answers it awaits before it sends the next.
type client struct {
	sim      *Sim
	id       uint16        // its address in the network
	epochs   [slots]uint64 // which of each slot it knows
	left     int           // operations
	open     int           // operations of the pipeline that are not answered
	pipeline []*operation  // which was sent last
	homes    [slots]uint16 // where the homes are thought to be, 0 for no idea
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
	ops := make([]*operation, 0, size)
	for range size {
		o := &operation{client: p, cmd: s.randomCommand(), start: s.now}
		if len(ops) > 0 && s.chance(2) && o.cmd.single() && ops[0].cmd.single() { // of one key
			o.cmd.Key, o.cmd.Slot = ops[0].cmd.Key, ops[0].cmd.Slot
		}
		ops = append(ops, o)
		p.watch(o)
	}
	if p.pipeline = ops; size > 1 {
		s.count("pipeline", 1)
	}
	p.send(ops)
}

// watch ends the wait for an operation. One that began when a majority was well has
// to be done by then.
func (p *client) watch(o *operation) {
	if p.sim.healed {
		wait := bound
		if o.cmd.whole() { // it is asked again after each term that begins, with the keys of that
			wait *= 2
		}
		p.sim.after(wait, o.giveUp)
		return
	}
	p.sim.after(maxWait, func() {
		if !o.done {
			o.finish(register.Unknown, "")
		}
	})
}

// send sends the commands of a pipeline: reads to replicas, the others in one frame for
// each slot.
func (p *client) send(ops []*operation) {
	var frames [slots][]*operation
	for _, o := range ops {
		if o.cmd.reads() && p.sim.rand.IntN(10) < 6 && o.startRead() {
			continue
		}
		o.begin()
		frames[o.cmd.Slot] = append(frames[o.cmd.Slot], o)
	}
	for slot, frame := range frames {
		if len(frame) > 0 {
			p.sim.sendRequests(p, frame, p.home(slot), p.rival(0))
		}
	}
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
	case home == 0 || s.percent(s.rivalry):
		home = members[s.rand.IntN(len(members))]
	}
	p.homes[slot] = home
	return home
}

// rival makes some requests start a fight for their slot.
func (p *client) rival(except uint16) uint16 {
	if p.sim.percent(p.sim.rivalry) {
		return register.AllOthers
	}
	return except
}

func (p *client) config(slot int) *register.Config {
	return p.sim.epochOf(uint16(slot), p.epochs[slot]).config
}

// learn is told of an epoch of a slot.
func (p *client) learn(slot uint16, number uint64) {
	p.epochs[slot] = max(p.epochs[slot], number)
}
