package sim

import (
	"errors"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// node is a process with a replica and a home of every slot.
type node struct {
	sim    *Sim
	id     uint16
	up     bool
	paused bool // it stands still
	lost   bool // its disk is gone: it does not vote under its identity any more (R19)
	commit int  // how long its commits take at most, 0 for no time at all
	eager  bool // its homes' requests do not wait for its own commit; only what it says as a replica does
	ill    bool // it will not get well (mode liveness)
	life   int  // number of starts
	gone   bool // another one has its number: it never starts again
	epochs [slots]*epoch
	timing register.Timing

	store     *store
	acceptors [slots]*register.Acceptor
	homes     [slots]*register.Home
	damaged   [slots]bool // a record was found that cannot be read: the replica does not vote

	collecting [slots]*collection // the one that runs or ran last

	held    []heldEffect // withheld until durable (R2)
	backlog []func()     // arrived while it stood still
	ready   register.Ready
	cut     int // crash after so many sends of the current step, -1 for never
}

// heldEffect is something the node does once its store has made at mutations durable.
type heldEffect struct {
	at  int
	run func()
}

func (n *node) boot() {
	n.up, n.paused = true, false
	n.life++
	n.sim.incarnations++
	incarnation := record.NewIncarnation(uint64(n.sim.incarnations), n.id)
	for slot := range n.homes {
		n.open(uint16(slot))
		if e := n.epochs[slot]; e.joins(n.id) && n.acceptors[slot].Meta().Epoch < e.number {
			n.epochs[slot] = n.sim.before(e) // it has not entered this one for good
		}
		home := register.NewHome(n, &n.timing, uint16(slot), n.id, incarnation, n.epochs[slot].config, n.acceptors[slot])
		n.homes[slot] = &home
	}
	n.sim.trace("node %d starts", n.id)
	for slot := range n.damaged {
		if n.damaged[slot] = false; n.acceptors[slot].Meta().Rebuilding {
			n.damage(uint16(slot), register.ErrRebuilding)
		}
	}
}

// open makes the acceptor of a slot from what the store holds.
func (n *node) open(slot uint16) {
	acceptor, err := register.NewAcceptor(slot, n.store, applyDelta)
	if err != nil {
		panic(err)
	}
	if n.acceptors[slot] == nil {
		n.acceptors[slot] = new(register.Acceptor)
	}
	*n.acceptors[slot] = acceptor // the home keeps its pointer
}

// stop ends the process.
func (n *node) stop() {
	if !n.up {
		return
	}
	n.up, n.paused, n.held, n.backlog = false, false, nil, nil
	n.life++
	n.store.crash()
}

// resume ends a pause: what arrived meanwhile is executed now.
func (n *node) resume() {
	n.sim.trace("node %d goes on", n.id)
	n.paused = false
	backlog := n.backlog
	n.backlog = nil
	for _, step := range backlog {
		n.do(step)
	}
}

// do runs one step of the process and then lets go what may be seen.
func (n *node) do(step func()) {
	switch {
	case !n.up:
		return
	case n.paused:
		n.backlog = append(n.backlog, step)
		return
	}
	n.cut = -1
	if n.sim.faults() && n.sim.chance(250) {
		n.cut = n.sim.rand.IntN(4)
	}
	life := n.life
	step()
	for slot, home := range n.homes {
		n.damage(uint16(slot), home.Err())
	}
	if n.cut == 0 && n.life == life { // what was sent before the crash is durable
		n.sim.count("crash-in-step", 1)
		if n.sim.chance(2) {
			n.store.commit(n.store.stagedAt)
			n.release()
		}
		n.sim.crash(n)
		return
	}
	if n.commit == 0 {
		n.store.commit(n.store.stagedAt)
	} else if at := n.store.stagedAt; at > n.store.durableAt {
		n.sim.after(1+n.sim.rand.IntN(n.commit), func() {
			if n.life == life {
				n.store.commit(at)
				n.do(n.release)
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

func (n *node) tick() {
	n.do(func() {
		for slot := range n.homes {
			n.step(uint16(slot), register.Input{Happening: register.Tick})
		}
	})
}

// deliver handles a message of the register.
func (n *node) deliver(m register.Message) {
	switch {
	case n.lost:
		return
	case m.Reply && m.Result == register.StaleEpoch:
		n.learn(m.Slot, m.Epoch)
		return
	case m.Reply:
		n.do(func() {
			if !n.damaged[m.Slot] {
				n.step(m.Slot, register.Input{Happening: register.Replied, Reply: &m})
			}
		})
		return
	}
	n.do(func() {
		var reply register.Message
		if n.damaged[m.Slot] {
			return
		}
		if err := n.serve(&m, &reply); err != nil {
			n.damage(m.Slot, err)
			return // it says nothing any more
		}
		n.sim.countDelta(&m, &reply)
		c := copyMessage(&reply)
		if n.sim.options.Trace != nil {
			n.sim.trace("%s", describe(&m, &reply))
		}
		n.hold(func() { n.sim.send(c) })
	})
}

// errNotNow is what comes of a request in an epoch that the node cannot enter yet.
var errNotNow = errors.New("the epoch cannot be entered now")

// serve has a replica execute a request, and persists what it wants to have persisted.
func (n *node) serve(m, reply *register.Message) error {
	if !n.meet(m.Slot, m.Epoch) {
		return errNotNow
	}
	a, w := n.acceptors[m.Slot], &n.ready.Write
	if err := a.Step(m, reply, w); err != nil || !w.Wanted() {
		return err
	}
	return a.Persisted(w, n.store.persist(w))
}

// adopt raises the epoch of a slot; false means that its replica is further already, or cannot.
func (n *node) adopt(slot uint16, epoch uint64) bool {
	a, w := n.acceptors[slot], &n.ready.Write
	if !a.Adopt(epoch, w) {
		return false
	}
	return !w.Wanted() || a.Persisted(w, n.store.persist(w)) == nil
}

// execute handles the requests of one frame.
func (n *node) execute(ops []*operation, attempts []int, except uint16) {
	n.do(func() {
		for i, o := range ops {
			if n.lost {
				n.sim.count("not-voting", 1)
				n.sim.sendAnswer(n.id, o, attempts[i], register.Answer{Outcome: register.NotDone, Reason: register.NotVoting})
				continue
			}
			r := o.request(attempts[i])
			n.step(o.cmd.Slot, register.Input{Happening: register.Asked, Request: r, Except: except})
		}
	})
}

// read answers a quorum read.
func (n *node) read(o *operation, attempt int, epoch uint64) {
	n.do(func() {
		acceptor := n.acceptors[o.cmd.Slot]
		if n.damaged[o.cmd.Slot] || !n.meet(o.cmd.Slot, epoch) {
			n.sim.sendVote(o, attempt, vote{from: n.id, epoch: acceptor.Meta().Epoch, refused: true})
			return
		}
		current := n.adopt(o.cmd.Slot, epoch)
		batched, err := acceptor.Batched([]byte(o.cmd.Key))
		var rec record.Record
		var present bool
		if err == nil {
			rec, present, err = acceptor.Read([]byte(o.cmd.Key))
		}
		n.damage(o.cmd.Slot, err)
		if n.lost || !current || err != nil {
			n.sim.sendVote(o, attempt, vote{from: n.id, epoch: acceptor.Meta().Epoch, refused: true})
			return
		}
		rec.State = clone(rec.State)
		v := vote{from: n.id, epoch: acceptor.Meta().Epoch, record: rec, unsure: !present && acceptor.Meta().Unsure, expired: batched || rec.State.Live() && rec.State.Expired(n.now())}
		if batched {
			n.sim.count("batched-read", 1)
		}
		n.hold(func() { n.sim.sendVote(o, attempt, v) })
	})
}
