package session

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestOwnWritesAreNotTold: with BCAST and NOLOOP a client is not told of what it writes by commands on one key, and is of all else.
func TestOwnWritesAreNotTold(t *testing.T) { proxytest.EachWay(t, testOwnWritesAreNotTold) }

func testOwnWritesAreNotTold(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Contains(t, c.Do("HELLO 3"), "proto")
	require.Equal(t, "+OK\r\n", c.Do("CLIENT TRACKING ON BCAST NOLOOP"))
	told := func(key string) {
		t.Helper()
		require.Equal(t, fmt.Sprintf(">2\r\n$10\r\ninvalidate\r\n*1\r\n$%d\r\n%s\r\n", len(key), key), c.Reply())
	}
	for i := range 20 {
		key := fmt.Sprint("k", i)
		require.Equal(t, "+OK\r\n", c.Do("SET own v"))
		require.Equal(t, "+OK\r\n", c.Do("MSET own1 v own2 v"))
		require.Equal(t, "+OK\r\n", other.Do("SET "+key+" v"))
		told(key)
	}
	require.Equal(t, "+OK\r\n", c.Do("MSET {o}1 v {o}2 v"), "who else may be part of that is not known")
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*2\r\n$4\r\n{o}1\r\n$4\r\n{o}2\r\n", c.Reply())
}

// TestWhatOthersWriteIsTold: whatever is told before and behind the answers to a client's own writes, of the same keys, it hears of each version of others, and of none of its own that was
// answered.
func TestWhatOthersWriteIsTold(t *testing.T) {
	for seed := range uint64(3000) {
		h := &ownHistory{rand: rand.New(rand.NewPCG(seed, 1)), heard: map[uint64]bool{}}
		h.patience = time.Hour
		for seq := range uint64(1 + h.rand.IntN(30)) {
			h.step(seq)
		}
		h.tell(h.untold)
		h.answer()
		for _, seq := range h.others {
			require.True(t, h.heard[seq], "seed %d: the version %d of somebody else was not told", seed, seq)
		}
		for _, seq := range h.mine {
			require.False(t, h.heard[seq], "seed %d: the client was told of its own version %d", seed, seq)
		}
	}
}

// ownHistory is what is written to a key, by a client and by others, and told.
type ownHistory struct {
	ownWrites
	rand                             *rand.Rand
	mine, others, unanswered, untold []uint64
	heard                            map[uint64]bool
}

func (h *ownHistory) step(seq uint64) {
	switch h.rand.IntN(4) {
	case 0:
		h.begin()
		h.mine, h.unanswered, h.untold = append(h.mine, seq), append(h.unanswered, seq), append(h.untold, seq)
	case 1:
		h.others, h.untold = append(h.others, seq), append(h.untold, seq)
	case 2:
		h.rand.Shuffle(len(h.untold), func(i, k int) { h.untold[i], h.untold[k] = h.untold[k], h.untold[i] })
		n := h.rand.IntN(len(h.untold) + 1)
		h.tell(h.untold[:n])
		h.untold = slices.Clone(h.untold[n:])
	default:
		h.answer()
	}
}

func (h *ownHistory) tell(list []uint64) {
	var changed []route.Changed
	for _, seq := range list {
		changed = append(changed, route.Changed{Slot: 1, Key: []byte("k"), Version: record.Version{Seq: seq}})
	}
	h.ownWrites.tell(changed, h.hear)
}

func (h *ownHistory) hear(changed []route.Changed) {
	for _, c := range changed {
		h.heard[c.Version.Seq] = true
	}
}

// answer has all of the client's writes be answered.
func (h *ownHistory) answer() {
	for _, seq := range h.unanswered {
		h.add(ownVersion{1, record.Version{Seq: seq}})
	}
	h.unanswered = nil
	h.end(h.hear)
}

// TestAnAnswerThatDoesNotComeIsNotWaitedFor: then a client is told, of whatever it is.
func TestAnAnswerThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	var o ownWrites
	heard := make(chan []route.Changed, 1)
	o.begin()
	changed := []route.Changed{{Slot: 1, Key: []byte("k"), Version: record.Version{Seq: 1}}}
	o.tell(changed, func(c []route.Changed) { heard <- c })
	select {
	case c := <-heard:
		require.Equal(t, changed, c)
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was told")
	}
}

// TestOwnVersionsAreBounded: those of long ago are forgotten.
func TestOwnVersionsAreBounded(t *testing.T) {
	var o ownWrites
	for seq := range uint64(10 * maxOwn) {
		o.add(ownVersion{1, record.Version{Seq: seq}})
	}
	require.LessOrEqual(t, len(o.known)+len(o.before), 2*maxOwn)
	require.True(t, o.is(route.Changed{Slot: 1, Version: record.Version{Seq: 9 * maxOwn}}))
	require.False(t, o.is(route.Changed{Slot: 2, Version: record.Version{Seq: 9 * maxOwn}}))
	require.False(t, o.is(route.Changed{Slot: 1, Version: record.Version{Seq: 1}}))
}
