package broker

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// Conn is what a broker needs of a connection from a proxy: see wire.ServerConn.
type Conn interface {
	SendFrames(frames []byte) error
	Queued() int
}

// Broker publishes messages. Any goroutine may call its methods; those for one connection are called by the goroutine that reads it.
type Broker struct {
	metrics *metrics.Node

	mu    sync.RWMutex
	table *Table[*Session]

	// events are the classes of events that somebody wants to hear of: those on channels that name keys, and above them those on channels that name events.
	events     atomic.Uint32
	publishers sync.Pool // for events
}

// Session is a connection from a proxy, and what the broker keeps of it. Its fields belong to the goroutine that reads the connection, but for mu, which
// whoever sends messages to the proxy has locked.
type Session struct {
	conn Conn

	mu sync.Mutex

	publisher
	replies []byte
}

const (
	// maxQueued is how many bytes may wait for a proxy. Further messages are dropped: a proxy that is slow does not keep others waiting, and
	// replies for its clients still have room.
	maxQueued = 16 << 20
	// fullFrame is the length from which on a frame of messages is sent before the others.
	fullFrame = 256 << 10
)

// New returns a broker.
func New(m *metrics.Node) *Broker {
	b := &Broker{metrics: m, table: NewTable[*Session]()}
	b.publishers.New = func() any { return &eventPublisher{publisher: publisher{broker: b}} }
	return b
}

// Session returns what the broker keeps of a new connection.
func (b *Broker) Session(conn Conn) *Session {
	return &Session{conn: conn, publisher: publisher{broker: b}}
}

// Interest takes the body of a FrameInterest, and answers it.
func (s *Session) Interest(body []byte) error {
	d := wire.NewDecoder(body)
	id := d.Uvarint()
	if err := s.set(&d); err != nil {
		return err
	}
	if id != 0 {
		frame := wire.BeginFrame(nil, protocol.FrameInterestDone)
		_ = s.conn.SendFrames(wire.EndFrame(protocol.AppendInterestID(frame, id), 0)) // whoever has gone away needs no answer
	}
	return nil
}

func (s *Session) set(d *wire.Decoder) error {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	defer s.broker.noteEvents()
	for d.More() {
		i := protocol.DecodeInterest(d)
		if d.Err() != nil {
			break
		}
		if err := s.broker.table.Set(s, i); err != nil {
			return err
		}
	}
	return d.Err()
}

// Drop forgets a connection that has ended.
func (s *Session) Drop() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	s.broker.table.Drop(s)
	s.broker.noteEvents()
}

// Publish takes the body of a FramePublish. Messages leave in its order, and before the replies.
func (s *Session) Publish(body []byte) error {
	d := wire.NewDecoder(body)
	s.replies = wire.BeginFrame(s.replies[:0], protocol.FrameBatchReply)
	var m protocol.Message
	var reply [24]byte
	for d.More() {
		id := protocol.DecodePublish(&d, &m)
		if d.Err() != nil {
			break
		}
		s.broker.metrics.Published.Inc()
		count := append(strconv.AppendUint(append(reply[:0], ':'), s.publish(&m), 10), '\r', '\n')
		s.replies = protocol.AppendResult(s.replies, &protocol.Result{ID: id, Status: protocol.StatusDone, Reply: count})
	}
	s.flush()
	_ = s.conn.SendFrames(wire.EndFrame(s.replies, 0)) // as above
	if cap(s.replies) > fullFrame {
		s.replies = nil
	}
	return d.Err()
}

// take queues a frame for the proxy, if there is room. One at a time looks whether there is.
func (s *Session) take(frame []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.Queued() <= maxQueued && s.conn.SendFrames(frame) == nil
}

// Clients returns how often a message on a channel would be heard at this moment.
func (b *Broker) Clients(shard bool, channel []byte) uint64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	_, clients := b.table.Find(nil, shard, channel)
	return clients
}

// Answer answers what PUBSUB asks (MethodPubSub).
func (b *Broker) Answer(payload []byte) ([]byte, error) {
	q, err := protocol.DecodePubSubQuestion(payload)
	if err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	a := b.table.Answer(&q)
	return a.Append(nil), nil
}
