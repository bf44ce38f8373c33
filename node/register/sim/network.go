package sim

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

func (s *Sim) delay() int {
	x := s.rand.IntN(100)
	switch {
	case x < 80 || !s.faults():
		return 1 + s.rand.IntN(6)
	case s.weather.slow:
		return 5 + s.rand.IntN(200)
	case x < 95:
		return 5 + s.rand.IntN(40)
	default:
		return 50 + s.rand.IntN(250)
	}
}

// cut reports whether what one address sends to another is lost.
func (s *Sim) cut(from, to uint16) bool { return s.blocked[[2]uint16{from, to}] }

// loses reports whether the network loses a message, of which it does so many percent.
func (s *Sim) loses(percent int) bool { return s.faults() && s.percent(percent) }

// carry runs deliver zero, one or two times.
func (s *Sim) carry(from, to uint16, deliver func()) {
	copies := 1
	if s.faults() && s.percent(8) {
		s.count("duplicated", 1)
		copies = 2
	}
	for ; copies > 0; copies-- {
		if s.loses(5) {
			s.count("lost", 1)
			continue
		}
		s.once(from, to, deliver)
	}
}

// once runs deliver after a while, unless the link is cut then.
func (s *Sim) once(from, to uint16, deliver func()) {
	s.after(s.delay(), func() {
		if !s.cut(from, to) {
			deliver()
		}
	})
}

// send carries a message of the register.
func (s *Sim) send(m register.Message) {
	s.carry(m.From, m.To, func() { s.nodes[m.To].deliver(copyMessage(&m)) })
}

// sendRead carries a read to a replica, which answers with a vote; both at most once, as a
// proxy's frame and its reply.
func (s *Sim) sendRead(o *operation, to uint16) {
	if s.loses(5) {
		return
	}
	attempt, epoch := o.attempt, o.client.epochs[o.cmd.Slot]
	s.once(o.client.id, to, func() { s.nodes[to].read(o, attempt, epoch) })
}

// vote is what a replica says to a quorum read.
type vote struct {
	from    uint16
	epoch   uint64
	refused bool // it does not vote, or is in a newer epoch
	expired bool
	unsure  bool // absent by a clear that is
	record  record.Record
}

func (s *Sim) sendVote(o *operation, attempt int, v vote) {
	if s.loses(5) {
		return
	}
	s.once(v.from, o.client.id, func() { o.handleVote(attempt, v) })
}

// sendRequests carries commands of one client to a home in one frame, at most once (R11).
func (s *Sim) sendRequests(p *client, ops []*operation, to, except uint16) {
	if s.loses(3) {
		return
	}
	attempts := make([]int, len(ops))
	for i, o := range ops {
		attempts[i] = o.attempt
	}
	s.after(s.delay(), func() {
		n := s.nodes[to]
		switch {
		case !n.up: // connection refused: nothing was sent
			for i, o := range ops {
				s.sendAnswer(to, o, attempts[i], register.Answer{Outcome: register.NotDone})
			}
		case !s.cut(p.id, to):
			n.execute(ops, attempts, except)
		}
	})
}

func (s *Sim) sendAnswer(from uint16, o *operation, attempt int, a register.Answer) {
	epoch := s.nodes[from].epochs[o.cmd.Slot].number
	if s.loses(3) {
		return
	}
	s.once(from, o.client.id, func() { o.handleAnswer(from, attempt, a, epoch) })
}
