package register

import (
	"sync"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
)

// Outcome says what became of a request.
type Outcome = answer.Outcome

// Reason explains NotDone and Unknown.
type Reason = answer.Reason

// The outcomes and reasons, under the names that they have in this package's rules.
const (
	Done    = answer.Done
	NotDone = answer.NotDone
	Unknown = answer.Unknown

	ReasonNone    = answer.ReasonNone
	NotMember     = answer.NotMember
	OtherHome     = answer.OtherHome
	Expired       = answer.Expired
	LostTerm      = answer.LostTerm
	Overloaded    = answer.Overloaded
	NoQuorum      = answer.NoQuorum
	EpochChanged  = answer.EpochChanged
	StorageFailed = answer.StorageFailed
	NotVoting     = answer.NotVoting
	StorageFull   = answer.StorageFull
	OutOfMemory   = answer.OutOfMemory
)

// Request is a client command at a home. The channel from proxy to home delivers
// a request at most once (R11).
type Request struct {
	// Origin is the caller's; it says where the answer goes.
	Origin   any
	OriginID uint64
	// Born is when the request arrived, in the caller's monotonic milliseconds.
	Born int64

	cmd      command.Request
	key      []byte
	keys     [][]byte // of a batch,
	run      Run      // which does this on them
	alone    bool     // it has to know the versions of its keys
	whole    *Whole   // it reads all keys of a database
	batch    *batch   // whose marker it is: no request of anybody
	blind    bool
	clear    bool
	size     int       // of all arguments
	arrived  uint64    // home's round counter at arrival
	buf      []byte    // backs key and arguments, but for those that are long
	replies  []byte    // backs the attempts' replies
	attempts []attempt // every version ever sent that contains this command, or the write behind it whose fate it shares
	written  bool      // some of them contain this command
	spare    *keyState // memory for what the home will keep of the key, if this is the first request of it
	room     requestRoom
}

// requestRoom is what the slices of a request begin with, so that most are one piece of memory.
type requestRoom struct {
	buf      [128]byte
	args     [4][]byte
	replies  [16]byte
	attempts [1]attempt
}

// attempt is a version that contains the command, and what it would reply.
type attempt struct {
	version    record.Version
	start, end int // of the reply in Request.replies
}

var requestPool = sync.Pool{New: func() any {
	r := new(Request)
	r.buf, r.cmd.Args, r.replies, r.attempts = r.room.buf[:0], r.room.args[:0], r.room.replies[:0], r.room.attempts[:0]
	return r
}}

// NewRequest returns a request with a copy of the command. It goes back to a pool
// once it has been answered: the caller of Home keeps no reference to it.
func NewRequest(cmd *command.Request, origin any, originID uint64, born int64) *Request {
	return Reserve().Set(cmd, origin, originID, born)
}

// Reserve returns a request that has no command yet, and brings near the memory that it and its key will take at a home.
func Reserve() *Request {
	r := requestPool.Get().(*Request)
	if r.spare == nil {
		r.spare = newKeyState()
	}
	prefetch.Of(r)
	prefetch.Of(r.spare)
	return r
}

// takeSpare returns memory for what a home keeps of the request's key.
func (r *Request) takeSpare() *keyState {
	ks := r.spare
	if r.spare = nil; ks == nil {
		ks = newKeyState()
	}
	return ks
}

// Set makes of a reserved request what NewRequest returns.
func (r *Request) Set(cmd *command.Request, origin any, originID uint64, born int64) *Request {
	r.Origin, r.OriginID, r.Born = origin, originID, born
	short := 0
	r.size = 0
	for _, arg := range cmd.Args {
		r.size += len(arg)
		if len(arg) <= record.CopiedValue {
			short += len(arg)
		}
	}
	if cap(r.buf) < short {
		r.buf = make([]byte, 0, short)
	}
	buf, args := r.buf[:0], r.cmd.Args[:0]
	for _, arg := range cmd.Args {
		if len(arg) > record.CopiedValue { // it may become the key's value as it is
			args = append(args, buffer.Clone(arg))
			continue
		}
		start := len(buf)
		buf = append(buf, arg...)
		args = append(args, buf[start:len(buf):len(buf)])
	}
	r.buf = buf
	r.cmd.Op, r.cmd.RESP3, r.cmd.Args, r.cmd.Owned = cmd.Op, cmd.RESP3, args, true
	r.cmd.Events, r.cmd.Expired = 0, false
	r.cmd.Of, r.cmd.Stale = cmd.Of, false
	r.clear = cmd.Op == command.OpClear
	r.key, r.blind = nil, false
	if !r.clear && len(args) > 1 {
		r.key, r.blind = args[1], command.Blind(&r.cmd)
	}
	return r
}

// Tell has the events of the command told, of some classes. Some of them are only known to who looks at what is there before, even if the command need not.
func (r *Request) Tell(events notify.Class) {
	r.cmd.Events = events
	r.blind = r.blind && events&(notify.New|notify.Expired) == 0
}

// Tells reports whether events of the command are to be told.
func (r *Request) Tells() bool { return r.cmd.Events != 0 }

// argSize is what an argument takes beside its bytes. There may be a million empty ones.
const argSize = 24

// Size returns how many bytes of memory the request's command takes.
func (r *Request) Size() int { return r.size + argSize*len(r.cmd.Args) }

// maxPooled bounds the buffers that wait in the pool.
const maxPooled = 64 << 10

func (r *Request) free() {
	if cap(r.buf) > maxPooled {
		r.buf = r.room.buf[:0]
	}
	if cap(r.replies) > maxPooled {
		r.replies = r.room.replies[:0]
	}
	clear(r.cmd.Args)
	if argSize*cap(r.cmd.Args) > maxPooled {
		r.cmd.Args = r.room.args[:0]
	}
	r.Origin, r.key, r.keys, r.run, r.alone, r.whole = nil, nil, nil, nil, false, nil
	r.cmd.Args, r.replies, r.attempts, r.written = r.cmd.Args[:0], r.replies[:0], r.attempts[:0], false
	requestPool.Put(r)
}

// attempted records that version contains the command and answers reply.
func (r *Request) attempted(version record.Version, start, end int) {
	r.written = true
	r.shares(version, start, end)
}

// shares records that reply is the right one if version is included.
func (r *Request) shares(version record.Version, start, end int) {
	r.attempts = append(r.attempts, attempt{version, start, end})
}

// undecided is what a request is answered of which no more can be said.
func (r *Request) undecided() Outcome {
	if r.written {
		return Unknown
	}
	return NotDone
}

// Answer is what a home says of a request.
type Answer struct {
	Outcome Outcome
	Reason  Reason
	// Hint is the member that the request should be sent to instead, 0 for none.
	Hint uint16
	// Reply is the RESP reply (Done). It is borrowed.
	Reply []byte
}

// Attempted reports whether some replica may have been asked to store an effect of the request. If not, it had none.
func (r *Request) Attempted() bool { return r.written }
