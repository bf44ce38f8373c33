package transfer

import (
	"sync"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Answers makes the answers of one connection that show large objects. Any goroutine may use it.
type Answers struct {
	mu     sync.Mutex
	number uint64
	under  map[string]struct{} // the keys of sync-reads whose answers are under way
}

// Answer is an answer that is being made: objects, and behind them one frame.
type Answer struct {
	answers *Answers
	key     string // of a sync-read
	numbers []uint64
	objects []pieces // that are still to be sent
	frame   []byte
}

var _ wire.Source = (*Answer)(nil)

// Ahead sends the object of a state ahead of the answer, and returns its number: 0 if the state is none whose object is sent ahead.
func (a *Answer) Ahead(s *record.State) uint64 {
	if !Large(s) {
		return 0
	}
	a.answers.mu.Lock()
	defer a.answers.mu.Unlock()
	a.answers.number++
	a.numbers = append(a.numbers, a.answers.number)
	a.objects = append(a.objects, newPieces(a.answers.number, s))
	return a.answers.number
}

// Numbers are those of the objects that go ahead of the answer.
func (a *Answer) Numbers() []uint64 { return a.numbers }

// Set sets the frame that ends the answer. It is the answer's from then on.
func (a *Answer) Set(frame []byte) { a.frame = frame }

// New returns an answer without objects yet.
func (as *Answers) New() *Answer { return &Answer{answers: as} }

// SyncRead returns the answer to a sync-read, nil if another one about the key is still under way: then this one is as if it had been
// lost, and is asked for again if it matters. m is borrowed.
func (as *Answers) SyncRead(m *replication.Message) *Answer {
	a := &Answer{answers: as, key: keyOf(m)}
	if !as.enter(a.key) {
		return nil
	}
	id := a.Ahead(&m.Found)
	a.Set(wire.EndFrame(protocol.AppendReplyAhead(wire.BeginFrame(nil, protocol.FrameReplicateReply), m, id), 0))
	return a
}

func (as *Answers) enter(key string) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	if _, there := as.under[key]; there {
		return false
	}
	if as.under == nil {
		as.under = map[string]struct{}{}
	}
	as.under[key] = struct{}{}
	return true
}

// Next implements wire.Source.
func (a *Answer) Next(dst []byte) (frames []byte, more bool) {
	for len(a.objects) > 0 && a.objects[0].over() {
		a.objects = a.objects[1:]
	}
	if len(a.objects) > 0 {
		return a.objects[0].next(dst)
	}
	return append(dst, a.frame...), false
}

// Queued implements wire.Source: nobody's frames are held up by an answer.
func (a *Answer) Queued() int { return 0 }

// End implements wire.Source. It is also to be called of an answer that is not sent.
func (a *Answer) End() {
	if a.key == "" {
		return
	}
	a.answers.mu.Lock()
	defer a.answers.mu.Unlock()
	delete(a.answers.under, a.key)
}
