package verify

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/verify/queue"
)

// workersGroup is the group of consumers of each stream, field the one of each entry.
const (
	workersGroup = "workers"
	field        = "e"
)

func byXAdd(name, element string) []any { return []any{"XADD", name, "*", field, element} }

// openGroup makes the group, and the stream with it. Each is tried once: another queue has another name.
func (l *line) openGroup(ctx context.Context, address int) error {
	_, err := l.queues.run.do(ctx, address, "XGROUP", "CREATE", l.names[0], workersGroup, 0, "MKSTREAM")
	return err
}

// entries takes ids and elements from words, where each entry is its id, the field, and the element.
func entries(words []string) (ids, elements []string, ok bool) {
	for entry := range slices.Chunk(words, 3) {
		if len(entry) < 3 || entry[1] != field {
			return nil, nil, false
		}
		ids, elements = append(ids, entry[0]), append(elements, entry[2])
	}
	return ids, elements, true
}

// readGroup waits for new entries, or claims some that were handed out before, and says that they are dealt with.
func (l *line) readGroup(ctx context.Context, c *client) error {
	worker := l.workerOf(c)
	var ids []string
	var op queue.Op
	var err error
	if rand.IntN(10) == 0 {
		op, ids, _, err = l.claim(ctx, c.address, queue.Op{Kind: queue.Claim, Worker: worker}, 200, "0-0", 5)
	} else {
		op, ids, err = l.readNew(ctx, c.address, worker, 1+rand.IntN(3), "BLOCK", 50+rand.IntN(500))
	}
	if err != nil {
		return err
	}
	for i, element := range op.Elements {
		if rand.IntN(lossOf) == 0 {
			l.lose(c)
			return nil
		}
		if err := l.deal(ctx, c, worker, element, "XACK", l.names[0], workersGroup, ids[i]); err != nil && !errors.Is(err, errUnknown) {
			l.lose(c)
			return err
		}
	}
	return nil
}

// readNew reads entries that were not handed out yet.
func (l *line) readNew(ctx context.Context, address int, worker string, count int, wait ...any) (op queue.Op, ids []string, err error) {
	args := append([]any{"XREADGROUP", "GROUP", workersGroup, worker, "COUNT", count}, wait...)
	op, err = l.do(ctx, address, queue.Op{Kind: queue.Take, Queues: l.names, Worker: worker, Most: count}, func(op *queue.Op, reply answer) (ok bool) {
		words := strings.Fields(reply.text)
		if reply.null || len(words) == 0 || words[0] != l.names[0] {
			return reply.null
		}
		ids, op.Elements, ok = entries(words[1:])
		return ok
	}, append(args, "STREAMS", l.names[0], ">")...)
	return op, ids, err
}

// claim takes over entries that were handed out and not dealt with for some milliseconds, from one on, and returns where to go on.
func (l *line) claim(ctx context.Context, address int, what queue.Op, idle int, from string, count int) (op queue.Op, ids []string, next string, err error) {
	what.Queues = l.names
	op, err = l.do(ctx, address, what, func(op *queue.Op, reply answer) (ok bool) {
		words := strings.Fields(reply.text)
		if len(words) == 0 {
			return false
		}
		next = words[0]
		ids, op.Elements, ok = entries(words[1:]) // ids of removed entries would follow: nobody removes any
		return ok
	}, "XAUTOCLAIM", l.names[0], workersGroup, what.Worker, idle, from, "COUNT", count)
	return op, ids, next, err
}

// lookAtGroup takes all that is new, and then claims all that is not dealt with.
func (l *line) lookAtGroup(ctx context.Context, address int) error {
	const last, count = "last", 100
	for {
		op, _, err := l.readNew(ctx, address, last, count)
		if err != nil {
			return err
		}
		if len(op.Elements) == 0 {
			break
		}
	}
	for from := "0-0"; ; {
		_, _, next, err := l.claim(ctx, address, queue.Op{Kind: queue.Left, Worker: last}, 0, from, count)
		if err != nil || next == "0-0" {
			return err
		}
		from = next
	}
}
