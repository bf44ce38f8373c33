//go:build unix

package libraries

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A queue with acknowledgement, as programs write it: a worker moves a job to a list of its own, and removes it from there when it is done. It says that it is alive; what is in the list of one
// that does not is put back by the others.
const (
	jobs    = "{queue}:jobs"
	workers = "{queue}:workers" // names of those that have, or had, a list: a slow one that others took for dead may take a job again
	alive   = time.Second
)

func workOf(worker string) string  { return "{queue}:work:" + worker }
func aliveOf(worker string) string { return "{queue}:alive:" + worker }

// queueWorker does jobs until its context ends.
type queueWorker struct {
	*goredis.Client
	name string
	do   func(job string) (goOn bool)
}

// run returns when the worker dies, with what it has, or all is over. What went wrong is tried again.
func (w queueWorker) run(ctx context.Context) {
	for ctx.Err() == nil {
		_, err := w.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			p.SAdd(ctx, workers, w.name)
			p.Set(ctx, aliveOf(w.name), "yes", alive)
			return nil
		})
		if err != nil {
			continue
		}
		_ = w.recover(ctx)
		if goOn := w.some(ctx); !goOn {
			return
		}
	}
}

// some does what is in the worker's list, which an answer that was lost may have left there, and then what comes, for a while.
func (w queueWorker) some(ctx context.Context) (goOn bool) {
	left, err := w.LRange(ctx, workOf(w.name), 0, -1).Result()
	if err != nil {
		return true
	}
	for _, job := range left {
		if !w.one(ctx, job) {
			return false
		}
	}
	for until := time.Now().Add(alive / 4); time.Now().Before(until); {
		job, err := w.BLMove(ctx, jobs, workOf(w.name), "RIGHT", "LEFT", alive/4).Result()
		if err != nil { // there is none, or it is unknown
			return true
		}
		if !w.one(ctx, job) {
			return false
		}
	}
	return true
}

func (w queueWorker) one(ctx context.Context, job string) (goOn bool) {
	if !w.do(job) {
		return false
	}
	for ctx.Err() == nil && w.LRem(ctx, workOf(w.name), 1, job).Err() != nil { // it may be removed already: that is the same
	}
	return true
}

// recover puts back what workers have that do not live.
func (w queueWorker) recover(ctx context.Context) error {
	names, err := w.SMembers(ctx, workers).Result()
	for _, name := range names {
		err = w.Watch(ctx, func(tx *goredis.Tx) error { // a worker that comes back meanwhile keeps its list
			if n, err := tx.Exists(ctx, aliveOf(name)).Result(); err != nil || n > 0 {
				return err
			}
			left, err := tx.LLen(ctx, workOf(name)).Result()
			if err != nil || left == 0 {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
				for range left {
					p.LMove(ctx, workOf(name), jobs, "RIGHT", "RIGHT")
				}
				return nil
			})
			return err
		}, aliveOf(name), workOf(name))
	}
	return err
}

// TestQueueWithAcknowledgement: every job is done though workers die with theirs and nodes are killed, and in the end nobody has any.
func TestQueueWithAcknowledgement(t *testing.T) {
	const least = 1000
	underKills(t, func(proxies []string, over func() bool) {
		var done sync.Map
		var different, deaths atomic.Int32
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer end()
		start := func(i int) {
			w := queueWorker{dialPrograms(t, proxies[i%2]), fmt.Sprint("worker-", i), func(job string) bool {
				if n, _ := strconv.Atoi(job); n%40 == 20 && i < 6 {
					deaths.Add(1)
					return false // it dies with the job; those that come instead do not
				}
				if _, again := done.LoadOrStore(job, true); !again {
					different.Add(1)
				}
				return true
			}}
			running.Go(func() { w.run(ctx) })
		}
		for i := range 9 {
			start(i)
		}
		producer := dialPrograms(t, proxies[1])
		pushed := 0
		for ; pushed < least || !over(); pushed++ {
			for producer.LPush(ctx, jobs, pushed).Err() != nil { // of what is unknown there may be two
			}
		}
		if !assert.Eventually(t, func() bool { return int(different.Load()) == pushed }, time.Minute, 10*time.Millisecond) {
			t.Logf("%d of %d jobs are done; %v", different.Load(), pushed, nothingLeft(ctx, producer))
			return
		}
		require.Positive(t, deaths.Load())
		require.Eventually(t, func() bool { return nothingLeft(ctx, producer) == nil }, time.Minute, 10*time.Millisecond)
		t.Logf("%d jobs, %d workers died", pushed, deaths.Load())
	})
}

var errLeft = errors.New("jobs are left")

// nothingLeft reports whether no list has any job.
func nothingLeft(ctx context.Context, client *goredis.Client) (err error) {
	lists, err := client.Keys(ctx, workOf("*")).Result()
	if err != nil {
		return err
	}
	for _, list := range append(lists, jobs) {
		switch n, failed := client.LLen(ctx, list).Result(); {
		case failed != nil:
			return failed
		case n > 0:
			err = errors.Join(err, fmt.Errorf("%w: %d in %s", errLeft, n, list))
		}
	}
	return err
}
