package watch

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// conn collects what is told.
type conn struct {
	mu      sync.Mutex
	watched []uint64
	changed map[uint64]int
}

func (c *conn) SendFrames(frame []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	typ, body := frame[8], frame[13:] // see wire.BeginFrame
	switch wire.FrameType(typ) {
	case protocol.FrameWatched:
		ids, err := protocol.DecodeWatched(body)
		c.watched = append(c.watched, ids...)
		return err
	case protocol.FrameChanged:
		list, err := protocol.DecodeKeyChanges(body)
		for _, k := range list {
			c.changed[k.ID]++
		}
		return err
	}
	return fmt.Errorf("a frame of type %d", typ)
}

func open(t *Table) (*Watcher, *conn) {
	c := &conn{changed: map[uint64]int{}}
	return t.Open(c), c
}

func request(id uint64, kind protocol.WatchKind, key string) []byte {
	return protocol.AppendWatch(nil, &protocol.WatchRequest{ID: id, Kind: kind, Slot: ring.SlotOf([]byte(key)), Key: []byte(key)})
}

func (t *Table) change(key string, live bool) {
	slot := ring.SlotOf([]byte(key))
	if t.Any(slot) {
		t.Changed(slot, []byte(key), record.Version{Seq: 1}, live)
	}
}

func TestWhoWatchesIsTold(t *testing.T) {
	var table Table
	a, toA := open(&table)
	b, toB := open(&table)
	require.NoError(t, a.Frame(append(request(1, protocol.WatchFilled, "k"), request(2, protocol.WatchOnce, "k")...)))
	require.NoError(t, b.Frame(request(1, protocol.WatchFilled, "k")))
	require.Equal(t, []uint64{1, 2}, toA.watched)
	table.change("k", false)
	require.Equal(t, map[uint64]int{2: 1}, toA.changed, "who waits for the key does not hear that it is gone")
	table.change("k", true)
	table.change("k", true)
	table.change("other", true)
	require.Equal(t, map[uint64]int{1: 2, 2: 1}, toA.changed, "who wanted to hear once has heard")
	require.Equal(t, map[uint64]int{1: 2}, toB.changed)

	require.NoError(t, a.Frame(request(3, protocol.WatchOnce, "k")))
	table.Cleared(ring.SlotOf([]byte("k")), record.Version{Seq: 9})
	require.Equal(t, 1, toA.changed[3])
	require.Equal(t, map[uint64]int{1: 2}, toB.changed)

	a.Close()
	require.NoError(t, b.Frame(protocol.AppendWatch(nil, &protocol.WatchRequest{ID: 1})))
	table.change("k", true)
	require.Equal(t, map[uint64]int{1: 2}, toB.changed)
	require.False(t, table.Any(ring.SlotOf([]byte("k"))))
}

func TestNonsenseIsAnError(t *testing.T) {
	var table Table
	w, to := open(&table)
	require.Error(t, w.Frame([]byte{1, 99}))
	require.Error(t, w.Frame([]byte{1}))
	require.NoError(t, w.Frame(append(request(1, protocol.WatchFilled, "k"), request(1, protocol.WatchFilled, "again")...)))
	require.Equal(t, []uint64{1}, to.watched, "a number is one key's")
	var none *Watcher
	require.ErrorIs(t, none.Frame(nil), ErrNoProxy)
	none.Close()
}

// TestAWatcherIsBounded: a proxy that asks for more than it may is not told that it watches.
func TestAWatcherIsBounded(t *testing.T) {
	var table Table
	w, to := open(&table)
	w.bytes = maxBytes - keyCost - 1
	require.NoError(t, w.Frame(append(request(1, protocol.WatchFilled, "k"), request(2, protocol.WatchFilled, "l")...)))
	require.Equal(t, []uint64{1}, to.watched)
}

// TestTheTableIsAsAModel: whatever is watched, told and ended, nobody hears of what he does not watch, and everybody of what he does.
func TestTheTableIsAsAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type model struct {
			key  string
			kind protocol.WatchKind
		}
		var table Table
		var watchers [3]*Watcher
		var conns [3]*conn
		var is [3]map[uint64]model
		var told [3]map[uint64]int
		for i := range watchers {
			watchers[i], conns[i] = open(&table)
			is[i], told[i] = map[uint64]model{}, map[uint64]int{}
		}
		key := rapid.SampledFrom([]string{"a", "b", "{a}c"})
		for id := range uint64(rapid.IntRange(1, 60).Draw(t, "steps")) {
			who := rapid.IntRange(0, 2).Draw(t, "who")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				m := model{key.Draw(t, "key"), protocol.WatchKind(rapid.IntRange(1, 3).Draw(t, "kind"))}
				is[who][id] = m
				if err := watchers[who].Frame(request(id, m.kind, m.key)); err != nil {
					t.Fatal(err)
				}
			case 2:
				k, live := key.Draw(t, "key"), rapid.Bool().Draw(t, "live")
				table.change(k, live)
				for i := range is {
					for n, m := range is[i] {
						if m.key == k && (live || m.kind != protocol.WatchFilled) {
							told[i][n]++
						}
						if m.key == k && m.kind == protocol.WatchOnce {
							delete(is[i], n)
						}
					}
				}
			case 3:
				for n := range is[who] {
					delete(is[who], n)
					_ = watchers[who].Frame(protocol.AppendWatch(nil, &protocol.WatchRequest{ID: n}))
					break
				}
			case 4:
				k := key.Draw(t, "key")
				slot := ring.SlotOf([]byte(k))
				table.Cleared(slot, record.Version{})
				for i := range is {
					for n, m := range is[i] {
						if ring.SlotOf([]byte(m.key)) != slot || m.kind == protocol.WatchFilled {
							continue
						}
						if told[i][n]++; m.kind == protocol.WatchOnce {
							delete(is[i], n)
						}
					}
				}
			}
		}
		for i := range conns {
			if fmt.Sprint(conns[i].changed) != fmt.Sprint(told[i]) {
				t.Fatalf("watcher %d heard %v, and should have heard %v", i, conns[i].changed, told[i])
			}
			watchers[i].Close()
		}
		for i := range table.shards {
			if n := len(table.shards[i].keys); n != 0 || table.Any(uint16(i)) {
				t.Fatalf("%d keys are watched by nobody", n)
			}
		}
	})
}
