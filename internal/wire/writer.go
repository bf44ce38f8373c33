package wire

import (
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/rawio"
)

const (
	// pieceSize is how many bytes the outbox gathers in one piece of memory, unless they
	// are added together: as many as are written with one quick call.
	pieceSize = rawio.Most
	// handSize is the length from which bytes are not copied if they are handed over. To write several
	// pieces takes a call of which the scheduler is told, which costs more than to copy less than this.
	handSize = 64 << 10
	// writeSize is how much is written before its memory is given back.
	writeSize = 1 << 20
)

// outbox holds the bytes that wait to be written to one connection. Any goroutine
// adds to it; one writes. Few bytes are gathered in two buffers that take turns: one is
// filled while the other is written. Many become pieces in a row, so that nothing is copied
// because more is added.
type outbox struct {
	mu sync.Mutex
	// changed wakes the writer: bytes wait, or the mode is another one.
	changed sync.Cond
	// pieces, and then last, are what was added since the writer last took everything. Each
	// is whole frames.
	pieces [][]byte
	last   []byte
	// spare and spares are the other buffer and the other list, while the writer does not have them.
	spare  []byte
	spares [][]byte
	// size is the number of bytes that are not written, whether they wait or the writer has them.
	size  int
	limit int
	mode  outboxMode
	// streams make more to write when there is room.
	streams streams
	// urgent is what the transport itself has to say, which is not kept waiting by what users send; saying is what of it is being
	// written.
	urgent, saying []byte

	// sent is told what has been written, if it is not nil.
	sent func(bytes int)
	// less wakes those who wait for room, of whom there are so many; what is written is a step for them.
	less    sync.Cond
	waiting atomic.Int32
	steps   *atomic.Uint32

	// vector is what the writer passes to the system in one call.
	vector, rest net.Buffers
}

type outboxMode uint8

const (
	outboxOpen outboxMode = iota
	// outboxFinishing: nothing is added any more; what waits is still written.
	outboxFinishing
	// outboxClosed: what waits is dropped.
	outboxClosed
)

func newOutbox(limit int) *outbox {
	o := &outbox{limit: limit}
	o.changed.L, o.less.L = &o.mu, &o.mu
	return o
}

// add copies frames to what waits. It takes them as long as the bytes before
// them are below the limit: a frame larger than the limit can be sent, but not
// two. It never waits for the peer.
func (o *outbox) add(frames []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.room(); err != nil {
		return err
	}
	o.gather(frames)
	o.changed.Signal()
	return nil
}

// urgentLimit bounds the urgent bytes: some seconds of pings, answers to them, and signs of life. A peer that
// reads none of them misses nothing by the others.
const urgentLimit = 4 << 10

// addUrgent adds frames of the transport itself, which go before all that waits, and between the parts of a large frame. They are
// dropped when very many wait.
func (o *outbox) addUrgent(frames []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mode == outboxOpen && len(o.urgent) < urgentLimit {
		o.urgent = append(o.urgent, frames...)
		o.changed.Signal()
	}
}

// hand is add without a copy: after it the frames' memory is the outbox's, unless there is an
// error.
func (o *outbox) hand(frames []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.room(); err != nil {
		return err
	}
	o.seal()
	o.pieces = append(o.pieces, frames)
	o.size += len(frames)
	o.changed.Signal()
	return nil
}

// room says why nothing can be added.
func (o *outbox) room() error {
	switch {
	case o.mode != outboxOpen:
		return ErrDown
	case o.size >= o.limit:
		return ErrBacklog
	}
	return nil
}

// gather copies frames behind what waits.
func (o *outbox) gather(frames []byte) {
	if len(o.last)+len(frames) > max(pieceSize, cap(o.last)) {
		o.seal()
		o.last = buffer.Get(max(pieceSize, len(frames)))
	}
	if o.last == nil && len(o.pieces) > 0 { // a little between much
		o.last = buffer.Get(0)
	}
	o.last = buffer.Append(o.last, frames)
	o.size += len(frames)
}

// seal makes a piece of what is gathered.
func (o *outbox) seal() {
	if len(o.last) > 0 {
		o.pieces = append(o.pieces, o.last)
		o.last = nil
	}
}

// queued returns the number of bytes that are not written, those of streams that count among them.
func (o *outbox) queued() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size + o.streams.queued()
}

// finish adds the last frames, whatever waits already.
func (o *outbox) finish(frames []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mode != outboxOpen {
		return
	}
	o.gather(frames)
	o.mode = outboxFinishing
	o.changed.Signal()
}

// stop changes the mode, never back.
func (o *outbox) stop(mode outboxMode) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mode = max(o.mode, mode)
	o.changed.Signal()
	o.less.Broadcast()
}

// awaitRoomFor is awaitRoom for so long at most. It reports whether there is room.
func (o *outbox) awaitRoomFor(limit int, patience time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	over := false
	timer := time.AfterFunc(patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		over = true
		o.less.Broadcast()
	})
	defer timer.Stop()
	for o.size+o.streams.queued() > limit && o.mode == outboxOpen && !over {
		o.less.Wait()
	}
	return o.size+o.streams.queued() <= limit
}

// awaitRoom waits until no more than so many bytes are to be written, or the connection ends.
func (o *outbox) awaitRoom(limit int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting.Add(1)
	defer o.waiting.Add(-1)
	for o.size+o.streams.queued() > limit && o.mode == outboxOpen {
		o.less.Wait()
	}
}

// run writes what is added until the outbox is stopped or a write fails.
func (o *outbox) run(w io.Writer) error {
	for {
		if o.await() < enough {
			// Let the goroutines that are about to add something do so: one write for all
			// of them. This gains 20 to 30 % when every caller waits for its reply.
			runtime.Gosched()
		}
		pieces, ended := o.take()
		if ended {
			return nil
		}
		if err := o.write(w, pieces); err != nil {
			return err
		}
		if err := o.writePiece(w); err != nil {
			return err
		}
	}
}

// enough is how many bytes are worth a write of their own: the peer can begin with them while the
// goroutines here that are about to add something do their work.
const enough = 4 << 10

// await waits until there is something to do, and returns how many bytes there are to write.
func (o *outbox) await() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.waits() && o.mode == outboxOpen {
		o.changed.Wait()
	}
	return o.size
}

// waits reports whether there is something that the writer has not taken.
func (o *outbox) waits() bool { return len(o.pieces)+len(o.last)+len(o.urgent) > 0 || o.canStream() }

// take takes everything that waits. ended means that nothing is to be written any more.
func (o *outbox) take() (pieces [][]byte, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mode == outboxClosed || o.mode == outboxFinishing && !o.waits() {
		return nil, true
	}
	return o.takeAll(), false
}

// takeAll is take for who has locked the outbox.
func (o *outbox) takeAll() [][]byte {
	o.seal()
	pieces := o.pieces
	o.pieces, o.spares = o.spares[:0], nil
	if o.last == nil {
		o.last, o.spare = o.spare, nil
	}
	return pieces
}

// write writes pieces, and gives them back. What is urgent goes before each write.
func (o *outbox) write(w io.Writer, pieces [][]byte) error {
	if err := o.writeUrgent(w); err != nil {
		return err
	}
	for first := 0; first < len(pieces); {
		size, end := 0, first
		for end < len(pieces) && (end == first || size+len(pieces[end]) <= writeSize) {
			size += len(pieces[end])
			end++
		}
		var err error
		if size > wholeSize { // of one piece: it may hold a large frame
			err = o.writeParts(w, pieces[first])
		} else {
			err = o.writeTogether(w, pieces[first:end])
			o.wrote(size)
		}
		if err == nil && end < len(pieces) {
			err = o.writeUrgent(w)
		}
		if err != nil {
			return err
		}
		o.give(pieces[first:end], size)
		first = end
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if cap(pieces) <= keptPieces {
		o.spares = pieces[:0]
	}
	return nil
}

// writeUrgent writes what is urgent.
func (o *outbox) writeUrgent(w io.Writer) error {
	o.mu.Lock()
	o.saying, o.urgent = o.urgent, o.saying[:0]
	o.mu.Unlock()
	if len(o.saying) == 0 {
		return nil
	}
	_, err := w.Write(o.saying)
	o.tell(len(o.saying))
	return err
}

// wrote notes that bytes of users were written.
func (o *outbox) wrote(bytes int) {
	if o.waiting.Load() > 0 {
		o.steps.Add(1)
	}
	o.tell(bytes)
}

// tell tells who wants to know it that bytes were written.
func (o *outbox) tell(bytes int) {
	if o.sent != nil {
		o.sent(bytes)
	}
}

// keptPieces is for how many pieces a list keeps room.
const keptPieces = 1 << 10

// writeTogether writes pieces with one system call, if the connection can do so.
func (o *outbox) writeTogether(w io.Writer, pieces [][]byte) error {
	if len(pieces) == 1 {
		_, err := w.Write(pieces[0])
		return err
	}
	o.vector = append(o.vector[:0], pieces...)
	o.rest = o.vector // WriteTo takes away what is written
	_, err := o.rest.WriteTo(w)
	clear(o.vector)
	return err
}

// give takes back the memory of pieces that were written: one for the next few bytes, the
// others for whoever needs them.
func (o *outbox) give(pieces [][]byte, size int) {
	o.mu.Lock()
	o.size -= size
	o.less.Broadcast()
	if i := len(pieces) - 1; o.spare == nil && cap(pieces[i]) < 2*pieceSize {
		o.spare, pieces[i] = pieces[i][:0], nil
	}
	o.mu.Unlock()
	for i := range pieces {
		buffer.Put(pieces[i])
		pieces[i] = nil
	}
}
