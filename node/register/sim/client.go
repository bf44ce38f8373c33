package sim

import (
	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

const unknown = "?"

// client is a proxy with one client, which issues one command at a time.
type client struct {
	sim    *Sim
	id     uint16 // its address in the network
	epoch  uint64
	left   int
	busy   bool
	serial int // of the current attempt
	cmd    cmd
	start  int
	home   uint16 // where the slot's home is thought to be
	reads  map[uint16]record.Record
}

// maxWait is how long a client waits for an operation.
const maxWait = 900

func (p *client) next() {
	if p.left == 0 {
		return
	}
	p.left--
	p.cmd, p.start, p.busy = p.sim.randomCommand(), p.sim.now, true
	start := p.start
	p.sim.after(maxWait, func() {
		if p.busy && p.start == start {
			p.finish(register.Unknown, "")
		}
	})
	p.execute(false)
}

func (p *client) config() *register.Config { return p.sim.config(p.epoch) }

func (p *client) execute(force bool) {
	p.serial++
	p.reads = nil
	if p.cmd.Name == "get" && p.sim.rand.Intn(10) < 6 {
		p.reads = map[uint16]record.Record{}
		for _, id := range p.config().Members() {
			p.sim.sendRead(p, id)
		}
	} else {
		p.forward(force)
	}
	if p.cmd.Name == "get" { // reads may be retried freely
		serial := p.serial
		p.sim.after(50+p.sim.rand.Intn(40), func() {
			if p.busy && p.serial == serial {
				p.home = 0
				p.execute(true)
			}
		})
	}
}

// forward sends the command to the home; any member may serve as one.
func (p *client) forward(force bool) {
	members := p.config().Members()
	if p.home == 0 || p.sim.rand.Intn(100) < p.sim.rivalry {
		p.home = members[p.sim.rand.Intn(len(members))]
	}
	p.sim.sendRequest(p, p.home, force || p.sim.rand.Intn(100) < p.sim.rivalry)
}

func (p *client) handleAnswer(serial int, a register.Answer, epoch uint64) {
	p.epoch = max(p.epoch, epoch)
	if !p.busy || serial != p.serial {
		return
	}
	if a.Outcome != register.NotDone {
		p.finish(a.Outcome, string(a.Reply))
		return
	}
	p.home = a.Hint
	p.serial++
	retry := p.serial
	p.sim.after(1+p.sim.rand.Intn(15), func() {
		if p.busy && p.serial == retry {
			p.execute(a.Hint != 0)
		}
	})
}

// handleRead counts the votes of a quorum read (R10).
func (p *client) handleRead(serial int, from uint16, rec record.Record) {
	if !p.busy || serial != p.serial || p.reads == nil {
		return
	}
	p.reads[from] = rec
	var best record.Record
	for _, r := range p.reads {
		if best.Version.Less(r.Version) {
			best = r
		}
	}
	members, votes, agree := p.config().Members(), 0, 0
	for _, id := range members {
		if r, ok := p.reads[id]; ok {
			votes++
			if r.Version == best.Version {
				agree++
			}
		}
	}
	if votes <= len(members)/2 {
		return
	}
	expired := best.State.Live() && best.State.Expired(int64(p.sim.now+p.sim.offset[p.id]))
	switch {
	case agree > len(members)/2 && !expired:
		p.sim.count("quorum-read", 1)
		p.finish(register.Done, show(best.State))
	case votes < len(members) && p.sim.chance(3): // wait for more
	default:
		p.sim.count("read-to-home", 1)
		p.reads = nil
		p.forward(false)
	}
}

func (p *client) finish(outcome register.Outcome, reply string) {
	p.busy, p.reads = false, nil
	p.serial++
	op := porcupine.Operation{ClientId: int(p.id), Input: p.cmd, Call: int64(p.start) * 2, Output: reply, Return: int64(p.sim.now)*2 + 1}
	read := p.cmd.Name == "get"
	if outcome == register.Unknown {
		op.Output, op.Return = unknown, 1<<40 // it never ends
		p.sim.ghosts++
		op.ClientId = p.sim.ghosts
		if !read {
			p.sim.count("writes-unknown", 1)
		}
	}
	if !read {
		p.sim.count("writes", 1)
	}
	if outcome == register.Done || !read {
		p.sim.history = append(p.sim.history, op)
	}
	p.sim.after(p.sim.rand.Intn(8), p.next)
}
