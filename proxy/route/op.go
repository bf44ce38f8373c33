package route

import (
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/quorum"
)

// opPhase says where an operation is.
type opPhase uint8

const (
	opReady     opPhase = iota // to be sent
	opReading                  // votes are out
	opExecuting                // a home has it
	opDone
)

// maxTargets bounds the replicas that one read asks: a majority of seven.
const maxTargets = 4

// opState is where an operation is on its way.
type opState struct {
	slot    uint16
	phase   opPhase
	write   bool // it may have an effect
	viaHome bool // through the home, though it is a read
	alone   bool // a read: the nearest replica was asked, and nobody else,
	asked   bool // or has been, and could not say
	memory  bool // it is memory that was wanting last
	tries   uint8
	delays  uint8  // how often it was refused because too much waits
	waiting uint8  // bit i: targets[i] has not answered
	except  uint16 // the member that it is not to be sent on to, 0 for none
	targets [maxTargets]uint16
	hint    uint16        // the member to ask, 0 for the coordinator's choice,
	hinter  uint16        // and who said so
	unable  uint16        // the member that cannot execute it, 0 for none
	full    uint16        // bit i: member i of the slot has no room for it
	index   int32         // in the batch
	part    int32         // that it belongs to
	before  int32         // the operation on the same key before this one, -1 for none,
	after   int32         // and after it
	attempt uint64        // that it was sent with last
	chain   int32         // that it is part of, -1 for none
	sent    time.Duration // since the batch began, if it is slow
	votes   quorum.Votes
	version record.Version // that it has written, if that is known
	reply   []byte         // that came, nil while there is none
	ahead   []byte         // what has come of a long reply, ahead of the result, nil if nothing has,
	size    int            // how long all of it is,
	heard   time.Duration  // and when the last of it came, since the batch began
	err     *ReplyError    // why it was not done, if it ends now
}

// done ends an operation with its reply.
func (s *batchState) done(st *opState, reply []byte) {
	st.reply = reply
	s.close(st)
}

// fail ends an operation with an error.
func (s *batchState) fail(st *opState, err *ReplyError) {
	st.reply, st.err = nil, err
	s.close(st)
}

func (s *batchState) close(st *opState) {
	if st.phase == opReady {
		s.ready--
	}
	s.left(st, st.err == nil || st.mayWrite())
	st.phase, st.waiting = opDone, 0
	s.pending--
	if part := &s.parts[st.part]; part.pending == 1 {
		part.pending, s.finished = 0, append(s.finished, st.part)
	} else {
		part.pending--
	}
	s.blocked = 0 // it may have been waited for
}

// mayWrite reports whether the operation, sent to a home, may have an effect.
func (st *opState) mayWrite() bool { return st.err == ErrUnknownOutcome }

// changed has what is sent from now on go by another view of the ring. A read that was sent while other members held its slot goes to the home: a late answer
// to that would be taken for a vote of those that hold it now.
func (s *batchState) changed(view *ringView) {
	before := s.view.table
	s.view = view
	for i := range s.ops {
		st := &s.ops[i]
		st.full = 0 // its bits are of the members before
		if sent := st.phase != opReady || st.tries > 0 || st.delays > 0; sent && view.table.Epoch(st.slot) != before.Epoch(st.slot) {
			st.viaHome = true
		}
	}
}

// target returns which of the targets that have not answered a member is, -1 for none.
func (st *opState) target(id uint16) int {
	for k := range st.targets {
		if st.waiting&(1<<k) != 0 && st.targets[k] == id {
			return k
		}
	}
	return -1
}
