package sim

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// node is a process with one replica of the slot.
type node struct {
	sim  *Sim
	id   uint16
	up   bool
	lost bool // its disk is gone: it never returns under its identity (R19)
	slow bool // its commits take time
	life int  // number of starts

	store    *store
	acceptor *register.Acceptor
	home     *register.Home
	config   *register.Config

	held []heldEffect // withheld until durable (R2)
	cut  int          // crash after so many sends of the current broadcast, -1 for never
}

// heldEffect is something the node does once its store has made at mutations durable.
type heldEffect struct {
	at  int
	run func()
}

func (n *node) boot() {
	n.up = true
	n.life++
	n.sim.incarnations++
	acceptor, err := register.NewAcceptor(0, n.store, applyDelta)
	if err != nil {
		panic(err)
	}
	n.acceptor = &acceptor
	timing := register.Timing{Resend: 35, Acquire: 40, Backoff: 30, Request: 1000, Linger: 80, HandBack: 40}
	home := register.NewHome(n, &timing, 0, n.id, record.NewIncarnation(uint64(n.sim.incarnations), n.id), n.config, n.acceptor)
	n.home = &home
}

// do runs one step of the process and then lets go what may be seen.
func (n *node) do(step func()) {
	if !n.up {
		return
	}
	n.cut = -1
	if n.sim.faults && n.sim.chance(250) {
		n.cut = n.sim.rand.Intn(4)
	}
	life := n.life
	step()
	if n.cut == 0 && n.life == life { // what was sent before the crash is durable
		n.sim.count("crash-in-step", 1)
		if n.sim.chance(2) {
			n.store.commit(n.store.stagedAt)
			n.release()
		}
		n.sim.crash(n)
		return
	}
	if !n.slow {
		n.store.commit(n.store.stagedAt)
	} else if at := n.store.stagedAt; at > n.store.durableAt {
		n.sim.after(1+n.sim.rand.Intn(12), func() {
			if n.up && n.life == life {
				n.store.commit(at)
				n.release()
			}
		})
	}
	n.release()
}

// release does what waits for nothing any more, in order. What it does may hold
// back more.
func (n *node) release() {
	for n.up && len(n.held) > 0 && n.held[0].at <= n.store.durableAt {
		effect := n.held[0]
		n.held = n.held[1:]
		effect.run()
	}
}

func (n *node) hold(run func()) {
	n.held = append(n.held, heldEffect{n.store.stagedAt, run})
}

// The methods below implement register.Env.

func (n *node) Now() int64                { return int64(n.sim.now + n.sim.offset[n.id]) }
func (n *node) Mono() int64               { return int64(n.sim.now) }
func (n *node) Rand(k int64) int64        { return n.sim.rand.Int63n(k) }
func (n *node) Count(e register.Event)    { n.sim.count(e.String(), 1) }
func (n *node) Stable(member uint16) bool { return n.sim.rand.Intn(100) < 20 && n.Alive(member) }

func (n *node) Alive(member uint16) bool {
	return n.sim.nodes[member].up && n.sim.rand.Intn(10) < 8
}

func (n *node) Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	return execute(dst, st, req, now)
}

func (n *node) Send(m *register.Message) {
	if n.cut == 0 {
		return // crashes at the end of this step
	}
	if n.cut > 0 {
		n.cut--
	}
	c := copyMessage(m)
	n.hold(func() { n.sim.send(c) })
}

func (n *node) Loopback(m *register.Message) {
	c := copyMessage(m)
	life := n.life
	n.hold(func() {
		n.sim.after(0, func() {
			if n.life == life {
				n.do(func() { n.home.HandleReply(&c) })
			}
		})
	})
}

func (n *node) Answer(r *register.Request, a register.Answer) {
	p, id, epoch := r.Origin.(*client), int(r.OriginID), n.config.Epoch()
	a.Reply = append([]byte(nil), a.Reply...)
	n.hold(func() { n.sim.answer(n, p, id, a, epoch) })
}

// deliver handles a message from the network.
func (n *node) deliver(m register.Message) {
	if m.Reply {
		if m.Result == register.StaleEpoch {
			n.learn(n.sim.config(m.Epoch))
			return
		}
		n.do(func() { n.home.HandleReply(&m) })
		return
	}
	n.do(func() {
		var reply register.Message
		if err := n.acceptor.Handle(&m, &reply); err != nil {
			panic(err)
		}
		c := copyMessage(&reply)
		n.hold(func() { n.sim.send(c) })
	})
}

// read answers a proxy's quorum read.
func (n *node) read(p *client, id int, key string, epoch uint64) {
	n.do(func() {
		current, err := n.acceptor.Adopt(epoch)
		if err != nil {
			panic(err)
		}
		if !current {
			return
		}
		rec, _, err := n.acceptor.Read([]byte(key))
		if err != nil {
			panic(err)
		}
		rec.State = clone(rec.State)
		n.hold(func() { n.sim.deliverRead(n, p, id, rec) })
	})
}

func (n *node) learn(c *register.Config) {
	if c != nil && c.Epoch() > n.config.Epoch() {
		n.config = c
		n.do(func() { n.home.Learn(c) })
	}
}

func copyMessage(m *register.Message) register.Message {
	c := *m
	c.Key = append([]byte(nil), m.Key...)
	c.Delta = append([]byte(nil), m.Delta...)
	c.State, c.Found = clone(m.State), clone(m.Found)
	return c
}
