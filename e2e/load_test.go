//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/history"
)

// load is a number of clients that work without a pause, one command at a time
// each: on a few keys that all of them change, whose history is recorded; and on keys of their own,
// of which each knows what was acknowledged.
type load struct {
	t        testing.TB
	recorder *history.Recorder
	clients  []*loadClient
	began    time.Time
	serial   atomic.Int64 // of recorded commands
	done     atomic.Int64 // commands answered
	stopping atomic.Bool
	running  sync.WaitGroup

	mu       sync.Mutex
	failures []failure
}

// failure is a command that a client got an error for.
type failure struct {
	began, took time.Duration // since the load began
	command     string
	err         error
}

// loadClient is one client and what it knows for sure.
type loadClient struct {
	load    *load
	id      int
	redis   *redis.Client
	acked   int64 // increments of its counter that were acknowledged
	unknown int64 // increments of unknown outcome
	written []string
}

const (
	// loadClients commands at the most are under way at any time.
	loadClients = 16
	// The recorded commands go to windows of keys, commandsPerKey to each.
	keysPerWindow  = 8
	commandsPerKey = 60
	// pace leaves the machine some air: a starved node looks like a dead one.
	pace = time.Millisecond
)

// startLoad starts clients of the given proxies, spread evenly.
func startLoad(t testing.TB, proxies []string) *load {
	l := &load{t: t, recorder: history.NewRecorder(), began: time.Now()}
	for i := range loadClients {
		c := &loadClient{load: l, id: i, redis: connect(t, proxies[i%len(proxies)])}
		require.NoError(t, c.redis.Ping(t.Context()).Err())
		l.clients = append(l.clients, c)
	}
	for _, c := range l.clients {
		l.running.Go(c.work)
	}
	t.Cleanup(l.stop)
	return l
}

// stop waits until every command has its answer.
func (l *load) stop() {
	l.stopping.Store(true)
	l.running.Wait()
}

// progress waits until n more commands are answered.
func (l *load) progress(n int64) {
	l.t.Helper()
	until := l.done.Load() + n
	cluster.Await(l.t, fmt.Sprint(n, " more commands are answered"), func() bool { return l.done.Load() >= until })
}

func (l *load) now() time.Duration { return time.Since(l.began) }

func (c *loadClient) work() {
	for i := 0; !c.load.stopping.Load(); i++ {
		switch i % 10 {
		case 0:
			c.count()
		case 1:
			c.write(i)
		default:
			c.contend()
		}
		time.Sleep(pace)
	}
}

// do executes a command and notes an error that is no reply of Redis.
func (c *loadClient) do(args ...any) (reply string, outcome outcome) {
	began := c.load.now()
	value, err := c.redis.Do(context.Background(), args...).Result()
	if outcome = outcomeOf(err); outcome != answered {
		c.load.mu.Lock()
		defer c.load.mu.Unlock()
		c.load.failures = append(c.load.failures, failure{began, c.load.now() - began, strings.Trim(fmt.Sprintf("%v", args), "[]"), err})
		return "", outcome
	}
	c.load.done.Add(1)
	switch {
	case errors.Is(err, redis.Nil):
		return history.Nil, answered
	case err != nil:
		return err.Error(), answered
	}
	return fmt.Sprint(value), answered
}

// outcome is what a client knows of its command.
type outcome int

const (
	answered outcome = iota
	noEffect
	unknownOutcome
)

// outcomeOf takes the words that client libraries repeat a command on for what they
// must mean: nothing was done.
func outcomeOf(err error) outcome {
	var reply redis.Error
	var network *net.OpError
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return answered
	case errors.As(err, &network) && network.Op == "dial":
		return noEffect
	case !errors.As(err, &reply), strings.HasPrefix(err.Error(), "UNKNOWN "):
		return unknownOutcome
	case strings.HasPrefix(err.Error(), "CLUSTERDOWN "), strings.HasPrefix(err.Error(), "TRYAGAIN "):
		return noEffect
	}
	return answered
}

func (c *loadClient) counter() string { return fmt.Sprint("counter:", c.id) }

func (c *loadClient) count() {
	switch _, outcome := c.do("incr", c.counter()); outcome {
	case answered:
		c.acked++
	case unknownOutcome:
		c.unknown++
	}
}

func (c *loadClient) write(i int) {
	key := fmt.Sprint("own:", c.id, ":", i)
	if _, outcome := c.do("set", key, key); outcome == answered {
		c.written = append(c.written, key)
	}
}

var kinds = []history.Kind{history.Get, history.Get, history.Get, history.Set, history.Incr, history.Incr,
	history.Append, history.Del, history.SetNX, history.GetSet}

func (c *loadClient) contend() {
	serial := c.load.serial.Add(1)
	window := serial / (keysPerWindow * commandsPerKey)
	command := history.Command{Kind: kinds[rand.IntN(len(kinds))], Key: fmt.Sprint("h:", window, ":", serial%keysPerWindow)}
	args := []any{string(command.Kind), command.Key}
	switch command.Kind {
	case history.Set, history.SetNX, history.GetSet:
		command.Arg = strconv.FormatInt(serial*1000, 10) // Incr does not reach the next one
	case history.Append:
		command.Arg = strconv.FormatInt(serial, 10)
	}
	if command.Arg != "" {
		args = append(args, command.Arg)
	}
	call := c.load.recorder.Begin(command)
	switch reply, outcome := c.do(args...); outcome {
	case answered:
		call.Done(reply)
	case noEffect:
		call.NoEffect()
	case unknownOutcome:
		call.Unknown()
	}
}

// requireNothingLost reads back what was acknowledged, through the given proxy, and
// checks the recorded history.
func (l *load) requireNothingLost(proxy string) {
	l.t.Helper()
	client := connect(l.t, proxy)
	sets, increments, unknown := 0, int64(0), int64(0)
	for _, c := range l.clients {
		value, err := client.Get(l.t.Context(), c.counter()).Int64()
		require.NoError(l.t, err)
		require.GreaterOrEqual(l.t, value, c.acked, "%s lost acknowledged increments", c.counter())
		require.LessOrEqual(l.t, value, c.acked+c.unknown, "%s was incremented too often", c.counter())
		increments, unknown = increments+c.acked, unknown+c.unknown
		for keys := c.written; len(keys) > 0; {
			n := min(len(keys), 200)
			values, err := client.MGet(l.t.Context(), keys[:n]...).Result()
			require.NoError(l.t, err)
			for i, value := range values {
				require.Equal(l.t, keys[i], value, "an acknowledged write is lost")
			}
			sets, keys = sets+n, keys[n:]
		}
	}
	result := l.recorder.Check(20 * time.Second)
	l.t.Logf("%d commands answered; %d acknowledged sets and %d acknowledged increments (%d unknown) are there; history: %s",
		l.done.Load(), sets, increments, unknown, result)
	require.NoError(l.t, result.Err())
}

// requireFewErrors checks that there were no more errors than commands under way
// when something broke, and that all of those came from commands begun within reaction of that moment.
func (l *load) requireFewErrors(broke, reaction time.Duration) {
	l.t.Helper()
	words, atTheTime := map[string]int{}, 0
	for _, f := range l.failures {
		word, _, _ := strings.Cut(f.err.Error(), " ")
		words[word]++
		if f.began < broke {
			atTheTime++
		}
		l.t.Logf("error: begun %v after the fault, took %v: %s: %.100s", (f.began - broke).Round(time.Millisecond), f.took.Round(time.Millisecond), f.command, f.err)
		require.Less(l.t, f.began, broke+reaction, "a command that began after the fault was noticed failed: %s: %v", f.command, f.err)
		require.Greater(l.t, f.began+f.took, broke, "a command failed before the fault: %s: %v", f.command, f.err)
		require.Less(l.t, f.took, operationTimeout+slack, "%s: %v", f.command, f.err)
	}
	l.t.Logf("%d errors %v, %d of them of commands under way at the instant of the fault; at most %d could be", len(l.failures), words, atTheTime, loadClients)
	require.LessOrEqual(l.t, len(l.failures), loadClients)
}
