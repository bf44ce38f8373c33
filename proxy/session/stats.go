package session

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/loginlimit"
)

// maxErrorWords bounds how many error words are counted apart; what comes later
// is counted as OTHER.
const maxErrorWords = 64

// maxOps is above every command.Op; a test holds it against the table. Above it subcommands are counted: see countedAs.
const maxOps = 512

// CommandStats counts one command, or one subcommand.
type CommandStats struct {
	// Failed counts calls that were answered with an error, Rejected commands that were not executed: they are no calls.
	Failed, Rejected atomic.Uint64
	// Nanos is the time that the calls took; those of a batch share its time.
	Nanos atomic.Uint64
	// spread counts calls by their time.
	spread spread
}

// Calls is how often the command was executed.
func (c *CommandStats) Calls() uint64 { return c.spread.total() }

// Stats counts what all sessions do. All of it may be read at any time; INFO and the
// metrics endpoint are built from it, and from what the front counts.
type Stats struct {
	// Commands counts commands of every kind.
	Commands atomic.Uint64
	// ProtocolErrors counts connections that were closed for it.
	ProtocolErrors atomic.Uint64
	// Passwords counts the wrong ones.
	Passwords loginlimit.Limiter

	byOp [maxOps + maxSubcommands]CommandStats
	// refusedMemory is when a command was refused for want of memory last, or a client changed how much there is, in Unix milliseconds.
	refusedMemory atomic.Int64

	mu     sync.Mutex
	errors map[string]uint64
}

// Op returns the counters of one command.
func (s *Stats) Op(op command.Op) *CommandStats { return &s.byOp[op] }

// Errors returns how many error replies began with each word.
func (s *Stats) Errors() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := make(map[string]uint64, len(s.errors))
	for word, n := range s.errors {
		words[word] = n
	}
	return words
}

// count counts a command.
func (s *Stats) count(op command.Op, took time.Duration) {
	s.Commands.Add(1)
	s.byOp[op].spread.observe(took)
	s.byOp[op].Nanos.Add(uint64(took))
}

// reject counts a command that is not executed.
func (s *Stats) reject(op command.Op) {
	s.Commands.Add(1)
	s.byOp[op].Rejected.Add(1)
}

// countError counts an error reply of a command.
func (s *Stats) countError(op command.Op, reply []byte) {
	s.byOp[op].Failed.Add(1)
	s.countWord(reply)
}

// countWord counts an error reply.
func (s *Stats) countWord(reply []byte) {
	word := errorWord(reply)
	if string(word) == "OOM" {
		s.memoryMayBeShort()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.errors == nil {
		s.errors = make(map[string]uint64)
	}
	if _, seen := s.errors[string(word)]; !seen && len(s.errors) >= maxErrorWords {
		word = []byte("OTHER")
	}
	s.errors[string(word)]++
}

// reset sets to zero what CONFIG RESETSTAT does.
func (s *Stats) reset() {
	for _, n := range []*atomic.Uint64{&s.Commands, &s.ProtocolErrors, &s.Passwords.Wrong, &s.Passwords.Refused} {
		n.Store(0)
	}
	for i := range s.byOp {
		s.byOp[i].spread.reset()
		s.byOp[i].Failed.Store(0)
		s.byOp[i].Rejected.Store(0)
		s.byOp[i].Nanos.Store(0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.errors)
}

// errorWord returns the word of an error reply: "ERR" of "-ERR syntax error\r\n".
func errorWord(reply []byte) []byte {
	for i, c := range reply {
		if c == ' ' || c == '\r' {
			return reply[1:i]
		}
	}
	return reply[1:]
}
