//go:build unix

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/history"
)

// loadClient is one client and what it knows for sure.
type loadClient struct {
	load     *load
	id       int
	redis    *redis.Client
	recorded *history.Client
	trips    int
	served   atomic.Int64 // when the last command began that was answered: load.now
	counter  counted      // increments of its counter
	fields   counted      // increments of its field
	written  []string     // keys of its own that hold what own says
	churned  [4]churned   // keys of its own that it overwrites
	refused  bool         // something was, in its last trip
	appended int
}

// longestPipeline is how many commands a client sends at once at the most.
const longestPipeline = 5

// impatientTimeOut is how long a impatient client waits for a reply: less than a proxy does,
// and than a slow replica takes.
const impatientTimeOut = 60 * time.Millisecond

func newLoadClient(l *load, id int, proxy string) *loadClient {
	c := &loadClient{load: l, id: id, redis: l.cfg.login.connectFor(l.t, proxy, slowTimeout+slack), recorded: l.recorder.Client()}
	if id < l.cfg.impatient {
		c.redis = l.cfg.login.connectFor(l.t, proxy, impatientTimeOut)
	}
	return c
}

func (c *loadClient) work() {
	for i := 0; !c.load.stopping.Load(); i++ {
		switch i % 10 {
		case 0:
			c.count()
		case 1:
			c.write(i)
		case 2:
			c.journal()
		case 3:
			c.contendInPipeline()
		case 4:
			if c.load.cfg.size > 0 {
				c.churn()
				break
			}
			c.contend()
		case 5:
			c.countField()
		case 6:
			c.pushElement(i)
		default:
			c.contend()
		}
		if c.refused && c.load.cfg.patient {
			time.Sleep(patience)
		}
		time.Sleep(pace)
	}
}

// do executes commands, several of them as a pipeline, and notes the errors that are
// no replies of Redis. ended is called for each command, in their order.
func (c *loadClient) do(commands [][]any, ended func(i int, reply string, how outcome.Outcome)) {
	c.trips++
	c.refused = false
	began := c.load.now()
	pipe := c.redis.Pipeline()
	for _, args := range commands {
		pipe.Do(context.Background(), args...)
	}
	replies, sent := pipe.Exec(context.Background())
	if slices.ContainsFunc(replies, func(reply redis.Cmder) bool { return reply.Err() != nil }) {
		sent = nil
	}
	for i, reply := range replies {
		value, err := reply.(*redis.Cmd).Result()
		err = cmp.Or(err, sent) // go-redis does not tell the commands that it could not log in
		how := outcome.Of(err)
		if how == outcome.Answered {
			c.served.Store(int64(began))
			c.load.done.Add(1)
		} else {
			c.refused = c.refused || how == outcome.NoEffect
			c.load.failed(failure{began, c.load.now() - began, tripID{c.id, c.trips}, strings.Trim(fmt.Sprintf("%v", commands[i]), "[]"), err})
		}
		ended(i, outcome.Reply(value, err), how)
	}
}

func (l *load) failed(f failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, f)
}

func (c *loadClient) counterKey() string { return fmt.Sprint(c.load.name, ":counter:", c.id) }

func (c *loadClient) count() {
	c.do([][]any{{"incr", c.counterKey()}}, func(_ int, _ string, how outcome.Outcome) { c.counter.note(how) })
}

func (c *loadClient) write(i int) {
	key := fmt.Sprint(c.load.name, ":own:", c.id, ":", i)
	c.do([][]any{{"set", key, c.load.own(key)}}, func(_ int, _ string, how outcome.Outcome) {
		if how == outcome.Answered {
			c.written = append(c.written, key)
		}
	})
}

// record executes recorded commands and returns how the last one ended.
func (c *loadClient) record(commands ...history.Command) (last outcome.Outcome) {
	var calls []history.Call
	if len(commands) > 1 {
		calls = c.recorded.Pipeline(commands)
	} else {
		calls = append(calls, c.recorded.Begin(commands[0]))
	}
	var args [][]any
	for _, command := range commands {
		args = append(args, command.Args())
	}
	c.do(args, func(i int, reply string, how outcome.Outcome) {
		switch last = how; how {
		case outcome.Answered:
			calls[i].Done(reply)
		case outcome.NoEffect:
			calls[i].NoEffect()
		case outcome.Unknown:
			calls[i].Unknown()
			return
		}
		c.load.keys.Ended(commands[i].Key)
	})
	return last
}

// journal appends some tokens in one pipeline.
func (c *loadClient) journal() {
	key := c.load.journals[rand.IntN(len(c.load.journals))]
	var commands []history.Command
	for range 1 + rand.IntN(longestPipeline) {
		c.appended++
		commands = append(commands, history.Command{Kind: history.Append, Key: key, Arg: fmt.Sprint(c.id, ".", c.appended, ";")})
	}
	c.record(commands...)
}

func (c *loadClient) contend() {
	key, serial := c.load.keys.Next(1)
	command := history.Draw(key, serial, 0)
	for range 3 {
		if c.record(command) != outcome.Unknown || c.id >= c.load.cfg.impatient {
			return
		}
		c.load.repeated.Add(1)
		c.load.keys.Again(key)
	}
}

func (c *loadClient) contendInPipeline() {
	key, serial := c.load.keys.Next(4)
	var commands []history.Command
	for place := range 4 {
		commands = append(commands, history.Draw(key, serial, place))
	}
	c.record(commands...)
}
