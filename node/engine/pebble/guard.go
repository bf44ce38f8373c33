package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

// spaceInterval is how often a write that met a full disk is tried again.
const spaceInterval = 100 * time.Millisecond

// errAbandoned is why a store that was abandoned is not written to.
var errAbandoned = errors.New("the store was closed")

// guard is what all writes to the files of a store go through.
type guard struct {
	fail func(error) // called once, with a final error

	// writing is held for reading by every write: who has it for writing knows that there is none.
	writing sync.RWMutex

	mu      sync.Mutex
	opening bool          // errors are what Open returns
	ending  bool          // nothing waits for space
	waiting int           // writes, for space
	dead    error         // nothing is written any more
	changed chan struct{} // closed, and replaced, when something above changes
}

func newGuard(fail func(error)) *guard {
	return &guard{fail: fail, opening: true, changed: make(chan struct{})}
}

// set changes the guard, and lets those know who wait for that.
func (g *guard) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	close(g.changed)
	g.changed = make(chan struct{})
}

// write does something to the disk. A full disk makes it wait. After an error that is final it does not return: Pebble would end the
// process, or try for ever.
func (g *guard) write(name string, op func() error) error {
	for {
		err := g.attempt(op)
		g.mu.Lock()
		opening, dead := g.opening, g.dead != nil
		g.mu.Unlock()
		switch {
		case dead:
			select {}
		case err == nil, opening:
			return err
		case !shortage(err):
			g.die(explain(name, err), true)
			select {}
		}
		g.await()
	}
}

// attempt does something unless nothing is written any more.
func (g *guard) attempt(op func() error) error {
	g.writing.RLock()
	defer g.writing.RUnlock()
	g.mu.Lock()
	dead := g.dead
	g.mu.Unlock()
	if dead != nil {
		return dead
	}
	return op()
}

// await lets some time pass in which there may be space again.
func (g *guard) await() {
	g.set(func() { g.waiting++ })
	time.Sleep(spaceInterval)
	g.set(func() {
		g.waiting--
		if g.ending && g.dead == nil {
			g.dead = engine.ErrFull
		}
	})
}

// die makes an error final. It does not wait for writes under way: it may be called by one.
func (g *guard) die(err error, tell bool) {
	first := false
	g.set(func() {
		if first = g.dead == nil; first {
			g.dead = err
		}
	})
	if first && tell {
		g.fail(err)
	}
}

// stop makes sure that nothing is written any more.
func (g *guard) stop() {
	g.die(errAbandoned, false)
	g.writing.Lock() // those under way have ended
	defer g.writing.Unlock()
}

// trouble returns why nothing can be written at the moment, if that is so.
func (g *guard) trouble() (changed <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.dead != nil:
		err = g.dead
	case g.waiting > 0:
		err = fmt.Errorf("%w: what is written to the store waits for space on the disk", engine.ErrFull)
	}
	return g.changed, err
}

// hindered reports whether nothing can be written at the moment.
func (g *guard) hindered() bool {
	_, err := g.trouble()
	return err != nil
}

// run lets work run as long as nothing keeps it from writing. What goes on then it does beside the caller.
func (g *guard) run(work func() error) error {
	if _, err := g.trouble(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- g.recovered(work) }()
	for {
		changed, err := g.trouble()
		select {
		case err := <-done:
			return err
		default:
		}
		if err != nil {
			return err
		}
		select {
		case err := <-done:
			return err
		case <-changed:
		}
	}
}

// recovered calls work. That Pebble panics makes an error final.
func (g *guard) recovered(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("pebble: %v", p)
			g.die(err, true)
		}
	}()
	return work()
}

// shortage reports whether an error goes away by itself when there is space, or when files are closed.
func shortage(err error) bool {
	for _, short := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, short) {
			return true
		}
	}
	return false
}

// explain says what a final error of a write means.
func explain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) { // its directory, or what it was to be made of
		return fmt.Errorf("%w: %s: %w", engine.ErrGone, name, err)
	}
	if errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the file system of %s is read-only now, which the system does when its disk fails: look at the system's log, "+
			"mount it for writing, and start this node again: %w", name, err)
	}
	return fmt.Errorf("%s cannot be written: look at the system's log and at the disk; when that is well, start this node again: %w", name, err)
}
