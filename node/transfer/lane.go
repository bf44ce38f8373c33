package transfer

import (
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// maxLater bounds the bytes of what waits behind objects, to be written to the same keys. What is beyond it is as if it had been lost: the replica
// will need the whole state again.
const maxLater = 32 << 20

// Lane sends to one peer what homes ask of it about keys whose objects are large. One object of a key is on its way at a time: the newest one, and what
// is asked later about the key follows it. Any goroutine may use it. It never waits for the peer.
type Lane struct {
	stream func(wire.Source) error
	active atomic.Int32 // len(keys)
	mu     sync.Mutex
	number uint64
	keys   map[string]*sending // by slot and key
	later  int                 // bytes of what follows
}

// NewLane returns a lane whose objects leave by stream, which is that of a wire.Link.
func NewLane(stream func(wire.Source) error) *Lane {
	return &Lane{stream: stream, keys: map[string]*sending{}}
}

// Active returns how many objects are on their way, or wait for others.
func (l *Lane) Active() int { return int(l.active.Load()) }

// Takes reports whether the lane sends a request, or has found that it need not be sent: it is as if it had been lost then. All others have
// to be sent as usual. m is borrowed.
func (l *Lane) Takes(m *replication.Message) bool {
	large := m.Kind == replication.Accept && !m.IsDelta && Large(&m.State)
	if !large && (m.Kind != replication.Accept || l.active.Load() == 0) {
		return false
	}
	return l.take(m, large)
}

func (l *Lane) take(m *replication.Message, large bool) bool {
	key := keyOf(m)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.keys[key]
	switch {
	case s == nil && large:
		l.begin(key, m)
		return true
	case s == nil:
		return false
	case !s.newest.Less(m.Version): // it is on its way
		return true
	case large:
		s.restart(m)
		return true
	case !m.IsDelta: // a small state, or a deletion: what is on its way is of no use
		s.cancelled = true
		l.remove(s)
		return false
	}
	s.follow(m)
	return true
}

// begin sends an object. l is locked.
func (l *Lane) begin(key string, m *replication.Message) {
	s := &sending{lane: l, key: key}
	s.restart(m)
	l.keys[key] = s
	l.active.Add(1)
	if l.stream(s) != nil { // there is no connection, or too much waits
		l.remove(s)
	}
}

// remove ends the sending of an object. l is locked.
func (l *Lane) remove(s *sending) {
	if l.keys[s.key] == s {
		delete(l.keys, s.key)
		l.active.Add(-1)
		s.forget()
	}
}

// sending is an object on its way, and what follows it. Its lane's lock guards it.
type sending struct {
	lane      *Lane
	key       string
	newest    record.Version // that a replica has when it has received all
	pieces    pieces
	messages  [][]byte // the bodies of the frames behind the object
	later     int      // of their bytes, those that follow the first message
	cancelled bool
	queued    atomic.Int64 // see Queued
}

var _ wire.Source = (*sending)(nil)

// restart sends another object, a newer one.
func (s *sending) restart(m *replication.Message) {
	s.lane.number++
	s.newest = m.Version
	s.pieces = newPieces(s.lane.number, &m.State)
	s.queued.Store(int64(s.pieces.queued()))
	s.forget()
	s.messages = append(s.messages, protocol.AppendRequestAhead(nil, m, s.lane.number))
}

// forget forgets what follows the object.
func (s *sending) forget() {
	s.lane.later -= s.later
	s.messages, s.later = nil, 0
}

// follow sends a delta behind the object.
func (s *sending) follow(m *replication.Message) {
	if m.Base != s.newest || s.lane.later+m.Size() > maxLater {
		return
	}
	last := len(s.messages) - 1
	if len(s.messages[last])+m.Size() > wire.StreamPiece {
		s.messages, last = append(s.messages, nil), last+1
	}
	s.messages[last] = protocol.AppendRequest(s.messages[last], m)
	s.newest = m.Version
	s.later += m.Size()
	s.lane.later += m.Size()
}

// Next implements wire.Source.
func (s *sending) Next(dst []byte) (frames []byte, more bool) {
	l := s.lane
	l.mu.Lock()
	if s.cancelled || s.pieces.over() {
		defer l.mu.Unlock()
		if s.cancelled {
			return dst, false
		}
		return s.message(dst)
	}
	p := s.pieces
	l.mu.Unlock() // a home waits for nobody who reads
	frames, readable := p.next(dst)
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.pieces.head.ID != p.head.ID {
		return dst, true // another object has taken its place meanwhile
	}
	s.pieces = p
	s.queued.Store(int64(p.queued()))
	return frames, readable
}

// message appends the next frame of those that are behind the object.
func (s *sending) message(dst []byte) (frames []byte, more bool) {
	start := len(dst)
	dst = wire.EndFrame(append(wire.BeginFrame(dst, protocol.FrameReplicate), s.messages[0]...), start)
	if s.messages = s.messages[1:]; len(s.messages) > 0 {
		return dst, true
	}
	s.lane.remove(s) // what is asked from now on is sent behind this
	return dst, false
}

// Queued implements wire.Source: a plain value is what a client has just sent. An object is sent when a replica needs all of it, beside what clients send.
func (s *sending) Queued() int { return int(s.queued.Load()) }

// End implements wire.Source.
func (s *sending) End() {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	s.lane.remove(s)
}
