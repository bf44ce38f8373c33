package replica

import (
	"sync/atomic"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/transfer"
)

// Conn is a connection from a proxy or a node, to which rounds send replies. It is where the answers to a home's requests go, too.
type Conn struct {
	*wire.ServerConn
	// Answers are those that show large objects.
	Answers transfer.Answers
	round   *Round       // of the goroutine that reads the connection, nil if none has begun
	waiting atomic.Int64 // bytes of replies that wait for a commit
}

// Begin begins a round in which frames of the connection are handled, if none has begun. Its methods are for the goroutine that reads
// the connection.
func (c *Conn) Begin(h *Host) {
	if c.round == nil {
		c.round = h.Begin()
	}
}

// Round is the round that has begun.
func (c *Conn) Round() *Round { return c.round }

// Flush ends the round, if one has begun.
func (c *Conn) Flush() {
	if round := c.round; round != nil {
		c.round = nil
		round.Flush()
	}
}

// MaxReplies is how many bytes of replies may wait for one connection. Reads beyond that are refused: a
// request is small, and what it asks for may be a hundred megabytes.
const MaxReplies = 32 << 20

// Room is for how many bytes of replies there is room, in the course of a round.
func (c *Conn) Room() int {
	return MaxReplies - c.Queued() - int(c.waiting.Load()) - c.round.Queued(c)
}

// connBuffer is a frame of replies of one type for one connection.
type connBuffer struct {
	conn *Conn
	typ  wire.FrameType
	frameBuffer
}

func (b *connBuffer) send(frames []byte) []byte {
	instead, _ := b.conn.HandFrames(frames) // a lost connection is Closed's business
	return instead
}

// Hold notes that so many bytes of replies will be sent that are not yet there, or none any more if the number is negative. Any goroutine may call it.
func (c *Conn) Hold(bytes int) { c.waiting.Add(int64(bytes)) }

// connStream is what is sent in pieces, and whom to: a reply that shows large objects, or is long.
type connStream struct {
	conn   *Conn
	source wire.Source
}
