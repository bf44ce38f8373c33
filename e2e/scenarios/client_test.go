//go:build linux

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/quolldb/quoll/e2e/compose"
	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/history"
)

// client is one client of the load and what it knows for sure.
type client struct {
	load  *load
	id    int
	proxy *compose.Service
	redis *redis.Client
	// counted increments of its counter were acknowledged, and maybe have an unknown outcome.
	counted, maybe int64
	own            [32]ownKey
	answered       atomic.Int64
	wrong          error // the first value that it read and cannot be
}

// ownKey is a key that only one client writes, with numbers that grow.
type ownKey struct {
	sent, acked int
	unknown     []int // of unknown outcome: they may take effect at any time, or never
}

// newClient returns a client that repeats nothing by itself and waits longer than a proxy does.
func newClient(l *load, id int, p *compose.Service) *client {
	return &client{load: l, id: id, proxy: p, redis: connect(p)}
}

func connect(p *compose.Service) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: p.Client(), MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second, ReadTimeout: readTimeout})
}

func (c *client) work() {
	for i := 0; !c.load.stopping.Load(); i++ {
		var how outcome.Outcome
		switch i % 8 {
		case 0:
			how = c.count()
		case 1, 2:
			how = c.write(rand.IntN(len(c.own)))
		case 3:
			how = c.read(rand.IntN(len(c.own)))
		default:
			how = c.contend()
		}
		time.Sleep(pace)
		if how != outcome.Answered {
			time.Sleep(4 * pace) // as patient as clients are that were refused
		}
	}
}

// do executes a command.
func (c *client) do(args ...any) (reply string, how outcome.Outcome) {
	began := time.Now()
	value, err := c.redis.Do(context.Background(), args...).Result()
	how = c.load.ended(c.proxy, began, args, err)
	if how == outcome.Answered {
		c.answered.Add(1)
	}
	return outcome.Reply(value, err), how
}

func (c *client) counter() string       { return fmt.Sprint("counter:", c.id) }
func (c *client) ownName(i int) string  { return fmt.Sprint("own:", c.id, ":", i) }
func ownValue(key string, n int) string { return fmt.Sprint(key, "=", n) }

func (c *client) count() outcome.Outcome {
	_, how := c.do("incr", c.counter())
	switch how {
	case outcome.Answered:
		c.counted++
	case outcome.Unknown:
		c.maybe++
	}
	return how
}

func (c *client) write(i int) outcome.Outcome {
	k := &c.own[i]
	k.sent++
	_, how := c.do("set", c.ownName(i), ownValue(c.ownName(i), k.sent))
	switch how {
	case outcome.Answered:
		k.acked = k.sent
	case outcome.Unknown:
		k.unknown = append(k.unknown, k.sent)
	}
	return how
}

func (c *client) read(i int) outcome.Outcome {
	reply, how := c.do("get", c.ownName(i))
	if how == outcome.Answered && c.wrong == nil {
		c.wrong = c.own[i].check(c.ownName(i), reply)
	}
	return how
}

// check compares what the key holds with what it may hold.
func (k *ownKey) check(key, value string) error {
	if k.acked == 0 && value == history.Nil {
		return nil
	}
	_, text, _ := strings.Cut(value, "=")
	n, err := strconv.Atoi(text)
	if err != nil || value != ownValue(key, n) || n != k.acked && !slices.Contains(k.unknown, n) {
		return fmt.Errorf("%s holds %.80q, but %d was acknowledged last, and of these nothing is known: %v", key, value, k.acked, k.unknown)
	}
	return nil
}

// contend executes a random command on a key that all clients change.
func (c *client) contend() outcome.Outcome {
	command, call, end := c.load.history.begin(c.id)
	defer end()
	reply, how := c.do(command.Args()...)
	switch how {
	case outcome.Answered:
		call.Done(reply)
	case outcome.NoEffect:
		call.NoEffect()
	default:
		call.Unknown()
	}
	if how != outcome.Unknown {
		c.load.history.decided(command.Key)
	}
	return how
}

// verify reads back what was acknowledged, through a proxy of a healthy cluster.
func (c *client) verify(through *redis.Client) error {
	wrong := c.wrong
	for i := range c.own {
		value, err := through.Get(context.Background(), c.ownName(i)).Result()
		reply := outcome.Reply(value, err)
		wrong = errors.Join(wrong, c.own[i].check(c.ownName(i), reply))
	}
	value, err := through.Get(context.Background(), c.counter()).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		wrong = errors.Join(wrong, err)
	}
	if value < c.counted || value > c.counted+c.maybe {
		wrong = errors.Join(wrong, fmt.Errorf("%s is %d, but %d increments were acknowledged, and %d have an unknown outcome", c.counter(), value, c.counted, c.maybe))
	}
	return wrong
}
