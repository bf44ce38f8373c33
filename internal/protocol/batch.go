package protocol

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// OpKind says what a node is to do with an operation.
type OpKind uint8

// The kinds of operations.
const (
	// ReadValue: run the read command on this replica's state; reply and version.
	ReadValue OpKind = 0
	// ReadVersion: the version of this replica's state only.
	ReadVersion OpKind = 1
	// Execute: run the command as the slot's home.
	Execute OpKind = 2
)

// AllOthers as Op.Except says that the operation is to be executed by the node that gets it,
// whoever leads the slot.
const AllOthers uint16 = math.MaxUint16

// Op is one operation of a batch frame.
type Op struct {
	// ID says to the proxy what the reply belongs to.
	ID   uint64
	Kind OpKind
	// Except is the member that it is not to be sent on to, though it seems to lead the slot: see
	// register.Home.HandleClient. 0 is none.
	Except uint16
	Slot   uint16
	// About says of a decoded ReadVersion that its command, which is not sent, is no use of the key (command.Untouching).
	About bool
	// Req is the command; when decoded, its arguments are views into the frame and
	// Args[0] is the command's canonical name. A ReadVersion has the key only.
	Req command.Request
}

// Key returns the operation's key, nil for one on a whole slot.
func (op *Op) Key() []byte {
	if len(op.Req.Args) < 2 {
		return nil
	}
	return op.Req.Args[1]
}

const (
	opKindMask     = 3
	opExceptBit    = 1 << 2
	opRESP3Bit     = 1 << 3
	opVersionedBit = 1 << 4 // who does not know it answers as ever
	opAboutBit     = 1 << 5 // nor is this for who does not know it
	maxOpArgs      = 1 << 20
)

// names are the commands' names by Op: they are not sent.
var names = func() [][]byte {
	names := make([][]byte, command.Ops())
	for op := range names {
		if c := command.ByOp(command.Op(op)); c != nil {
			names[op] = []byte(c.Name)
		}
	}
	return names
}()

// AppendVersion appends the version of the ring that begins the body of a batch frame, and what a scan and the like asks for: the proxy knows who holds the slots of its operations
// as of that version, and the node knows it too, as far as the proxy has heard. The node executes an operation if the slot has not changed since.
func AppendVersion(dst []byte, version uint64) []byte { return wire.AppendUvarint(dst, version) }

// AppendOp appends an operation to a batch frame. The body of a batch frame is the
// sender's version of the ring (AppendVersion), then operations.
func AppendOp(dst []byte, op *Op) []byte {
	flags := byte(op.Kind)
	if op.Except != 0 {
		flags |= opExceptBit
	}
	if op.Req.RESP3 {
		flags |= opRESP3Bit
	}
	if op.Req.Versioned {
		flags |= opVersionedBit
	}
	if op.Kind == ReadVersion && (op.About || command.Untouching(op.Req.Op)) {
		flags |= opAboutBit
	}
	dst = append(dst, flags)
	dst = wire.AppendUvarint(dst, op.ID)
	dst = wire.AppendUint16(dst, op.Slot)
	if op.Except != 0 {
		dst = wire.AppendUint16(dst, op.Except)
	}
	if op.Kind == ReadVersion {
		return wire.AppendBytes(dst, op.Req.Args[1])
	}
	dst = wire.AppendUint16(dst, uint16(op.Req.Op))
	dst = wire.AppendUvarint(dst, uint64(len(op.Req.Args)-1))
	for _, arg := range op.Req.Args[1:] {
		dst = wire.AppendBytes(dst, arg)
	}
	return dst
}

// DecodeOp decodes the next operation. op.Req.Args is reused for the arguments.
func DecodeOp(d *wire.Decoder, op *Op) {
	flags := d.Byte()
	op.Kind, op.Except = OpKind(flags&opKindMask), 0
	op.Req.RESP3, op.Req.Versioned = flags&opRESP3Bit != 0, flags&opVersionedBit != 0
	op.About = op.Kind == ReadVersion && flags&opAboutBit != 0
	op.ID = d.Uvarint()
	op.Slot = d.Uint16()
	if flags&opExceptBit != 0 {
		op.Except = d.Uint16()
	}
	args := append(op.Req.Args[:0], nil)
	if op.Kind == ReadVersion {
		op.Req.Op, op.Req.Args = command.OpNone, append(args, d.Bytes())
		return
	}
	op.Req.Op = command.Op(d.Uint16())
	n := d.Count(1)
	if n > maxOpArgs || op.Kind > Execute {
		d.Fail("impossible operation")
		return
	}
	for range n {
		args = append(args, d.Bytes())
	}
	if int(op.Req.Op) < len(names) {
		args[0] = names[op.Req.Op]
	}
	op.Req.Args = args
}

// Status is how a node answers an operation.
type Status uint8

// The statuses of a reply. Those of an Execute are its outcome.
const (
	StatusDone            = Status(answer.Done)    // Reply is valid
	StatusNotDone         = Status(answer.NotDone) // Reason and Hint are valid
	StatusUnknown         = Status(answer.Unknown) // Reason is valid
	StatusVersion  Status = 3                      // Version is valid (ReadVersion)
	StatusValue    Status = 4                      // Version and Reply are valid (ReadValue)
	StatusAskHome  Status = 5                      // the state has expired: only the home may say so
	StatusWritten  Status = 6                      // as StatusDone, and Version is that of what it has written: only to who has asked for it (Request.Versioned)
	statusesNumber        = 7
)

// Result is the reply to an operation.
type Result struct {
	ID      uint64
	Status  Status
	Reason  answer.Reason // of StatusNotDone and StatusUnknown
	Hint    uint16        // of StatusNotDone: the member to ask instead, 0 for none
	Version record.Version
	Reply   []byte // RESP; borrowed from the frame
}

// AppendResult appends a reply to a batch-reply frame, whose body is nothing else.
func AppendResult(dst []byte, r *Result) []byte {
	dst = append(dst, byte(r.Status))
	dst = wire.AppendUvarint(dst, r.ID)
	switch r.Status {
	case StatusVersion:
		return wire.AppendVersion(dst, r.Version)
	case StatusValue, StatusWritten:
		dst = wire.AppendVersion(dst, r.Version)
		return wire.AppendBytes(dst, r.Reply)
	case StatusDone:
		return wire.AppendBytes(dst, r.Reply)
	}
	dst = append(dst, byte(r.Reason))
	return wire.AppendUvarint(dst, uint64(r.Hint))
}

// AppendResultOf is AppendResult of a StatusValue whose reply is made where it leaves: reply appends it to what it is given, which must have room for it. A long one is not copied then.
func AppendResultOf(dst []byte, r *Result, reply func(dst []byte) []byte) []byte {
	dst = append(dst, byte(r.Status))
	dst = wire.AppendUvarint(dst, r.ID)
	dst, at := wire.BeginBytes(wire.AppendVersion(dst, r.Version))
	return wire.EndBytes(reply(dst), at)
}

// DecodeResult decodes the next reply.
func DecodeResult(d *wire.Decoder, r *Result) {
	*r = Result{Status: Status(d.Byte()), ID: d.Uvarint()}
	switch r.Status {
	case StatusVersion:
		r.Version = d.Version()
	case StatusValue, StatusWritten:
		r.Version = d.Version()
		r.Reply = d.Bytes()
	case StatusDone:
		r.Reply = d.Bytes()
	default:
		if r.Status >= statusesNumber {
			d.Fail("impossible status")
		}
		r.Reason = answer.Reason(d.Byte())
		hint := d.Uvarint()
		if hint > math.MaxUint16 {
			d.Fail("impossible member")
		}
		r.Hint = uint16(hint)
	}
}
