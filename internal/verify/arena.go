package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/history"
)

// arena is where clients contend for keys. A duel is a few keys and a bounded number of commands, so that checking takes
// bounded memory and time; where checking falls behind, no duel begins.
type arena struct {
	run  *run
	over sync.WaitGroup

	mu      sync.Mutex
	made    int
	current *duel
	ended   chan *duel

	// Of the checker, until close.
	checked, undecided int
	left               []string // keys that may still be there
}

const (
	duelists     = 8 // more at a time would make checking slow
	duelKeys     = 4
	duelCommands = 50 * duelKeys
	checkTime    = 2 * time.Second // for a key
	waitingDuels = 4
)

// duel is one of them.
type duel struct {
	recorder *history.Recorder
	clients  [duelists]*history.Client
	keys     [duelKeys]contended
	left     int // commands
	unclear  bool
	underWay sync.WaitGroup
}

// contended is a key of a duel.
type contended struct {
	name string
	weapon
}

func newArena(r *run) *arena {
	a := &arena{run: r, ended: make(chan *duel, waitingDuels)}
	a.over.Go(a.check)
	return a
}

// enter returns a duel in which a command is to be counted in, or nil if there is none now.
func (a *arena) enter() *duel {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		if len(a.ended) == cap(a.ended) {
			return nil
		}
		a.current = a.begin()
	}
	d := a.current
	d.underWay.Add(1)
	if d.left--; d.left == 0 {
		a.end(d)
	}
	return d
}

func (a *arena) begin() *duel {
	a.made++
	d := &duel{recorder: history.NewRecorder(), left: duelCommands}
	if a.run.opt.MayEvict {
		d.recorder.MayEvict()
	}
	for i := range d.clients {
		d.clients[i] = d.recorder.Client()
	}
	for i := range d.keys {
		d.keys[i] = contended{fmt.Sprint(a.run.prefix, "duel:", a.made, ":", i+1), weapons[(a.made*duelKeys+i)%len(weapons)]}
	}
	return d
}

// end gives the current duel to the checker, who has room for it: there was some when it began. The lock is held.
func (a *arena) end(d *duel) {
	if a.current == d {
		a.current = nil
		a.ended <- d
	}
}

// doubt ends a duel in which the outcome of a command is unknown: more of them would make it undecidable.
func (a *arena) doubt(d *duel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d.unclear = true
	a.end(d)
}

// close ends the last duel and waits until all have been checked.
func (a *arena) close() {
	a.mu.Lock()
	if a.current != nil {
		a.end(a.current)
	}
	a.mu.Unlock()
	close(a.ended)
	a.over.Wait()
}

// contend lets a client send one command.
func (a *arena) contend(ctx context.Context, c *client) error {
	d := a.enter()
	if d == nil {
		return nil
	}
	defer d.underWay.Done()
	key := d.keys[rand.IntN(duelKeys)]
	err := a.record(ctx, c.address, d.clients[c.number], key.draw(key.name))
	if errors.Is(err, errUnknown) {
		a.doubt(d)
	}
	return err
}

// record sends a command of a duel's client, and notes what comes of it.
func (a *arena) record(ctx context.Context, address int, client *history.Client, command history.Command) error {
	call := client.Begin(command)
	reply, err := a.run.do(ctx, address, command.Args()...)
	switch known := asReply(err); {
	case known != "":
		call.Done(known)
		return nil
	case errors.Is(err, errUnknown):
		call.Unknown()
	case err != nil:
		call.NoEffect()
	case reply.null:
		call.Done(history.Nil)
	default:
		call.Done(reply.text)
	}
	return err
}

// last reads what the keys of a duel hold at its end: all that was acknowledged is there. Without an answer it has to do without.
func (a *arena) last(d *duel) {
	reader := d.recorder.Client()
	for i, key := range d.keys {
		if a.record(context.Background(), i%a.run.store.addresses(), reader, history.Command{Kind: key.whole, Key: key.name}) != nil {
			return
		}
	}
}

// check checks duels that have ended, and removes their keys.
func (a *arena) check() {
	for d := range a.ended {
		d.underWay.Wait()
		a.last(d)
		result := d.recorder.Check(checkTime)
		a.checked += result.Keys
		a.undecided += len(result.Undecided)
		for _, v := range result.Violations {
			a.run.findings.add(&Finding{Wrong, v.Key, "no order of the commands explains their answers\n" + v.String()})
		}
		for _, key := range d.keys {
			if a.run.opt.Keep {
				continue
			}
			if _, err := a.run.store.do(context.Background(), a.checked%a.run.store.addresses(), "DEL", key.name); err != nil || d.unclear {
				a.left = append(a.left, key.name)
			}
		}
	}
}
