//go:build linux

package powercut

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// writers write without a pause and remember what was acknowledged. Each has keys of its own,
// which it writes once, and a counter.
type writers struct {
	all    [24]writer
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

type writer struct {
	id     int
	client *redis.Client

	mu    sync.Mutex
	known known
}

// known is what one client was told.
type known struct {
	id    int
	keys  []int // numbers of the keys that were acknowledged
	count int64 // of the counter: its value in the last reply
}

// A snapshot is what all clients were told by some moment.
type snapshot []known

// size counts the acknowledged writes.
func (s snapshot) size() (keys, increments int64) {
	for _, k := range s {
		keys, increments = keys+int64(len(k.keys)), increments+k.count
	}
	return keys, increments
}

func startWriters(t *testing.T, proxy string) *writers {
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{cancel: cancel}
	for i := range w.all {
		one := &w.all[i]
		one.id, one.known.id = i, i
		one.client = redis.NewClient(&redis.Options{Addr: proxy, MaxRetries: -1, ReadTimeout: 10 * time.Second, ContextTimeoutEnabled: true})
		t.Cleanup(func() { _ = one.client.Close() })
		w.wait.Go(func() { one.work(ctx) })
	}
	t.Cleanup(w.stop)
	return w
}

func (w *writers) stop() {
	w.cancel()
	w.wait.Wait()
}

// snapshot returns what is known now.
func (w *writers) snapshot() (s snapshot) {
	for i := range w.all {
		one := &w.all[i]
		one.mu.Lock()
		s = append(s, known{one.known.id, slices.Clone(one.known.keys), one.known.count})
		one.mu.Unlock()
	}
	return s
}

// work writes until ctx is done.
func (w *writer) work(ctx context.Context) {
	for i := 1; ctx.Err() == nil; i++ {
		var err error
		if i%4 == 0 {
			err = w.increment()
		} else {
			err = w.write(i)
		}
		if err != nil { // the power is off, or was: what became of the command nobody knows
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (w *writer) write(i int) error {
	err := w.client.Set(context.Background(), key(w.id, i), valueOf(w.id, i), 0).Err()
	if err == nil {
		w.mu.Lock()
		w.known.keys = append(w.known.keys, i)
		w.mu.Unlock()
	}
	return err
}

func (w *writer) increment() error {
	count, err := w.client.Incr(context.Background(), counter(w.id)).Result()
	if err == nil {
		w.mu.Lock()
		w.known.count = count
		w.mu.Unlock()
	}
	return err
}

func counter(id int) string     { return fmt.Sprint("counter:", id) }
func key(id, number int) string { return fmt.Sprint("k:", id, ":", number) }

// valueOf is what a key holds: mostly some bytes, now and then many, so that stores have
// to do with both.
func valueOf(id, number int) string {
	size, word := 200, key(id, number)+"."
	if number%3 == 0 {
		size = 48 << 10
	}
	return strings.Repeat(word, 1+size/len(word))
}
