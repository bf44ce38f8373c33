package transfer

import (
	"errors"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// maxWhole is how many objects may wait on a connection for the message that refers to them.
const maxWhole = 64

// ErrPieces is returned by Incoming.Piece (wrapped, or as it is) for what is not the next piece of an object. The object is given up.
var ErrPieces = errors.New("transfer: not the next piece of an object")

// ErrRoom is returned by Incoming.Piece when there is no room for more. The object is given up.
var ErrRoom = errors.New("transfer: no room for more objects on their way")

// Room bounds the bytes of objects that have come, and that no message has referred to yet, on all connections of a node together. Any
// goroutine may use it.
type Room struct {
	// Limit is how many bytes there may be. Full reports that there is no memory for more data at all; it may be nil.
	Limit int64
	Full  func() bool
	used  atomic.Int64
}

// Used returns how many bytes there are.
func (r *Room) Used() int64 { return r.used.Load() }

func (r *Room) take(bytes int) bool {
	if r.used.Add(int64(bytes)) > r.Limit || r.Full != nil && r.Full() {
		r.give(bytes)
		return false
	}
	return true
}

func (r *Room) give(bytes int) { r.used.Add(-int64(bytes)) }

// Incoming is the receiving side of a connection: it takes the pieces of objects, and has these when they are whole. What is not whole has
// no effect on anything. It belongs to the goroutine that reads the connection; Drop ends it.
type Incoming struct {
	room *Room
	// The object that is coming: number 0 if there is none.
	coming  protocol.Piece
	have    int // its bytes that have come
	taken   int // bytes of room: those, or all from the beginning if the value is plain
	builder record.Builder

	whole map[uint64]whole
}

// whole is an object that has come whole, and the bytes that it came in.
type whole struct {
	state record.State
	size  int
}

// NewIncoming returns the receiving side of a new connection.
func NewIncoming(room *Room) *Incoming { return &Incoming{room: room} }

// Piece takes the body of a FramePiece, of which nothing is kept. After an error that is ErrRoom or ErrPieces the object will be missing, and the
// connection may go on; another one is a frame that makes no sense.
func (in *Incoming) Piece(body []byte) error {
	p, err := protocol.DecodePiece(body)
	if err != nil {
		return err
	}
	if p.Offset == 0 {
		err = in.begin(&p)
	} else if c := &in.coming; p.ID != c.ID || p.Offset != in.have || p.Size != c.Size || p.Type != c.Type || p.Plain != c.Plain {
		err = ErrPieces
	}
	if err == nil {
		err = in.add(&p)
	}
	if err != nil {
		in.giveUp()
	}
	return err
}

// begin gives up what has not come whole: its sender has, too.
func (in *Incoming) begin(p *protocol.Piece) (err error) {
	in.giveUp()
	if len(in.whole) == maxWhole {
		return ErrRoom
	}
	if _, twice := in.whole[p.ID]; twice {
		return ErrPieces
	}
	in.coming, in.coming.Bytes = *p, nil
	if p.Plain && !in.take(p.Size) {
		return ErrRoom
	}
	if in.builder, err = datatype.NewBuilder(p.Type, p.Plain, p.Size); err != nil {
		return errors.Join(ErrPieces, err)
	}
	return nil
}

// take takes room for the value that is coming.
func (in *Incoming) take(bytes int) bool {
	if !in.room.take(bytes) {
		return false
	}
	in.taken += bytes
	return true
}

func (in *Incoming) add(p *protocol.Piece) error {
	if !p.Plain && !in.take(len(p.Bytes)) {
		return ErrRoom
	}
	in.have += len(p.Bytes)
	if _, err := in.builder.Write(p.Bytes); err != nil {
		return errors.Join(ErrPieces, err)
	}
	if in.have < p.Size {
		return nil
	}
	value, err := in.builder.State()
	if err != nil {
		return errors.Join(ErrPieces, err)
	}
	if in.whole == nil {
		in.whole = map[uint64]whole{}
	}
	in.whole[p.ID] = whole{value, in.taken}
	in.forget()
	return nil
}

// giveUp forgets the value that is coming, and gives back its room.
func (in *Incoming) giveUp() {
	in.room.give(in.taken)
	in.forget()
}

func (in *Incoming) forget() {
	in.coming, in.have, in.taken, in.builder = protocol.Piece{}, 0, 0, nil
}

// Object returns an object that came whole, and its type, and hands it over: nothing if there is none of that number.
func (in *Incoming) Object(id uint64) record.State {
	w := in.whole[id]
	delete(in.whole, id)
	in.room.give(w.size)
	return w.state
}

// Drop forgets everything: the connection has ended. Incoming can be used for the next one.
func (in *Incoming) Drop() {
	in.giveUp()
	for id := range in.whole {
		in.Object(id)
	}
}
