package world

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/resp"
)

// rushTime is how long the many clients stay: what they bring takes real time.
const rushTime = 2 * time.Second

// overload brings many clients that send more than slow disks can take. Nobody looks at what they write, but for whether replicas agree about it.
func overload(ctx context.Context, w *World) {
	for _, m := range w.machines {
		m.store.disk().latency.Store(int64(5*time.Millisecond) + w.random.Int64N(int64(100*time.Millisecond)))
	}
	var all sync.WaitGroup
	defer all.Wait()
	rush, cancel := context.WithTimeout(ctx, rushTime)
	defer cancel()
	for i := range 20 + w.random.IntN(20) {
		name := fmt.Sprint("crowd", i)
		c := &client{world: w, name: name, host: w.net.host(name), random: randomOf(w.cfg.Seed, name)}
		all.Go(func() { c.crowd(rush) })
	}
	for w.next(ctx, time.Second, 5*time.Second) {
		blows[w.random.IntN(len(blows))](w)
	}
}

// crowd writes as much as it can.
func (c *client) crowd(ctx context.Context) {
	defer c.hangUp()
	value := bytes.Repeat([]byte("v"), 1<<(5+c.random.IntN(6)))
	for ctx.Err() == nil {
		if c.conn == nil && !c.connect() {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		refused, err := c.many(50+c.random.IntN(300), value)
		if err != nil {
			c.hangUp()
		}
		if refused { // to try again at once would only be a load of refusals
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// many sends many commands together, takes their replies, and reports whether the last one was refused.
func (c *client) many(commands int, value []byte) (refused bool, err error) {
	var out []byte
	for range commands {
		out = resp.AppendArray(out, 3)
		out = resp.AppendBulk(out, "SET")
		out = resp.AppendBulk(out, fmt.Sprint(c.name, ":", c.random.IntN(100)))
		out = resp.AppendBulk(out, value)
	}
	_ = c.conn.SetDeadline(time.Now().Add(time.Minute))
	var writing sync.WaitGroup
	defer writing.Wait()
	conn := c.conn
	writing.Go(func() { _, _ = conn.Write(out) }) // the reader learns of an error, too
	for range commands {
		if _, refused, err = readReply(c.in); err != nil {
			return false, err
		}
	}
	return refused, nil
}
