package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

const (
	// maxBatchOps is the most operations of a batch, except that the operations of
	// one command stay together.
	maxBatchOps = resp.MaxBatch
	// firstBatchOps is that of the first batch of a client.
	firstBatchOps = 64
	// maxKept is the largest plan whose memory is kept for the next one.
	maxKept = 2 * maxBatchOps
)

// plan is what is to be executed next: commands whose replies are due, and the
// batch of their operations. Arguments are borrowed from the reader until the plan
// is reset. In steady state it allocates nothing.
type plan struct {
	commands []planned
	batch    *route.Batch
	// args holds the arguments of operations that are part of a command.
	args [][]byte
	// publishing: the operations are messages to publish. Others are not executed together with these, so that who hears a message sees what was done before it.
	publishing bool
	// maxOps is how many operations to collect before executing them.
	maxOps int
}

// planned is a command and its operations batch.Ops[first:first+count].
type planned struct {
	cmd          *command.Command
	args         [][]byte
	first, count int
	// queue is what EXEC executes in its one operation.
	queue []queued
	// reply is that of a command without operations, which only waits for its turn, and op the command's number. It never is the first one.
	reply    []byte
	op       command.Op
	rejected bool // it was not executed
	whole    bool // the reply of its one operation is the reply, though its route is to split or to gather
}

func newPlan() plan { return plan{batch: new(route.Batch), maxOps: firstBatchOps} }

// one plans a command on one key. What could store something, and does not, is a read.
func (p *plan) one(cmd *command.Command, args [][]byte, write, resp3 bool) {
	op := cmd.Op
	if reading, ok := cmd.ReadingOp(args); ok {
		op, write = reading, false
	}
	added := p.batch.New()
	added.Req.Op, added.Req.RESP3, added.Req.Args, added.Write = op, resp3, args, write
	p.commands = append(p.commands, planned{cmd: cmd, args: args, first: len(p.batch.Ops) - 1, count: 1})
}

// split plans a command on many keys as one operation per key: MSET as SETs, PFCOUNT
// of several as what reads a HyperLogLog, the others as themselves.
func (p *plan) split(cmd *command.Command, args [][]byte, resp3 bool) {
	op, name, step := cmd.Op, args[0], 1
	write := cmd.Flags&command.FlagWrite != 0
	switch {
	case op == command.OpMSet:
		op, name, step = command.OpSet, setName, 2
	case op == command.OpPFCount && len(args) == 2: // the value keeps the estimate
		write = true
	case op == command.OpPFCount:
		op, name = command.OpPFRead, pfReadName
	}
	first := len(p.batch.Ops)
	for i := 1; i < len(args); i += step {
		p.part(op, name, args[i:i+step], write, resp3)
	}
	p.commands = append(p.commands, planned{cmd: cmd, args: args, first: first, count: len(p.batch.Ops) - first})
}

// part adds one operation of a command: the name and rest, which begins with the key.
func (p *plan) part(op command.Op, name []byte, rest [][]byte, write, resp3 bool) {
	from := len(p.args)
	p.args = append(append(p.args, name), rest...)
	// When args grows, earlier parts keep its old array.
	p.batch.Add(command.Request{Op: op, RESP3: resp3, Args: p.args[from:len(p.args):len(p.args)]}, write)
}

var (
	setName    = []byte("SET")
	pfReadName = []byte("PFREAD")
)

// full reports whether it is time to execute.
func (p *plan) full() bool { return len(p.batch.Ops) >= p.maxOps }

// reset empties the plan, after which the replies of its operations are invalid.
func (p *plan) reset() {
	clear(p.commands)
	clear(p.args)
	p.commands, p.args, p.publishing = p.commands[:0], p.args[:0], false
	p.batch.Reset()
	if cap(p.batch.Ops) > maxKept || cap(p.args) > 3*maxKept {
		*p = plan{batch: new(route.Batch), maxOps: p.maxOps}
	}
}
