package route

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
)

func TestExecuteEndsThoughNobodyAnswers(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(300 * time.Millisecond)
	f.play(func(*request) {})
	began := time.Now()
	k := f.key(2)
	b := run(t, c, get("a"), set("b", "v"), set(k, "1"), get(k))
	require.Equal(t, []string{refused(ErrTimeout), unknownOutcome, unknownOutcome, refused(ErrTimeout)}, texts(b))
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
}

func TestCloseEndsWhatIsExecuted(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	arrived := make(chan *request, 10)
	f.play(func(r *request) { arrived <- r })
	result := runLater(t, c, get("a"), set("b", "v"))
	for range 3 {
		<-arrived
	}
	c.Close()
	require.Equal(t, []string{refused(ErrNoMajority), unknownOutcome}, texts(<-result))
	require.Equal(t, []string{refused(ErrNoMajority), refused(ErrNoMajority)}, texts(run(t, c, get("a"), set("b", "v"))))
}

// Replies that come after a batch was given up are not taken for those of its next use.
func TestLateRepliesAndReuseOfTheBatch(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(300 * time.Millisecond)
	late := make(chan *request, 10)
	f.play(func(r *request) { late <- r })
	b := new(Batch).fill(set("a", "1"), get("b"))
	c.Execute(b)
	require.Equal(t, []string{unknownOutcome, refused(ErrTimeout)}, texts(b))

	var first sync.Once // of several nodes at a time
	f.play(func(r *request) {
		first.Do(func() {
			for len(late) > 0 {
				old := <-late
				if old.isWrite() {
					old.done("-late\r\n")
				} else {
					old.vote(9, "-late\r\n")
				}
			}
		})
		f.answer(r)
	})
	for range 3 {
		c.Execute(b.fill(set("a", "2"), get("b")))
		require.Equal(t, []string{"+OK\r\n", "$-1\r\n"}, texts(b))
	}
}

// IDs on the wire have a limited number of generations.
func TestGenerationsOfBatchesWrapAround(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	c.batches.mu.Lock()
	c.batches.counter = 1<<generationBits - 3
	c.batches.mu.Unlock()
	b := new(Batch)
	for range 6 {
		c.Execute(b.fill(set("a", "v"), get("b")))
		require.Equal(t, []string{"+OK\r\n", "$-1\r\n"}, texts(b))
	}
}

func TestLargeBatches(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	var requests []command.Request
	for i := range 2500 {
		key := fmt.Sprint("key", i)
		requests = append(requests, set(key, key), get(fmt.Sprint("key", i-500)))
	}
	b := new(Batch)
	for range 2 {
		c.Execute(b.fill(requests...))
		for i := range 2500 {
			require.Equal(t, "+OK\r\n", b.Ops[2*i].text())
			if i >= 500 {
				key := fmt.Sprint("key", i-500)
				require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(key), key), b.Ops[2*i+1].text())
			}
		}
	}
	for _, n := range f.nodes {
		require.EqualValues(t, 2, n.frames.Load(), "one frame to each node")
	}
}

func TestFramesAreSplit(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	value := strings.Repeat("x", 100<<10)
	var requests []command.Request
	for _, key := range f.keys(40, 1) {
		requests = append(requests, set(key, value), get(key))
	}
	b := run(t, c, requests...)
	for i := range b.Ops {
		require.Equal(t, []string{"+OK\r\n", fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)}[i%2], b.Ops[i].text())
	}
	require.EqualValues(t, 4, f.nodes[0].frames.Load())
	require.Less(t, f.nodes[0].longest.Load(), int64(fullFrame+len(value)+1000))
	for _, frame := range b.state.frames {
		require.LessOrEqual(t, cap(frame.buf), maxKeptShared, "large buffers are not kept")
	}
}

func TestBacklog(t *testing.T) {
	f := startRing(t, 3)
	c := f.coordinator(300 * time.Millisecond)
	c.cfg.SlowTimeout = 500 * time.Millisecond
	keys := f.keys(2, 1)
	f.nodes[0].freeze()
	b := new(Batch).fill(set(keys[0], strings.Repeat("x", 70<<20)))
	c.Execute(b)
	require.Equal(t, []string{unknownOutcome}, texts(b))
	require.Equal(t, []string{refused(ErrOverloaded)}, texts(run(t, c, set(keys[1], "v"))))
	require.Empty(t, f.seen())
	f.nodes[0].thaw()
}

func TestTooLarge(t *testing.T) {
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1)
	half := strings.Repeat("x", 65<<20)
	huge := set(key, half)
	huge.Args = append(slices.Clip(huge.Args), huge.Args[2])
	b := new(Batch).fill(huge)
	c.Execute(b)
	require.Equal(t, []string{refused(errTooLarge)}, texts(b))
	require.Empty(t, f.seen())
}
