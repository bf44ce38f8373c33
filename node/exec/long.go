package exec

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/script"
)

const (
	// stepTime is how long the scripts of a batch may run in a step of its home, for which all slots wait that share a lock with its own, and whatever comes on the same connection. What takes longer is run
	// again from the beginning, by itself: only its keys wait for it then.
	stepTime = 2 * time.Millisecond
	// wholeTime is how long a script may run for which everybody waits: it reads all keys of a database.
	wholeTime = time.Second / 2
	// scriptTime is how long one may run by itself, unless Options say something else.
	scriptTime = 5 * time.Second
)

// errScriptTime ends a script that takes longer, and the batch that it is of.
func errScriptTime(limit time.Duration) string {
	return fmt.Sprintf("ERR a script took longer than %v and was ended; nothing was done. Do less in one script, or let scripts take longer (--lua-time-limit of the nodes)", limit)
}

// errDropped ends one that nobody waits for any more, and is shown to nobody.
const errDropped = "ERR nobody waits for it"

// errStepTime ends a batch that is to be run again by itself. Nobody is shown it.
const errStepTime = "ERR it takes longer than a step"

// pace says how long the scripts of a batch may run.
type pace struct {
	began   time.Time   // when the first of them did, of this run
	apart   bool        // it is run by itself
	dropped atomic.Bool // and nobody waits for it any more
	logged  []logged    // what its scripts have logged while it may have to be run again
}

type logged struct {
	level int
	text  string
}

// begin begins a run of the batch.
func (p *pace) begin() { p.began, p.logged = time.Time{}, p.logged[:0] }

// limit is how long a script may run of a batch that is not run again: by itself, or since nobody else may do anything in its database.
func (b *batch) limit() time.Duration {
	if b.apart {
		return b.exec.opt.ScriptTime
	}
	return min(wholeTime, b.exec.opt.ScriptTime)
}

// bound bounds the time of a run of a script, which logs as all do; it ends as soon as killed says so, which may be nil. What it returns says why the run had to end, nothing if it had not.
func (b *batch) bound(run *script.Run, killed *atomic.Bool) (why func() string) {
	now, over := time.Now(), ""
	if b.began.IsZero() {
		b.began = now
	}
	end, late := b.began.Add(stepTime), errStepTime
	if b.apart || b.whole != nil {
		limit := b.limit()
		end, late = now.Add(limit), errScriptTime(limit)
	}
	run.Log = func(level int, text string) { b.logged = append(b.logged, logged{level, text}) }
	run.Interrupted = func() bool {
		switch {
		case b.apart && b.dropped.Load():
			over = errDropped
		case killed != nil && killed.Load():
			over = errKilled
		case time.Now().After(end):
			over = late
		}
		if b.apart {
			runtime.Gosched() // commands that come are executed first
		}
		return over != ""
	}
	return func() string { return over }
}

// long is the error of a batch that is to be run by itself.
func (b *batch) long() error {
	apart, err := b.copied()
	if err != nil {
		return err // it was a batch before
	}
	return &register.Long{With: apart.run, Drop: func() { apart.dropped.Store(true) }}
}

// copied returns the batch as it is run by itself: its request may be answered, and used again, meanwhile.
func (b *batch) copied() (*batch, error) {
	cmd := *b.command
	cmd.Args = make([][]byte, len(b.command.Args))
	for i, arg := range b.command.Args {
		cmd.Args[i] = bytes.Clone(arg)
	}
	parsed, err := command.ParseBatch(&cmd)
	if err != nil {
		return nil, err
	}
	apart := &batch{exec: b.exec, Batch: parsed, command: &cmd, resp3: b.resp3, events: b.events, crowded: b.crowded, user: b.user}
	apart.keys, _ = parsed.Keys(cmd.Args[1])
	apart.apart = true
	return apart, nil
}
