package sim

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// operation is one command of a client.
type operation struct {
	client  *client
	attempt int // answers to earlier ones are late
	cmd     cmd
	start   int
	done    bool
	refused int         // how often it was turned away, or not done
	hint    uint16      // whom it was turned away to last, 0 for none
	read    *quorumRead // under way, nil if none
	listing             // of the keys that it reads, if these are all
}

// quorumRead is the votes on a read (R10).
type quorumRead struct {
	votes quorum.Votes
	from  uint16 // the replica that was asked for the reply
	reply record.Record
}

// giveUp ends an operation that should have ended long ago.
func (o *operation) giveUp() {
	if !o.done {
		s := o.client.sim
		s.overdue = append(s.overdue, fmt.Sprintf("client %d: %v, begun at %d, is not finished at %d", o.client.id, o.cmd, o.start, s.now))
		o.finish(register.Unknown, "")
	}
}

// begin starts an attempt. A read that is not answered soon is tried again.
func (o *operation) begin() {
	o.attempt++
	o.read = nil
	if !o.cmd.reads() {
		return
	}
	s, attempt := o.client.sim, o.attempt
	soon := 50
	if s.weather.batches { // a read waits for what a batch writes, in two rounds
		soon = 150
	}
	s.after(soon+s.rand.IntN(40), func() {
		if !o.done && o.attempt == attempt {
			o.client.homes[o.cmd.Slot] = 0
			o.retry(register.AllOthers)
		}
	})
}

// retry tries an operation again, which was certainly not executed or only reads.
func (o *operation) retry(except uint16) {
	if o.cmd.reads() && o.client.sim.chance(2) && o.startRead() {
		return
	}
	o.begin()
	o.forward(except)
}

// forward sends the command to the home; any member may serve as one. Where that is not the one that was
// pointed to, this one cannot be reached.
func (o *operation) forward(except uint16) {
	p := o.client
	home := p.home(int(o.cmd.Slot))
	if o.hint != 0 && o.hint != home && except != register.AllOthers {
		except = o.hint
	}
	o.hint = 0
	p.sim.sendRequests(p, []*operation{o}, home, p.rival(except))
}

// patience is how often an operation is turned away, until it is executed by force.
const patience = 8

// handleAnswer takes what a home says.
func (o *operation) handleAnswer(from uint16, attempt int, a register.Answer, epoch uint64) {
	p := o.client
	p.learn(o.cmd.Slot, epoch)
	if o.done || attempt != o.attempt {
		return
	}
	if a.Outcome == register.Done && o.unlisted(string(a.Reply)) {
		return
	}
	if a.Outcome != register.NotDone {
		o.finish(a.Outcome, string(a.Reply))
		return
	}
	p.homes[o.cmd.Slot], o.hint = a.Hint, a.Hint
	except := from
	if o.refused++; o.refused >= patience { // members may point to each other
		except = register.AllOthers
	}
	o.attempt++
	again := o.attempt
	p.sim.after(1+p.sim.rand.IntN(15), func() {
		if !o.done && o.attempt == again {
			o.retry(except)
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
	o.client.learn(o.cmd.Slot, v.epoch)
	if o.done || attempt != o.attempt || o.read == nil {
		return
	}
	s, r := o.client.sim, o.read
	var decision quorum.Decision
	switch {
	case v.refused:
		decision = r.votes.Fail()
	case v.unsure: // it agrees with nobody
		s.count("unsure-read", 1)
		decision = r.votes.Expire()
	case v.expired:
		s.count("expired-read", 1)
		decision = r.votes.Expire()
	case v.from == r.from:
		s.askedAlone(o.cmd, v.record)
		r.reply = v.record
		decision = r.votes.AddValue(v.record.Version)
	default:
		decision = r.votes.Add(v.record.Version)
	}
	switch decision {
	case quorum.Agreed:
		s.count("quorum-read", 1)
		s.agreed(o.cmd, r.reply)
		reply, _ := execute(nil, r.reply.State, o.cmd.request(), 1)
		o.finish(register.Done, string(reply))
	case quorum.AskHome:
		o.readAtHome("read-to-home")
	case quorum.Failed:
		o.readAtHome("read-failed")
	}
}

// readAtHome gives up a quorum read, which is counted, and lets the home read.
func (o *operation) readAtHome(counted string) {
	o.client.sim.count(counted, 1)
	o.begin()
	o.forward(0)
}

// finish notes what the client was told.
func (o *operation) finish(outcome register.Outcome, reply string) {
	o.done = true
	p, s := o.client, o.client.sim
	s.ghosts++ // the commands of a pipeline run side by side: to Porcupine each is a client of its own
	op := porcupine.Operation{ClientId: s.ghosts, Input: o.cmd, Call: int64(o.start) * 2, Output: reply, Return: int64(s.now)*2 + 1}
	read, whenWell := o.cmd.reads(), s.healed && o.start > horizon+settling
	begun, ofUnknown := begunWhenWell, unknownWhenWell
	if s.weather.batches {
		begun, ofUnknown = batchesWhenWell, batchesUnknown
	}
	if outcome == register.Unknown {
		op.Output, op.Return = unknown, math.MaxInt64 // it never ends
		if !read {
			s.count("writes-unknown", 1)
		}
		if whenWell {
			s.count(ofUnknown, 1)
		}
	}
	if whenWell {
		s.count(begun, 1)
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
