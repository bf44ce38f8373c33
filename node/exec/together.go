package exec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// Errors of a batch, as its reply says them.
var (
	errCommand   = errors.New("ERR a command of this transaction is not known to the node; proxy and node may be of different versions; nothing was done")
	errCrossSlot = errors.New(command.ErrCrossSlot)
	errReserved  = fmt.Errorf("ERR keys that begin with %q are Quoll's own; nothing was done", database.Prefix)
)

const (
	// MaxBatch bounds what a batch writes, in bytes: all of that is in one record until its keys have it.
	MaxBatch = 128 << 20
	// MaxBatchReply bounds what it replies, as data types bound theirs: that is in one frame, of which more is the end of the connection.
	MaxBatchReply = 120 << 20
)

// tooMuch is the error of a batch beyond that.
func tooMuch(what string, size, most int) string {
	return fmt.Sprintf("ERR what this would %s at once is %d MiB, and at most %d MiB are allowed; nothing was done", what, (size+1<<20-1)>>20, most>>20)
}

// batch is a request for several keys of a slot at once, which its home runs.
type batch struct {
	exec *Executor
	*command.Batch
	pace
	command *command.Request // which it was made of
	keys    [][]byte
	resp3   bool
	// events are the classes of those that are to be told.
	events notify.Class
	// crowded: there was no memory for more data when the batch came.
	crowded bool
	room    [4]record.State // what states begin with

	messages messages          // of this run
	calls    *command.CallList // of this run, nil unless the batch is Shown
	user     *acl.User         // whose scripts these are, nil if it may do everything
	denials  command.DenialList
	whole    *register.Whole // what the home says of the keys that are listed, nil if none are
}

// prepareBatch makes a batch ready for a home. It returns whether that only reads, and whether it may need more room. An error is one of the request, as its reply says it.
//
// crowded tells whether there is no memory for more data, which scripts find out themselves, as in Redis.
func (e *Executor) prepareBatch(r *register.Request, crowded func() bool) (reads, grows bool, err error) {
	cmd := r.Command()
	parsed, err := command.ParseBatch(cmd)
	if err != nil {
		return false, false, fmt.Errorf("ERR %w", err)
	}
	keys, ok := parsed.Keys(cmd.Args[1])
	if !ok {
		return false, false, errCommand
	}
	slot, own := ring.SlotOf(keys[0]), isOwn(keys[0]) // which proxies let no client name a batch after
	for _, key := range keys {
		if isOwn(key) != own || bytes.Equal(key, register.BatchKey) {
			return false, false, errReserved
		}
		if ring.SlotOf(key) != slot {
			return false, false, errCrossSlot
		}
	}
	reads, alone, scripts := true, false, false
	for i := range parsed.Commands {
		c := command.ByOp(parsed.Commands[i].Op)
		reads = reads && !c.Writes()
		grows = grows || c.Flags&command.FlagDenyOOM != 0 && !isScript(c.Op) // of which each call is judged
		alone = alone || c.Op == command.OpWatched
		scripts = scripts || isScript(c.Op)
	}
	user, ok := e.user(parsed.Rules)
	if !ok {
		return false, false, errUser
	}
	b := &batch{exec: e, Batch: parsed, command: cmd, keys: keys, resp3: cmd.RESP3, events: cmd.Events, user: user, crowded: scripts && crowded()}
	r.Together(keys, b.run)
	if l := parsed.Listing; l != nil {
		if ring.SlotOfDatabase(l.Database) != slot {
			return false, false, errCrossSlot
		}
		b.whole = &register.Whole{Database: l.Database, Listed: l.Promised}
		r.ReadAll(b.whole)
	}
	if alone {
		r.Alone()
	}
	return reads, grows, nil
}

// isOwn reports whether a key is Quoll's own, and not the name that stands for all keys of a database.
func isOwn(key []byte) bool {
	_, all := database.AllOf(key)
	return !all && database.Own(key)
}

// isScript reports whether a command runs a script, or a function.
func isScript(op command.Op) bool {
	switch op {
	case command.OpEval, command.OpEvalRO, command.OpEvalSHA, command.OpEvalSHARO, command.OpCall, command.OpCallRO, command.OpFCall, command.OpFCallRO:
		return true
	}
	return false
}

// run is the register.Run of a batch.
func (b *batch) run(dst []byte, held []record.Record, now int64) (reply []byte, effects []record.Effect, err error) {
	if b.events == 0 {
		return b.runTelling(dst, held, now, nil)
	}
	start, told := len(dst), notify.List{Wanted: b.events}
	if reply, effects, err = b.runTelling(dst, held, now, &told); err != nil {
		return reply, effects, err
	}
	return told.Before(reply, start), effects, nil
}

// runTelling is run, and adds the events to a list, which may be nil.
func (b *batch) runTelling(dst []byte, held []record.Record, now int64, told *notify.List) (reply []byte, effects []record.Effect, err error) {
	defer record.Catch(&err)
	if placed := b.exec.host.View().Placements; slices.ContainsFunc(b.keys, func(key []byte) bool { return !placed.Admits(key) }) {
		return resp.AppendError(dst, command.ErrClosed), make([]record.Effect, len(held)), nil
	}
	states := b.room[:0]
	for i := range held {
		states = append(states, record.State{})
		if held[i].State.Live() {
			states[i] = held[i].State
		}
	}
	if w := b.whole; w != nil && (w.Unlisted || len(w.Missing) > 0) {
		return command.AppendMissingKeys(dst, b.unlisted()), make([]record.Effect, len(held)), nil
	}
	lend := b.exec.lend
	if b.begin(); b.apart {
		lend = b.exec.host.LendApart
	}
	keys, start := datatype.NewKeyspace(b.keys, states, now, lend), len(dst)
	if b.whole != nil {
		keys.HasAll(b.whole.Database)
	}
	if told != nil {
		keys.Tell(told, expired(held))
		defer keys.TellRest()
	}
	if !b.unchanged(keys, held) {
		return resp.AppendNullArray(dst, b.resp3), make([]record.Effect, len(held)), nil
	}
	b.messages, b.calls, b.denials = messages{}, nil, command.DenialList{}
	if b.Shown {
		b.calls = new(command.CallList)
	}
	dst, problem := b.execute(dst, keys, held, now)
	if problem == errStepTime {
		return dst[:start], nil, b.long()
	}
	for _, line := range b.logged {
		b.exec.log(line.level, line.text)
	}
	if missing := keys.Missing(); problem == "" && len(missing) > 0 { // only scripts ask for what they have not named
		keys.Untell(expired(held))
		return command.AppendMissingKeys(dst[:start], missing), make([]record.Effect, len(held)), nil
	}
	size := 0
	effects = keys.Effects()
	for i := range effects {
		size += effects[i].State.Size()
	}
	if problem == "" && size > MaxBatch {
		problem = tooMuch("write", size, MaxBatch)
	}
	if problem != "" {
		keys.Untell(expired(held))
		return resp.AppendError(dst[:start], problem), make([]record.Effect, len(held)), nil
	}
	if len(b.messages.list) > 0 {
		if n := len(dst) - start + b.messages.bytes; n > MaxBatchReply {
			keys.Untell(expired(held))
			return resp.AppendError(dst[:start], tooMuch("reply and publish", n, MaxBatchReply)), make([]record.Effect, len(held)), nil
		}
		dst = append(dst[:start], append(command.AppendPublished(nil, b.messages.list), dst[start:]...)...)
	}
	return b.denials.Before(b.calls.Before(dst, start), start), effects, nil
}

// expired says of what is held whether it has expired: there is no value then, but when that was.
func expired(held []record.Record) []bool {
	are := make([]bool, len(held))
	for i := range held {
		are[i] = !held[i].State.Live() && held[i].State.ExpireAt != 0
	}
	return are
}

// script is the run of the script, or of the function, that one of the commands names.
func (b *batch) script(at int, keys *datatype.Keyspace, now int64) scriptRun {
	c := &b.Commands[at]
	return scriptRun{exec: b.exec, batch: b, keys: keys, command: c, now: now, number: int(c.Database), messages: &b.messages, calls: b.calls, at: at, user: b.user, denials: &b.denials, crowded: b.crowded}
}

// execute executes the commands one after the other, and appends the reply. The problem is why nothing of them may be done.
func (b *batch) execute(dst []byte, keys *datatype.Keyspace, held []record.Record, now int64) (reply []byte, problem string) {
	start := len(dst)
	if b.Array {
		dst = resp.AppendArray(dst, len(b.Commands))
	}
	for i := range b.Commands {
		switch c := &b.Commands[i]; c.Op {
		case command.OpWatched:
			dst = resp.AppendBulk(dst, appendSeen(nil, &held[keys.Index(c.Args[1])]))
		case command.OpEval, command.OpEvalRO, command.OpEvalSHA, command.OpEvalSHARO:
			run := b.script(i, keys, now)
			if dst = run.append(dst); run.dropped != "" {
				return dst, run.dropped
			}
		case command.OpCall, command.OpCallRO, command.OpFCall, command.OpFCallRO:
			run := b.script(i, keys, now)
			if dst = run.appendCall(dst); run.dropped != "" {
				return dst, run.dropped
			}
		case command.OpScript:
			dst = b.exec.scripts.check(dst, c)
		case command.OpFunction:
			var late string
			if dst, late = b.describe(dst, c); late != "" {
				return dst, late
			}
		default:
			if command.ByOp(c.Op).ReadsAll() {
				dst = b.exec.all(dst, keys, c, int(c.Database))
			} else {
				dst = keys.Execute(dst, c)
			}
		}
		if size := len(dst) - start; size > MaxBatchReply {
			return dst, tooMuch("reply", size, MaxBatchReply)
		}
	}
	return dst, ""
}

// unchanged reports whether no watched key has changed.
func (b *batch) unchanged(keys *datatype.Keyspace, held []record.Record) bool {
	for _, w := range b.Watched {
		if !same(w.Version, &held[keys.Index(w.Key)]) {
			return false
		}
	}
	return true
}
