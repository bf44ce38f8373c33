package migrate

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// writer writes items to the target.
type writer struct {
	to      *Server
	worker  int
	replace bool
	pace    *pace
	// tell is told what became of each item.
	tell func(i *item, what outcome, why string)
}

// write writes items, whose bytes fit into a pipeline. An error is one that ends the copy: some may be written.
func (w *writer) write(ctx context.Context, items []item) error {
	now, bytes := time.Now().UnixMilli(), 0
	var left []*item
	for i := range items {
		if what, why, sent := items[i].outcomeOf(now, w.to.longest); !sent {
			w.tell(&items[i], what, why)
			continue
		}
		left = append(left, &items[i])
		bytes += len(items[i].payload)
	}
	if err := w.pace.wait(ctx, bytes); err != nil {
		return err
	}
	var busy []*item
	err := patiently(ctx, func() (again error) {
		left, busy, again = w.restore(ctx, left, busy)
		return again
	})
	if err != nil || len(busy) == 0 {
		return err
	}
	return w.compare(ctx, busy)
}

// restore sends items. It returns those that have to be sent again, and why; and adds those to busy that are there already.
func (w *writer) restore(ctx context.Context, items, busy []*item) (left, more []*item, again error) {
	if len(items) == 0 {
		return nil, busy, nil
	}
	pipe := w.to.client(w.worker).Pipeline()
	answers := make([]*redis.Cmd, len(items))
	for n, i := range items {
		args := []any{"RESTORE", i.key, i.expireAt, i.payload, "ABSTTL"}
		if w.replace {
			args = append(args, "REPLACE")
		}
		answers[n] = pipe.Do(ctx, args...)
	}
	_, _ = pipe.Exec(ctx) // each has its error
	for n, i := range items {
		switch err := answers[n].Err(); {
		case err == nil:
			w.tell(i, copied, "")
		case begins(err, []string{"BUSYKEY"}):
			busy = append(busy, i)
		case passes(err), begins(err, hopeless):
			i.tried = true
			left = append(left, i)
			if again == nil || !passes(err) {
				again = err
			}
		default:
			w.tell(i, refused, err.Error())
		}
	}
	return left, busy, again
}

// compare finds out whether what is there already is the same.
func (w *writer) compare(ctx context.Context, busy []*item) error {
	keys := make([]string, len(busy))
	for n, i := range busy {
		keys[n] = i.key
	}
	n := 0
	return w.to.load(ctx, w.worker, keys, func(there []item) error {
		for t := range there {
			i := busy[n]
			n++
			switch {
			case !i.print().same(there[t].print()):
				w.tell(i, existing, "it is there with another value, or expires at another time")
			case i.tried:
				w.tell(i, copied, "")
			default:
				w.tell(i, same, "")
			}
		}
		return nil
	})
}
