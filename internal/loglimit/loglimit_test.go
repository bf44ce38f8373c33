package loglimit

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// output is written to by the goroutine of a timer, too.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// logger returns a logger whose lines a handler of this package limits, and what it writes.
func logger(t *testing.T) (*slog.Logger, *Handler, *output) {
	var out output
	h := New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	t.Cleanup(h.Close)
	return slog.New(h), h, &out
}

func TestManyLinesOfAKindAreSummed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, _, out := logger(t)
		gossip := log.With("component", "gossip")
		for i := range 13_010 {
			gossip.Warn(fmt.Sprintf("msg type (%d) not supported from=127.0.0.%d:%d", i%256, i%250, i), "n", i)
		}
		require.Equal(t, Burst, strings.Count(out.String(), "\n"))
		log.With("component", "node").Warn("something else")
		require.Contains(t, out.String(), "something else")

		time.Sleep(Window)
		synctest.Wait()
		require.Contains(t, out.String(), `"… and 12,990 more in 1m0s like: msg type`)
		require.Contains(t, out.String(), "n=13009")
		require.Contains(t, out.String(), "component=gossip")
		lines := strings.Count(out.String(), "\n")
		require.Equal(t, Burst+2, lines)

		gossip.Warn("msg type (1) not supported from=127.0.0.1:1")
		require.Equal(t, lines+1, strings.Count(out.String(), "\n"), "the next minute begins anew")
		time.Sleep(2 * Window)
		synctest.Wait()
		require.Equal(t, lines+1, strings.Count(out.String(), "\n"), "nothing was held back, so nothing is told")
	})
}

func TestFewLinesPassEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, _, out := logger(t)
		for range 5 * Burst {
			log.Error("x")
			time.Sleep(Window / Burst)
		}
		require.Equal(t, 5*Burst, strings.Count(out.String(), "\n"))
		for range 5 * Burst {
			log.Debug("asked for")
		}
		require.Equal(t, 10*Burst, strings.Count(out.String(), "\n"))
	})
}

func TestCloseTellsWhatWasHeldBack(t *testing.T) {
	log, h, out := logger(t)
	for range Burst + 3 {
		log.WithGroup("g").Error("x")
	}
	h.Close()
	require.Contains(t, out.String(), "… and 3 more")
	lines := strings.Count(out.String(), "\n")
	log.Error("x")
	require.Equal(t, lines+1, strings.Count(out.String(), "\n"), "nobody would tell of it any more")
}

// TestKindsAreBounded: a stranger who can choose messages does not fill the memory either.
func TestKindsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, h, out := logger(t)
		word := func(i int) string { // another kind each, for lack of digits
			return strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j").Replace(fmt.Sprint(i))
		}
		for i := range 10 * maxKinds {
			log.Warn(word(i))
		}
		h.limiter.mu.Lock()
		require.LessOrEqual(t, len(h.limiter.kinds), maxKinds+1)
		h.limiter.mu.Unlock()
		require.Less(t, strings.Count(out.String(), "\n"), 2*maxKinds)
		time.Sleep(Window)
		synctest.Wait()
		require.Contains(t, out.String(), " more in 1m0s like: ")
		log.Warn("zz")
		require.Contains(t, out.String(), "msg=zz")
	})
}
