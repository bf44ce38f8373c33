package session

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// ownWrites are the versions that a client has written, which it is not told of (CLIENT TRACKING with BCAST and NOLOOP). A home says with its reply which version a command has got, if it is of
// that command alone. A replica may tell of it before that reply comes: so what is told while the client writes waits until it is known whose it is, for ownPatience at most. Of what it is
// not known the client is told. Any goroutine may use it. The zero value is ready.
type ownWrites struct {
	mu       sync.Mutex
	writes   bool                    // the client does, at the moment
	waiting  [][]route.Changed       // what was told meanwhile, message by message
	known    map[ownVersion]struct{} // what it has written last,
	before   map[ownVersion]struct{} // and before that
	timer    *time.Timer             // of what waits
	patience time.Duration           // instead of ownPatience, but for 0
}

// ownVersion is a version of a slot.
type ownVersion struct {
	slot    uint16
	version record.Version
}

// maxOwn is how many versions are known at least, if there are as many, and ownPatience how long it is waited for those that are being written.
const (
	maxOwn      = 4096
	ownPatience = 100 * time.Millisecond
)

// executePlan executes what is planned. A client that is not to be told of what it writes asks which versions that are.
func (s *Session) executePlan() time.Duration {
	p := &s.plan
	if !s.tracking.broadcast || !s.tracking.noLoop {
		return s.executeBatch(p.batch)
	}
	for i := range p.batch.Ops {
		p.batch.Ops[i].Req.Versioned = p.batch.Ops[i].Write
	}
	s.wrote.begin()
	defer s.wrote.end(s.changed)
	took := s.executeBatch(p.batch)
	for i := range p.batch.Ops {
		if op := &p.batch.Ops[i]; !op.Version.IsZero() {
			s.wrote.add(ownVersion{ring.SlotOf(op.Req.Args[1]), op.Version})
		}
	}
	return took
}

// changed tells the client that keys have changed.
func (s *Session) changed(changed []route.Changed) { s.invalidated(keysOf(changed)) }

// begin says that the client writes.
func (o *ownWrites) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes = true
}

// add notes that a version is one of the client's.
func (o *ownWrites) add(v ownVersion) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.known) >= maxOwn || o.known == nil {
		o.known, o.before = map[ownVersion]struct{}{}, o.known
	}
	o.known[v] = struct{}{}
}

// end says that it is known what the client has written, and has it hear what has waited for that.
func (o *ownWrites) end(hear func([]route.Changed)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes = false
	o.release(hear)
}

// tell has a client hear that keys have changed, but for what it has written itself. It does not wait.
func (o *ownWrites) tell(changed []route.Changed, hear func([]route.Changed)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, changed)
	switch {
	case !o.writes:
		o.release(hear)
	case o.timer == nil:
		o.timer = time.AfterFunc(cmp.Or(o.patience, ownPatience), func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.release(hear)
		})
	}
}

// release has the client hear what waits. The lock is held.
func (o *ownWrites) release(hear func([]route.Changed)) {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	for _, changed := range o.waiting {
		others := slices.DeleteFunc(slices.Clone(changed), o.is)
		if len(others) > 0 {
			hear(others)
		}
	}
	clear(o.waiting)
	o.waiting = o.waiting[:0]
}

// is reports whether a change is one that the client has made. The lock is held.
func (o *ownWrites) is(c route.Changed) bool {
	v := ownVersion{c.Slot, c.Version}
	_, known := o.known[v]
	_, before := o.before[v]
	return known || before
}
