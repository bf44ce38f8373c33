package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/verify/queue"
)

// queues is where clients produce and consume. A queue in which enough was pushed is ended: its place gets a new one, what is left in it is looked at, and it is judged (package queue).
// One that cannot be judged at once, as something is missing that may come to light, is looked at again at the end.
type queues struct {
	run   *run
	clock atomic.Int64 // orders what clients begin and end

	mu       sync.Mutex
	made     int
	places   []*line // nil until somebody has opened one there
	opening  []bool
	ended    chan *line
	judging  sync.WaitGroup
	suspects []*line  // to be looked at again
	left     []string // keys that may still be there
	total    QueueReport
}

// lives bounds a queue: pushes until it ends, and what waits in it, which is read as a whole.
const (
	queuePushes  = 2000
	queueBacklog = 200
	endedQueues  = 8
	mostSuspects = 32
)

func newQueues(r *run) *queues {
	return &queues{run: r, places: make([]*line, r.opt.Queues*len(kindsOfQueues)), opening: make([]bool, r.opt.Queues*len(kindsOfQueues)), ended: make(chan *line, endedQueues),
		total: QueueReport{Taken: map[string]int64{}}}
}

// now is a moment: later than all that were before.
func (q *queues) now() int64 { return q.clock.Add(1) }

// enter returns the queue at a place, in which an operation is to be counted in (line.leave ends it), or nil: somebody is about to open one, or too many wait to be judged.
func (q *queues) enter(ctx context.Context, place, address int) (*line, error) {
	q.mu.Lock()
	if l := q.places[place]; l != nil {
		l.underWay.Add(1)
		q.mu.Unlock()
		return l, nil
	}
	if q.opening[place] || len(q.suspects) >= mostSuspects {
		q.mu.Unlock()
		return nil, nil
	}
	q.opening[place] = true
	q.made++
	l := q.newLine(place%len(kindsOfQueues), q.made)
	q.mu.Unlock()
	err := l.open(ctx, address)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opening[place] = false
	if err != nil {
		q.left = append(q.left, l.keys()...)
		return nil, err
	}
	q.places[place] = l
	l.underWay.Add(1)
	return l, nil
}

// pushed counts a push, and ends the queue after the last one, if it can be judged soon: else it goes on.
func (q *queues) pushed(place int, l *line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.pushes++; l.pushes < queuePushes || q.places[place] != l {
		return
	}
	select {
	case q.ended <- l:
		q.places[place] = nil
	default:
	}
}

// work starts judging, close ends it. What is still open, or was not judged when the context ended, is to be looked at then.
func (q *queues) work(ctx context.Context) { q.judging.Go(func() { q.judge(ctx) }) }

func (q *queues) close() {
	close(q.ended)
	q.judging.Wait()
	for _, l := range q.places {
		if l != nil {
			q.suspects = append(q.suspects, l)
		}
	}
}

func (q *queues) judge(ctx context.Context) {
	for l := range q.ended {
		l.underWay.Wait()
		ctx, cancel := context.WithTimeout(ctx, askTime)
		if !q.settle(ctx, l, false) {
			q.mu.Lock()
			q.suspects = append(q.suspects, l)
			q.mu.Unlock()
		}
		cancel()
	}
}

// enoughLooks are those after which what is missing is lost: what is brought back, and handed out again, while somebody looks may be missed by one.
const enoughLooks = 3

// settle looks at what is left in a queue until all that was acknowledged was seen, judges it, and removes its keys. What is missing may come to light only while something is unknown. If the
// context ends before, what was found counts if this is the last time.
// It reports whether the queue was judged.
func (q *queues) settle(ctx context.Context, l *line, last bool) bool {
	looks := 0
	for n := 0; ; n++ {
		ok := l.look(ctx, n%q.run.store.addresses()) == nil
		if ok {
			looks++
		}
		result := queue.Check(l.kind.discipline, l.ops())
		over := ctx.Err() != nil
		unclear, foreign := l.state()
		if foreign && looks == 0 { // it may never be possible to look
			result, ok = queue.Result{}, true
		}
		if ok && (!unclear || !result.Has(queue.Lost)) || over && last && looks >= enoughLooks {
			q.blame(l, result)
			q.remove(l)
			return true
		}
		if over {
			return false
		}
		rest(ctx)
	}
}

// classes are those of faults.
var classes = map[queue.Fault]Class{queue.Lost: Lost, queue.Unseen: Stale}

// blame counts what was found.
func (q *queues) blame(l *line, result queue.Result) {
	for _, v := range append(result.Violations, l.foreign...) {
		class, known := classes[v.Fault]
		if !known {
			class = Wrong
		}
		q.run.findings.add(&Finding{class, v.Queue, fmt.Sprintf("%s, element %q, %s: %s", l.kind.name, v.Element, v.Fault, v.Text)})
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &q.total
	t.Queues++
	t.Pushed += int64(result.Pushed)
	t.Taken[l.kind.name] += int64(result.Taken)
	t.Again += int64(result.Again)
	t.Unknown += int64(result.Unknown)
	t.Excused += int64(result.Excused)
}

// remove deletes the keys of a queue, unless they are to be kept. Where something is unknown it may come back.
func (q *queues) remove(l *line) {
	if q.run.opt.Keep {
		return
	}
	keys := l.keys()
	_, err := q.run.store.do(context.Background(), len(keys)%q.run.store.addresses(), command("DEL", keys)...)
	if unclear, _ := l.state(); unclear || err != nil {
		q.mu.Lock()
		q.left = append(q.left, keys...)
		q.mu.Unlock()
	}
}

// readBack judges what is left of all queues until the context ends, and returns how many nobody could read.
func (q *queues) readBack(ctx context.Context) (unread int) {
	return inParallel(q.run.opt.Clients, q.suspects, func(_ int, l *line) bool {
		if q.settle(ctx, l, true) {
			return true
		}
		q.mu.Lock()
		q.left = append(q.left, l.keys()...)
		q.mu.Unlock()
		return false
	})
}

// step lets a client produce or consume. Of three clients one produces, as consumers have more to do. A single one does both.
func (q *queues) step(ctx context.Context, c *client) error {
	place := rand.IntN(len(q.places))
	l, err := q.enter(ctx, place, c.address)
	if err != nil || l == nil {
		return orIdle(err)
	}
	defer l.underWay.Done()
	if err = q.serve(ctx, c, place, l); err != nil { // as others do, who try the next one
		c.address = (c.address + 1) % q.run.store.addresses()
	}
	return err
}

// serve produces or consumes something.
func (q *queues) serve(ctx context.Context, c *client, place int, l *line) error {
	produces := c.number%3 == 0
	if c.run.opt.Clients < 2 {
		produces = rand.IntN(2) == 0
	}
	if !produces || l.waiting.Load() > queueBacklog {
		return l.kind.consume(l, ctx, c)
	}
	if rand.IntN(50) == 0 {
		rest(ctx) // so that queues become empty now and then, and consumers wait
	}
	err := l.push(ctx, c.address)
	q.pushed(place, l)
	return err
}

// errIdle: there is nothing to do for the moment.
var errIdle = errors.New("no queue is open")

func orIdle(err error) error {
	if err == nil {
		return errIdle
	}
	return err
}

// probe finds out whether an address can do what queues need.
func (q *queues) probe(ctx context.Context, address int, key string) error {
	key = "{" + key + "}"
	for _, command := range [][]any{{"RPUSH", key, "1", "2"}, {"BLPOP", key, "1"}, {"BLMOVE", key, key + ":worker", "LEFT", "RIGHT", "1"}, {"LREM", key + ":worker", "1", "2"},
		{"XGROUP", "CREATE", key, workersGroup, "0", "MKSTREAM"}, {"XADD", key, "*", field, "1"}, {"XREADGROUP", "GROUP", workersGroup, "worker", "BLOCK", "1", "STREAMS", key, ">"}, {"DEL", key}} {
		if _, err := q.run.store.do(ctx, address, command...); err != nil {
			return err
		}
	}
	return nil
}

// remaining are the keys that may still be there.
func (q *queues) remaining() []string {
	if q == nil {
		return nil
	}
	return q.left
}

// into says in a report what was done.
func (q *queues) into(r *Report) {
	if q != nil {
		r.Queues = &q.total
	}
}
