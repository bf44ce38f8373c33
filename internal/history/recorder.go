package history

import (
	"math"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Recorder collects the operations of many clients. Its methods may be called from
// any goroutine.
type Recorder struct {
	start time.Time

	mu  sync.Mutex
	ops map[string][]porcupine.Operation // by key
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{start: time.Now(), ops: map[string][]porcupine.Operation{}}
}

// Call is an operation under way. One of its methods is called, once.
type Call struct {
	recorder *Recorder
	command  Command
	began    int64
}

// Begin notes that a command is about to be sent.
func (r *Recorder) Begin(command Command) Call {
	return Call{r, command, r.now()}
}

// Done notes the reply: the value or Nil for Get and GetSet, "OK" for Set, the number
// for Incr, Append, SetNX and Del, or NotInteger for an Incr that was refused.
func (c Call) Done(reply string) { c.add(reply, c.recorder.now()) }

// Unknown notes that nobody knows whether the command took effect, or will yet. An
// unanswered Get says nothing and is dropped.
func (c Call) Unknown() {
	if c.command.Kind != Get {
		c.add(unknown, math.MaxInt64)
	}
}

// NoEffect notes that the command certainly did nothing. It is not part of the
// history: should its value be read later, no register explains it.
func (c Call) NoEffect() {}

func (r *Recorder) now() int64 { return int64(time.Since(r.start)) }

func (c Call) add(reply string, returned int64) {
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops[c.command.Key] = append(r.ops[c.command.Key],
		porcupine.Operation{Input: c.command, Call: c.began, Output: reply, Return: returned})
}
