package session

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// pause is what CLIENT PAUSE keeps waiting.
type pause struct {
	mu sync.Mutex
	// now is nil while nobody is kept waiting.
	now atomic.Pointer[paused]
	// waiting is how many clients wait.
	waiting atomic.Int64
}

// paused is one pause. It is replaced, never changed.
type paused struct {
	all   bool // all commands wait, not only those that write
	until time.Time
	ended chan struct{} // is closed when this one does not hold any more
}

var errPauseOption = route.Refuse("ERR CLIENT PAUSE mode must be WRITE or ALL")

// clientPause is CLIENT PAUSE timeout [WRITE|ALL].
func clientPause(s *Session, dst []byte, args [][]byte) []byte {
	all := true
	switch {
	case len(args) > 4:
		return route.AppendReply(dst, misused("CLIENT", args))
	case len(args) == 4 && is(args[3], "WRITE"):
		all = false
	case len(args) == 4 && !is(args[3], "ALL"):
		return route.AppendReply(dst, errPauseOption)
	}
	timeout, err := waitingTime(args[2])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	s.service.look.pause.begin(all, time.Now(), timeout)
	return append(dst, resp.OK...)
}

// clientUnpause is CLIENT UNPAUSE.
func clientUnpause(s *Session, dst []byte, _ [][]byte) []byte {
	s.service.look.pause.end()
	return append(dst, resp.OK...)
}

// begin begins a pause. As in Redis one that is under way becomes neither shorter nor weaker.
func (p *pause) begin(all bool, now time.Time, timeout time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := &paused{all: all, until: now.Add(timeout), ended: make(chan struct{})}
	if old := p.now.Load(); old != nil {
		if old.until.After(now) {
			next.all = next.all || old.all
			if old.until.After(next.until) {
				next.until = old.until
			}
		}
		defer close(old.ended)
	}
	p.now.Store(next)
}

// end ends the pause.
func (p *pause) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.now.Swap(nil); old != nil {
		close(old.ended)
	}
}

// over ends a pause whose time is over, unless there is another one.
func (p *pause) over(old *paused) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.CompareAndSwap(old, nil) {
		close(old.ended)
	}
}

// holds reports whether the pause is for a command of the session.
func (p *paused) holds(s *Session, cmd *command.Command, args [][]byte) bool {
	switch called := cmd.Called(args); {
	case called == nil || !cmd.ArityOK(len(args)) || !s.who.authenticated: // it is refused
		return false
	case p.all:
		return true
	case cmd.Op == command.OpExec:
		return s.queueMayWrite()
	default:
		return s.mayWrite(cmd, args)
	}
}

// mayWrite reports whether a command may change something, or is said to others: PFCOUNT keeps its estimate.
func (s *Session) mayWrite(cmd *command.Command, args [][]byte) bool {
	switch cmd.Op {
	case command.OpEval, command.OpEvalSHA, command.OpFCall:
		return !s.noWrites(cmd, args)
	case command.OpPFCount:
		return true
	}
	return cmd.Name == "publish" || cmd.Name == "spublish" || cmd.Called(args).Flags&command.FlagWrite != 0
}

// noWrites reports whether a script, or a function, says of itself that it does not write.
func (s *Session) noWrites(cmd *command.Command, args [][]byte) bool {
	if len(args) < 2 {
		return false
	}
	var code []byte
	switch cmd.Op {
	case command.OpFCall:
		f, _ := s.service.functions.fresh(args[1])
		return f != nil && f.Flags&function.NoWrites != 0
	case command.OpEval:
		code = args[1]
	default:
		code, _ = s.service.scripts.fresh(scriptName(cmd.Op, args))
	}
	line, _, _ := bytes.Cut(code, []byte("\n"))
	return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("no-writes"))
}

// queueMayWrite reports whether a command of the transaction may change something.
func (s *Session) queueMayWrite() bool {
	for i := range s.multi.queue {
		if s.mayWrite(s.multi.queue[i].cmd, s.multi.queue[i].args) {
			return true
		}
	}
	return false
}

// awaitPause waits until a command may be executed. What was sent before it is executed and answered first.
func (s *Session) awaitPause(cmd *command.Command, args [][]byte) {
	p := &s.service.look.pause
	if cmd == nil || p.now.Load() == nil {
		return
	}
	waits := false
	if s.who.authenticated && cmd.ArityOK(len(args)) { // whether these write the cluster knows
		switch cmd.Op {
		case command.OpEvalSHA:
			_, _ = s.script(scriptName(cmd.Op, args))
		case command.OpFCall:
			_, _ = s.function(args[1])
		}
	}
	for now := p.now.Load(); now != nil && now.holds(s, cmd, args); now = p.now.Load() {
		if !waits {
			waits = true
			s.finish()
			p.waiting.Add(1)
			s.info.blocked.Store(true)
			defer func() {
				s.info.blocked.Store(false)
				p.waiting.Add(-1)
			}()
		}
		if left := time.Until(now.until); left <= 0 {
			p.over(now)
		} else if !s.conn.RestUntil(now.ended, left) {
			s.conn.Break()
			return
		}
	}
}
