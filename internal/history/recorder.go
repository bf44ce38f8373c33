package history

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Recorder collects the operations of many clients. Its methods may be called from
// any goroutine.
type Recorder struct {
	start time.Time

	mu        sync.Mutex
	clients   int
	pipelines int
	ops       map[string][]Operation // by key
	journals  map[string]bool
	evicts    bool
	events    []Event
}

// Event is something that happened to the store while clients worked: a fault.
type Event struct {
	// At is when, in nanoseconds since the recorder began.
	At   int64  `json:"at_ns"`
	Text string `json:"event"`
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{start: time.Now(), ops: map[string][]Operation{}, journals: map[string]bool{}}
}

// MayEvict says that the store may evict keys: each may be deleted at any moment. It is called before Check.
func (r *Recorder) MayEvict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.evicts = true
}

// model is that of each key. r.mu is locked.
func (r *Recorder) model() porcupine.Model {
	if r.evicts {
		return evicted
	}
	return register
}

// Note records an event.
func (r *Recorder) Note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, Event{int64(time.Since(r.start)), text})
}

// Client is one client of the store.
type Client struct {
	recorder *Recorder
	number   int
}

// Client returns another client.
func (r *Recorder) Client() *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
	return &Client{r, r.clients}
}

// Call is an operation under way. One of its methods is called, once.
type Call struct {
	recorder *Recorder
	op       Operation
}

// Command is the command that was begun.
func (c Call) Command() Command { return c.op.Command }

// Begin notes that a command is about to be sent.
func (c *Client) Begin(command Command) Call {
	now := time.Now()
	return Call{c.recorder, Operation{Client: c.number, Command: command, Call: int64(now.Sub(c.recorder.start)), CallAt: now.UnixMilli()}}
}

// Pipeline notes that commands are about to be sent on one connection without
// waiting for answers. Those on the same key that are answered take effect in their order.
func (c *Client) Pipeline(commands []Command) []Call {
	c.recorder.mu.Lock()
	c.recorder.pipelines++
	number := c.recorder.pipelines
	c.recorder.mu.Unlock()
	var calls []Call
	for i, command := range commands {
		call := c.Begin(command)
		call.op.Pipeline, call.op.Place = number, i
		calls = append(calls, call)
	}
	return calls
}

// Done notes the reply, or the error of a command that was refused: NotInteger, FieldNotInteger, WrongType. Numbers, and several values in one reply, are as redis-cli
// shows them, but separated by spaces, and Nil for what is not there; a Hash for HGetAll.
func (c Call) Done(reply string) {
	now := time.Now()
	c.op.Reply, c.op.Return, c.op.ReturnAt = c.op.Kind.ordered(reply), int64(now.Sub(c.recorder.start)), now.UnixMilli()
	c.recorder.add(c.op)
}

// Unknown notes that nobody knows whether the command took effect, or will yet. An
// unanswered read says nothing and is dropped.
func (c Call) Unknown() {
	if !c.op.Kind.Reads() {
		c.recorder.add(c.op.opened())
	}
}

// NoEffect notes that the command certainly did nothing. It is not part of the
// history: should its value be read later, no register explains it.
func (c Call) NoEffect() {}

func (r *Recorder) add(op Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops[op.Key] = append(r.ops[op.Key], op)
}

// Keys returns the keys of the history, sorted.
func (r *Recorder) Keys() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.ops))
}
