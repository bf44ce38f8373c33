package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/verify/queue"
)

// taken takes the elements from the answer to BLPOP or BLMPOP, behind the name of the queue they are from.
func taken(op *queue.Op, reply answer) bool {
	if reply.null {
		return true
	}
	words := strings.Fields(reply.text)
	if len(words) < 2 || len(words) > 1+max(1, op.Most) || !slices.Contains(op.Queues, words[0]) {
		return false
	}
	op.Queues = append([]string{words[0]}, slices.DeleteFunc(slices.Clone(op.Queues), func(name string) bool { return name == words[0] })...)
	op.Elements = words[1:]
	return true
}

// element takes the one element of an answer, if there is one.
func element(op *queue.Op, reply answer) bool {
	if !reply.null {
		op.Elements = []string{reply.word()}
	}
	return true
}

// seconds is how long a command waits.
func seconds() string { return fmt.Sprintf("%.2f", 0.05+rand.Float64()/2) }

// pop waits for an element of some queue, or a few.
func (l *line) pop(ctx context.Context, c *client) error {
	from := slices.Clone(l.names)
	switch rand.IntN(3) {
	case 0:
		slices.Reverse(from)
	case 1:
		from = from[rand.IntN(2):][:1]
	}
	op := queue.Op{Kind: queue.Take, Queues: from, Most: 1}
	args := append(command("BLPOP", from), seconds())
	if rand.IntN(3) == 0 {
		op.Most = 3
		args = append(append([]any{"BLMPOP", seconds(), len(from)}, command("", from)[1:]...), "LEFT", "COUNT", op.Most)
	}
	_, err := l.do(ctx, c.address, op, taken, args...)
	return err
}

// listOf is the key of a worker's list.
func (l *line) listOf(worker string) string { return l.names[0] + ":" + worker }

// lossOf is one in how many elements whose worker is lost with it.
const lossOf = 40

// move waits for an element, which goes to the client's own list, and removes it there when it is dealt with. Or it returns what a lost worker had.
func (l *line) move(ctx context.Context, c *client) error {
	if worker := l.takeLost(); worker != "" {
		return l.bringBack(ctx, c, worker)
	}
	worker := l.workerOf(c)
	op, err := l.do(ctx, c.address, queue.Op{Kind: queue.Take, Queues: l.names, Worker: worker}, element,
		"BLMOVE", l.names[0], l.listOf(worker), "LEFT", "RIGHT", seconds())
	switch {
	case errors.Is(err, errUnknown):
		l.lose(c)
		return err
	case err != nil || len(op.Elements) == 0:
		return err
	case rand.IntN(lossOf) == 0:
		l.lose(c)
		return nil
	}
	err = l.deal(ctx, c, worker, op.Elements[0], "LREM", l.listOf(worker), 1, op.Elements[0])
	if err != nil {
		l.lose(c)
	}
	return err
}

// deal says that an element has been dealt with. What is refused is tried again, a few times.
func (l *line) deal(ctx context.Context, c *client, worker, element string, args ...any) (err error) {
	for range tries {
		_, err = l.do(ctx, c.address, queue.Op{Kind: queue.Done, Queues: l.names, Worker: worker, Elements: []string{element}}, removed, args...)
		if err == nil || errors.Is(err, errUnknown) {
			return err
		}
		rest(ctx)
		c.address = (c.address + 1) % l.queues.run.store.addresses()
	}
	return err
}

// removed is the answer to what removes one element.
func removed(op *queue.Op, reply answer) bool {
	op.None = reply.text == "0"
	return op.None || reply.text == "1"
}

// takeLost returns a worker that is lost and that nobody else takes care of, now and then.
func (l *line) takeLost() (worker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lost) == 0 || rand.IntN(4) > 0 {
		return ""
	}
	worker = l.lost[0]
	l.lost = l.lost[1:]
	return worker
}

// bringBack puts all that is in a lost worker's list in front of the queue again.
func (l *line) bringBack(ctx context.Context, c *client, worker string) error {
	for {
		op, err := l.do(ctx, c.address, queue.Op{Kind: queue.Return, Queues: l.names, Worker: worker}, element,
			"LMOVE", l.listOf(worker), l.names[0], "RIGHT", "LEFT")
		if err != nil {
			l.mu.Lock()
			l.lost = append(l.lost, worker)
			l.mu.Unlock()
			return err
		}
		if len(op.Elements) == 0 {
			return nil
		}
	}
}

// page is how many elements are read at once.
const page = 500

// lookAtLists reads the queues, and the lists of all workers.
func (l *line) lookAtLists(ctx context.Context, address int) error {
	for _, name := range l.names {
		if err := l.lookAtList(ctx, address, name, queue.Op{Kind: queue.Left, Queues: []string{name}}); err != nil {
			return err
		}
	}
	if l.kind.discipline == queue.Popped {
		return nil
	}
	l.mu.Lock()
	workers := slices.Clone(l.all)
	l.mu.Unlock()
	for _, worker := range workers {
		if err := l.lookAtList(ctx, address, l.listOf(worker), queue.Op{Kind: queue.Left, Queues: l.names, Worker: worker}); err != nil {
			return err
		}
	}
	return nil
}

func (l *line) lookAtList(ctx context.Context, address int, key string, op queue.Op) error {
	for from := 0; ; from += page {
		seen, err := l.do(ctx, address, op, func(op *queue.Op, reply answer) bool {
			op.Elements = strings.Fields(reply.text)
			return !reply.null
		}, "LRANGE", key, from, from+page-1)
		if err != nil || len(seen.Elements) < page {
			return err
		}
	}
}
