package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/verify/queue"
)

// line is one queue, or two of which consumers take from whichever has something, and what was done with it.
type line struct {
	queues   *queues
	kind     *kindOfQueue
	names    []string
	underWay sync.WaitGroup
	pushes   int          // of queues
	waiting  atomic.Int64 // elements, about

	mu      sync.Mutex
	history []queue.Op
	workers map[int]string // the name that a client has as a worker
	all     []string       // workers that ever were
	lost    []string       // those that left something, perhaps
	unclear bool           // some outcome is unknown
	foreign []queue.Violation
}

// kindOfQueue is a way to produce and consume.
type kindOfQueue struct {
	name       string
	discipline queue.Discipline
	open       func(l *line, ctx context.Context, address int) error
	push       func(name, element string) []any
	consume    func(l *line, ctx context.Context, c *client) error
	look       func(l *line, ctx context.Context, address int) error
}

// kindsOfQueues are all of them, each at as many places.
var kindsOfQueues = [...]kindOfQueue{
	{"BLPOP", queue.Popped, (*line).openNothing, byRPush, (*line).pop, (*line).lookAtLists},
	{"BLMOVE", queue.Moved, (*line).openNothing, byRPush, (*line).move, (*line).lookAtLists},
	{"XREADGROUP", queue.Grouped, (*line).openGroup, byXAdd, (*line).readGroup, (*line).lookAtGroup},
}

func byRPush(name, element string) []any { return []any{"RPUSH", name, element} }

// newLine makes the nth queue. One of which elements are popped has two keys, in different slots; of others all keys are in one.
func (q *queues) newLine(kind, n int) *line {
	l := &line{queues: q, kind: &kindsOfQueues[kind], workers: map[int]string{}}
	name := fmt.Sprintf("%s{queue:%s:%d}", q.run.prefix, q.run.id(), n)
	if l.names = []string{name}; l.kind.discipline == queue.Popped {
		l.names = []string{fmt.Sprint(q.run.prefix, "queue:", n, ":a"), fmt.Sprint(q.run.prefix, "queue:", n, ":b")}
	}
	return l
}

// openNothing: a list is there with its first element.
func (l *line) openNothing(context.Context, int) error { return nil }

func (l *line) open(ctx context.Context, address int) error { return l.kind.open(l, ctx, address) }

func (l *line) look(ctx context.Context, address int) error { return l.kind.look(l, ctx, address) }

// keys are all that may exist.
func (l *line) keys() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := slices.Clone(l.names)
	if l.kind.discipline == queue.Moved {
		for _, worker := range l.all {
			keys = append(keys, l.listOf(worker))
		}
	}
	return keys
}

// ops are what was done until now.
func (l *line) ops() []queue.Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.history)
}

// do sends a command, and notes what comes of it. Answered completes the operation by the answer, as which one of the wrong form does not count.
func (l *line) do(ctx context.Context, address int, op queue.Op, answered func(op *queue.Op, reply answer) bool, args ...any) (queue.Op, error) {
	run := l.queues.run
	op.Begin = l.queues.now()
	began := time.Now()
	reply, err := run.store.do(ctx, address, args...)
	op.End = l.queues.now()
	if err == nil && op.Kind == queue.Take {
		run.operations.Add(1) // how long it waited says nothing
	} else {
		run.count(began, address, op.Kind != queue.Left, err)
	}
	var text string
	switch known := asReply(err); {
	case errors.Is(err, errUnknown):
		op.Outcome = queue.Unknown
	case known != "", err != nil && strings.HasPrefix(err.Error(), "NOGROUP"):
		op.Outcome, text = queue.Refused, err.Error()
	case err != nil:
		op.Outcome = queue.Refused
	case !answered(&op, reply):
		op.Outcome, text = queue.Unknown, "it was answered "+reply.String()
		err = errUnknown
	}
	l.note(op, args, text)
	return op, err
}

// note keeps an operation, and tells what is wrong with its answer, if anything is. What only looks at something, and what was refused and is no push, says nothing without an answer.
func (l *line) note(op queue.Op, args []any, wrong string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wrong != "" {
		fault := foreign
		if strings.HasPrefix(wrong, "NOGROUP") {
			fault = queue.Lost
		}
		l.foreign = append(l.foreign, queue.Violation{Fault: fault, Queue: op.Queues[0], Text: fmt.Sprintf("%.200s: %s", fmt.Sprint(args...), wrong)})
	}
	l.unclear = l.unclear || op.Outcome == queue.Unknown
	if op.Kind == queue.Left && op.Outcome != queue.Acknowledged || op.Outcome == queue.Refused && op.Kind != queue.Push {
		return
	}
	l.history = append(l.history, op)
	switch n := int64(len(op.Elements)); {
	case op.Kind == queue.Push && op.Outcome != queue.Refused, op.Kind == queue.Return && op.Outcome == queue.Acknowledged:
		l.waiting.Add(n)
	case op.Kind == queue.Take && op.Outcome == queue.Acknowledged:
		l.waiting.Add(-n)
	}
}

// foreign is the fault of an answer that no such command has.
const foreign queue.Fault = "foreign"

// state reports whether the outcome of something is unknown, and whether some answer was none that a queue gives.
func (l *line) state() (unclear, isForeign bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unclear, len(l.foreign) > 0
}

// anyAnswer is right.
func anyAnswer(*queue.Op, answer) bool { return true }

// push puts a new element at the end.
func (l *line) push(ctx context.Context, address int) error {
	n := l.queues.now()
	name := l.names[int(n)%len(l.names)]
	element := fmt.Sprint("e", n)
	_, err := l.do(ctx, address, queue.Op{Kind: queue.Push, Queues: []string{name}, Elements: []string{element}}, anyAnswer, l.kind.push(name, element)...)
	return err
}

// workerOf is the name of a client.
func (l *line) workerOf(c *client) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.workers[c.number] == "" {
		l.workers[c.number] = fmt.Sprintf("worker-%d", len(l.all)+1)
		l.all = append(l.all, l.workers[c.number])
	}
	return l.workers[c.number]
}

// lose declares a worker lost, with all that it has. The client is another one from then on.
func (l *line) lose(c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = append(l.lost, l.workers[c.number])
	delete(l.workers, c.number)
}
