//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// writers are clients that write in pipelines, each to keys of its own, of which it
// knows the state after the last acknowledged command.
type writers struct {
	t       *testing.T
	clients []*writer
	acked   atomic.Int64
}

// writer is one of them.
type writer struct {
	all   *writers
	redis *redis.Client
	keys  []ownKey
	next  int // the key to write to

	refused, unknown int // commands that had no effect, and of which nobody knows
}

// ownKey is a key that one client writes to.
type ownKey struct {
	name string
	ownState
	// may is the state if the command of unknown outcome was executed. There is one at the most: it
	// may be executed at any time, so the key is left alone from then on.
	may *ownState
}

// ownState is what a key holds.
type ownState struct {
	value  string // a number, empty for none
	lapses bool   // it expires within a moment
}

const (
	// writersCount pipelines of writersTrip commands are under way at a time.
	writersCount, writersTrip = 8, 50
	// moment is the longest time in milliseconds that what lapses lives.
	moment = 300
)

// newWriters returns clients with about so many keys in all, of which none exists.
func newWriters(t *testing.T, proxy string, keys int) *writers {
	w := &writers{t: t}
	for i := range writersCount {
		c := &writer{all: w, redis: connect(t, proxy), keys: make([]ownKey, max(keys/writersCount, 2*writersTrip))}
		for k := range c.keys {
			c.keys[k].name = fmt.Sprint("own:", i, ":", k)
		}
		w.clients = append(w.clients, c)
	}
	return w
}

// write lets the clients work until so many more commands are acknowledged.
func (w *writers) write(commands int) {
	w.t.Helper()
	var running sync.WaitGroup
	until, deadline := w.acked.Load()+int64(commands), time.Now().Add(3*time.Minute)
	for _, c := range w.clients {
		running.Go(func() {
			for w.acked.Load() < until && time.Now().Before(deadline) && !w.t.Failed() {
				c.trip()
			}
		})
	}
	running.Wait()
	require.False(w.t, w.t.Failed())
	require.GreaterOrEqual(w.t, w.acked.Load(), until, "the clients were not served: %s", w.describe())
}

// ownChange is a command, the reply that it must have, empty for any, and what it makes of its key.
type ownChange struct {
	key   *ownKey
	args  []any
	reply string
	after ownState
}

// trip writes to the next keys. A pipeline has one command for a key: the next one depends on how
// the last one ended.
func (c *writer) trip() {
	var changes []ownChange
	pipe := c.redis.Pipeline()
	for range writersTrip {
		k := &c.keys[c.next]
		c.next = (c.next + 1) % len(c.keys)
		if k.may == nil {
			changes = append(changes, k.change())
			pipe.Do(context.Background(), changes[len(changes)-1].args...)
		}
	}
	replies, _ := pipe.Exec(context.Background())
	refused := c.refused
	for i, reply := range replies {
		change := &changes[i]
		value, err := reply.(*redis.Cmd).Result()
		switch outcome.Of(err) {
		case outcome.Answered:
			c.all.acked.Add(1)
			got := outcome.Reply(value, err)
			assert.Contains(c.all.t, []string{got, ""}, change.reply, "%v on %+v: %s", change.args, *change.key, got)
			change.key.ownState = change.after
		case outcome.NoEffect:
			c.refused++
		case outcome.Unknown:
			c.unknown++
			change.key.may = &change.after
		}
	}
	if c.refused > refused {
		time.Sleep(patience) // as clients do: another node has to take over
	}
}

// change draws a command. What lapses may be there or not: only commands to which that does not
// matter follow.
func (k *ownKey) change() ownChange {
	number, ttl := strconv.Itoa(1+rand.IntN(1000)), 1+rand.IntN(moment)
	there := k.value != ""
	one := map[bool]string{false: "0", true: "1"}[there]
	if k.lapses {
		one = ""
	}
	switch kind := rand.IntN(12); {
	case kind < 3 && !k.lapses && len(k.value) < 15:
		after := k.value + number
		return ownChange{k, []any{"append", k.name, number}, strconv.Itoa(len(after)), ownState{value: after}}
	case kind < 6 && !k.lapses:
		n, _ := strconv.Atoi(k.value) // of nothing: 0
		after := strconv.Itoa(n + 1)
		return ownChange{k, []any{"incr", k.name}, after, ownState{value: after}}
	case kind == 6 && !k.lapses:
		return ownChange{k, []any{"pexpire", k.name, ttl}, one, ownState{k.value, there}}
	case kind == 7 && !k.lapses:
		return ownChange{k, []any{"pexpire", k.name, time.Hour.Milliseconds()}, one, k.ownState}
	case kind == 8:
		return ownChange{k, []any{"set", k.name, number, "px", ttl}, "OK", ownState{number, true}}
	case kind == 9:
		return ownChange{k, []any{"del", k.name}, one, ownState{}}
	}
	return ownChange{k, []any{"set", k.name, number}, "OK", ownState{value: number}}
}

// check reads every key through the proxy: it holds what was acknowledged last.
func (w *writers) check() {
	w.t.Helper()
	began := time.Now()
	for _, c := range w.clients {
		for some := range slices.Chunk(c.keys, 500) {
			var values []redis.Cmder
			cluster.Await(w.t, "all reads are answered", func() bool {
				pipe := c.redis.Pipeline()
				for i := range some {
					pipe.Get(w.t.Context(), some[i].name)
				}
				values, _ = pipe.Exec(w.t.Context())
				return !slices.ContainsFunc(values, func(r redis.Cmder) bool { return outcome.Of(r.Err()) != outcome.Answered })
			})
			for i, reply := range values {
				value, err := reply.(*redis.StringCmd).Result()
				if !errors.Is(err, redis.Nil) {
					require.NoError(w.t, err)
				}
				require.True(w.t, some[i].right(value), "%s holds %q, but was %+v, and may be %+v", some[i].name, value, some[i].ownState, some[i].may)
			}
		}
	}
	w.t.Logf("every key holds what was acknowledged, read in %v", time.Since(began).Round(time.Millisecond))
}

// right reports whether a key may hold a value now that all that lapses has.
func (k *ownKey) right(value string) bool {
	return value == k.last() || k.may != nil && value == k.may.last()
}

func (s *ownState) last() string {
	if s.lapses {
		return ""
	}
	return s.value
}

// describe counts what was not acknowledged.
func (w *writers) describe() string {
	refused, unknown := 0, 0
	for _, c := range w.clients {
		refused, unknown = refused+c.refused, unknown+c.unknown
	}
	return fmt.Sprintf("%d commands refused, %d of unknown outcome", refused, unknown)
}
