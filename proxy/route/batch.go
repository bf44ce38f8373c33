package route

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// Op is one command on one key on its way through the cluster.
type Op struct {
	// Req is what is to be executed. Its arguments are borrowed until Execute returns.
	Req command.Request
	// Write sends the operation through the slot's home; otherwise a quorum read is
	// tried first.
	Write bool
	// Nearest: a read may be answered by the nearest replica alone, with what has been chosen there, possibly long ago.
	Nearest bool

	// Outcome and Reply are set by Execute. Reply is a complete RESP reply: what the command answered, or an error that says
	// why it was not done (NotDone), or that this is not known (Unknown). It belongs to the batch and is valid until the batch is Reset.
	Outcome answer.Outcome
	Reply   []byte
	// Version is what it has written, if Req.Versioned has asked for that, and if it is known and of this operation alone.
	Version record.Version

	slot    uint16 // of an operation without a key (a slot-wide clear, or a message, which is of no slot); of others once it is executed
	keyless bool
}

// key returns the key of the operation, nil for one on a whole slot.
func (o *Op) key() []byte {
	if o.keyless {
		return nil
	}
	return o.Req.Args[1]
}

// Slot returns the slot of an operation that has been executed.
func (o *Op) Slot() uint16 { return o.slot }

// size is about how many bytes the operation takes in a frame.
func (o *Op) size() int {
	n := opSize
	for _, arg := range o.Req.Args {
		n += len(arg) + argSize
	}
	return n
}

// opSize and argSize are the most that an operation, and each argument, takes beside the arguments.
const opSize, argSize = 64, 10

func (o *Op) slotOf() uint16 {
	if o.keyless {
		return o.slot
	}
	return ring.SlotOf(o.Req.Args[1])
}

// Batch is what one read of a client's socket delivered, or one read of each of
// several clients' sockets, as operations on one key each. It is reused: in steady
// state a batch allocates nothing.
type Batch struct {
	Ops []Op

	// OnPart, if set, is called by Execute, in its goroutine, with the index of each part
	// as soon as all operations of that part have their outcomes and replies. Their
	// arguments need not be kept from then on. It must not block.
	OnPart func(part int)

	ends  []int // of the parts, in Ops
	state batchState
}

// Reset empties the batch for reuse. Replies of its operations are invalid then.
func (b *Batch) Reset() {
	clear(b.Ops)
	b.Ops, b.ends = b.Ops[:0], b.ends[:0]
	if b.OnPart == nil { // it may not be used again for long
		b.state.replies.reset(maxKeptSingle)
	}
}

// EndPart makes a part of the operations, at least one, that were added since the last: they are of
// one client, which waits for them and for no others. Nothing is promised about the
// order of operations of different parts. A batch without parts is one.
func (b *Batch) EndPart() { b.ends = append(b.ends, len(b.Ops)) }

// Parts returns how many parts there are.
func (b *Batch) Parts() int { return len(b.ends) }

// Part returns the operations of a part.
func (b *Batch) Part(part int) []Op {
	first := 0
	if part > 0 {
		first = b.ends[part-1]
	}
	return b.Ops[first:b.ends[part]]
}

// Add appends an operation and returns its index. Req.Args is borrowed.
func (b *Batch) Add(req command.Request, write bool) int {
	op := b.New()
	op.Req, op.Write, op.keyless = req, write, req.Op.Publishes()
	return len(b.Ops) - 1
}

// New appends an operation on a key, for the caller to fill in what it is: Req and Write. It is valid until the next one is appended.
func (b *Batch) New() *Op {
	n := len(b.Ops)
	if n == cap(b.Ops) {
		b.Ops = append(b.Ops, Op{})
	} else {
		b.Ops = b.Ops[:n+1] // Reset has left nothing there
	}
	return &b.Ops[n]
}
