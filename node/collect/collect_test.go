package collect

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring/change"
)

// keys are those that members hold in the random tests. Some values are as long as a page, so that there are several pages.
var (
	keys   = []string{"key-0", "key-1", "key-2", "key-3", "key-4", "key-5", "key-6", "key-7", "key-8", "key-9"}
	values = [3]record.State{text(""), text(strings.Repeat("v", pageBytes/2)), text(strings.Repeat("v", pageBytes))}
)

// member is what a member holds.
type member struct {
	meta     record.SlotMeta
	versions map[string]record.Version
}

// draw lets a node hold something. Where one collects that stays, all members have the same clear: what it takes over with a page that is not agreed on, it shows
// itself with the next one.
func draw(t *rapid.T, n *fakeNode, stays bool) (m member) {
	number := func(what string, most uint64) uint64 {
		return rapid.Uint64Range(0, most).Draw(t, fmt.Sprint(n.id, " ", what))
	}
	m.meta = record.SlotMeta{Floor: version(number("floor", 3)), Promised: record.Ballot{Counter: number("promised", 3)}}
	if stays {
		m.meta.Cleared = version(1)
	} else if number("is cleared", 3) == 0 {
		m.meta.Cleared, m.meta.Unsure = version(1+number("clear", 2)), number("is unsure", 1) == 1
	}
	require.NoError(t, n.engine.PutSlot(slot, m.meta))
	m.versions = map[string]record.Version{}
	lags := number("lags", 1) == 1
	for i, key := range keys {
		v := version(3)
		if lags && number("lacks "+key, 2) == 0 {
			v = version(number(key, 4))
		}
		if m.meta.Cleared.Less(v) && v.Seq > 0 {
			m.versions[key] = v
			n.put(t, key, v, values[i%3])
		}
	}
	return m
}

func (m *member) version(key string) (record.Version, bool) {
	if v, held := m.versions[key]; held {
		return v, true
	}
	return m.meta.Cleared, !m.meta.Unsure
}

// agreed returns what so many of the members show.
func agreed(majority int, members []member, of func(*member) (record.Version, bool)) (record.Version, bool) {
	votes := map[record.Version]int{}
	for i := range members {
		if v, sure := of(&members[i]); sure {
			if votes[v]++; votes[v] == majority {
				return v, true
			}
		}
	}
	return record.Version{}, false
}

// TestWhatIsCollected of what three to five members hold, some of which may be down, by one that joins or stays: it is what the rule says (R18), key by key.
func TestWhatIsCollected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := []uint16{1, 2, 3, 4, 5}[:rapid.IntRange(3, 5).Draw(t, "old")]
		majority := len(old)/2 + 1
		self := rapid.SampledFrom([]uint16{1, 6}).Draw(t, "who collects")
		nodes := newFakes(old, []uint16{1, 6, 2})
		for _, id := range rapid.Permutation(old).Draw(t, "down")[:rapid.IntRange(0, len(old)-majority).Draw(t, "how many")] {
			nodes[id].down.Store(id != self)
		}
		own := draw(t, nodes[self], self == 1)
		var shown []member
		for _, id := range old {
			m := own
			if id != self {
				m = draw(t, nodes[id], self == 1)
			}
			if !nodes[id].down.Load() {
				shown = append(shown, m)
			}
		}
		n := nodes[self]
		writer := nodes[old[slices.IndexFunc(old, func(id uint16) bool { return !nodes[id].down.Load() })]]
		for _, other := range nodes {
			other.leader = writer.id
		}
		require.NoError(t, n.collectNow())

		cleared, sure := agreed(majority, shown, func(m *member) (record.Version, bool) { return m.meta.Cleared, !m.meta.Unsure })
		for i := range shown {
			if !sure {
				cleared = record.Max(cleared, shown[i].meta.Cleared)
			}
		}
		after := member{meta: own.meta, versions: map[string]record.Version{}}
		if own.meta.Cleared.Less(cleared) {
			after.meta.Cleared, after.meta.Unsure = cleared, !sure
		} else if own.meta.Cleared == cleared && sure {
			after.meta.Unsure = false
		}
		for key, v := range own.versions {
			if after.meta.Cleared.Less(v) {
				after.versions[key] = v
			}
		}
		var again []string
		for _, key := range keys {
			v, is := agreed(majority, shown, func(m *member) (record.Version, bool) { return m.version(key) })
			here, _ := after.version(key)
			_, present := after.versions[key]
			known := slices.ContainsFunc(shown, func(m member) bool { _, held := m.versions[key]; return held })
			switch {
			case is && here.Less(v):
				after.versions[key] = v
			case !is && (known || self == 1 && present), self == 1 && present && v.Less(here):
				again = append(again, key)
			}
		}
		slices.Sort(again)
		require.Equal(t, after.versions, n.holds(t))
		require.Equal(t, again, writer.written())
		meta := n.meta(t)
		require.Equal(t, []any{after.meta.Cleared, after.meta.Unsure, uint64(epoch)}, []any{meta.Cleared, meta.Unsure, meta.Epoch})
		floors, promises, fenced := 0, 0, 0
		for _, id := range old {
			m := nodes[id].meta(t)
			if !meta.Floor.Less(m.Floor) && !meta.Floor.Less(m.Cleared) {
				floors++
			}
			if !meta.Promised.Less(m.Promised) {
				promises++
			}
			if m.Epoch == epoch {
				fenced++
			}
		}
		require.GreaterOrEqual(t, min(floors, promises, fenced), majority, "it knows what a majority has, which takes part in the epoch")
	})
}

// full lets three old members hold some keys in one version.
func full(t *testing.T, nodes map[uint16]*fakeNode, count, size int) {
	for id := uint16(1); id <= 3; id++ {
		for i := range count {
			nodes[id].put(t, fmt.Sprint("key-", i), version(1), text(string(bytes.Repeat([]byte{'v'}, size))))
		}
	}
}

// task is the slot that is collected in these tests.
var task = []change.SlotEpoch{{Slot: slot, Epoch: epoch}}

// TestAValueThatIsNewerIsWrittenAgain, and not copied: nobody knows whether it is agreed on.
func TestAValueThatIsNewerIsWrittenAgain(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 3, 1)
	for id := uint16(1); id <= 3; id++ {
		nodes[id].before = func(method protocol.Method) {
			if method == protocol.MethodFetch {
				nodes[id].put(t, "key-1", version(2), text("w"))
				require.NoError(t, nodes[id].engine.Delete(slot, []byte("key-2")))
			}
		}
	}
	require.NoError(t, nodes[4].collectNow())
	require.Equal(t, map[string]record.Version{"key-0": version(1)}, nodes[4].holds(t))
	require.Equal(t, []string{"key-1", "key-2"}, nodes[1].written())
}

// TestWhoShowsNothing: one that joins itself, one in another epoch, one whose store fails.
func TestWhoShowsNothing(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	ask := func(id uint16, epoch uint64) error {
		_, err := nodes[id].AnswerShow(protocol.AppendShowRequest(nil, protocol.ShowRequest{Slot: slot, Epoch: epoch}))
		return err
	}
	require.ErrorIs(t, ask(4, epoch), errNotOld)
	require.ErrorIs(t, ask(1, epoch-1), ErrOtherEpoch)
	require.ErrorIs(t, ask(1, epoch+1), ErrOtherEpoch, "its members are not known here")
	require.Zero(t, nodes[1].meta(t).Epoch)
	require.NoError(t, ask(1, epoch))
	require.EqualValues(t, epoch, nodes[1].meta(t).Epoch)
	learn(nodes, slot, epoch+1, []uint16{1, 2, 4}, nil)
	for _, e := range []uint64{epoch, epoch + 1} {
		require.ErrorIs(t, ask(1, e), ErrOtherEpoch, "it is not joint any more")
	}
	for _, answer := range []func([]byte) ([]byte, error){nodes[1].AnswerShow,
		func(p []byte) ([]byte, error) { return nodes[1].AnswerFetch(p, nil) },
		func(p []byte) ([]byte, error) { return nodes[1].AnswerAgain(t.Context(), p) }} {
		_, err := answer([]byte{1})
		require.Error(t, err)
	}
	for _, answer := range []func([]byte) ([]byte, error){
		func(p []byte) ([]byte, error) { return nodes[1].AnswerFetch(p, nil) },
		func(p []byte) ([]byte, error) { return nodes[1].AnswerAgain(t.Context(), p) }} {
		_, err := answer(protocol.AppendKeysRequest(nil, protocol.KeysRequest{Slot: slot, Epoch: epoch, Keys: [][]byte{[]byte("k")}}))
		require.ErrorIs(t, err, ErrOtherEpoch)
	}
	require.NoError(t, nodes[1].failed)
	require.NoError(t, nodes[1].engine.Close())
	learn(nodes, slot, epoch+2, []uint16{1, 2, 4}, []uint16{1, 2, 3})
	require.Error(t, ask(1, epoch+2))
	require.Error(t, nodes[1].failed, "the node is told")
	require.ErrorIs(t, ask(1, epoch+2), errFailed)
}

// TestASourceThatGoesAwayAndComesBack holds the slot up meanwhile, which goes on where it was.
func TestASourceThatGoesAwayAndComesBack(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 20, pageBytes/2)
	shows := 0
	for id := uint16(1); id <= 2; id++ {
		nodes[id].before = func(method protocol.Method) {
			if method == protocol.MethodShow && id == 1 {
				if shows++; shows == 4 {
					nodes[1].down.Store(true)
				}
			}
		}
	}
	nodes[3].down.Store(true)
	n := nodes[4]
	n.running(t)
	n.Update(task, 1<<40)
	require.Eventually(t, func() bool { return n.Progress().Held != nil }, soon, time.Millisecond)
	require.ErrorContains(t, n.Progress().Held, "node-1: ")
	require.Equal(t, 1, n.Progress().Waiting)
	held := len(n.holds(t))
	require.Equal(t, []bool{true, true}, []bool{held > 0, held < 20})
	require.Empty(t, n.reported())
	nodes[1].down.Store(false)
	n.Soon()
	require.Eventually(t, func() bool { return len(n.reported()) == 1 }, soon, time.Millisecond)
	require.Equal(t, task, n.reported())
	require.Len(t, n.holds(t), 20)
	require.Equal(t, int64(20), n.Progress().Keys, "what was copied is not copied again")
	require.Equal(t, uint64(1), n.metrics.Collected.Value())
}

// TestAMemberThatGivesNoValues is done without: another one shows the same version.
func TestAMemberThatGivesNoValues(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 5, 10)
	nodes[3].before = func(method protocol.Method) { nodes[3].down.Store(method == protocol.MethodFetch) } // whose place it takes
	require.NoError(t, nodes[4].collectNow())
	require.Len(t, nodes[4].holds(t), 5)
}

// TestAHomeThatDoesNotWrite holds up the slot, until another one does.
func TestAHomeThatDoesNotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
		for id := uint16(1); id <= 3; id++ {
			nodes[id].put(t, "k", version(uint64(id)), text("v"))
		}
		for _, n := range nodes {
			n.refuses = true
		}
		n := nodes[4]
		n.running(t)
		n.Update(task, 0)
		time.Sleep(time.Minute)
		require.ErrorIs(t, n.Progress().Held, errNotWritten)
		require.Empty(t, n.reported())
		nodes[2].mu.Lock()
		nodes[2].refuses = false
		nodes[2].mu.Unlock()
		time.Sleep(4 * time.Second)
		require.Equal(t, task, n.reported())
		require.Equal(t, []string{"k"}, nodes[2].written())
		require.Empty(t, n.holds(t), "nothing is copied that is not agreed on")
		require.Equal(t, int64(1), n.Progress().Again)
	})
}

// TestEverybodyPointsToWhoLeaves the slot, and writes nothing that another one can write: the others are asked in turn, for one of them takes the slot over.
func TestEverybodyPointsToWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := newFakes([]uint16{1, 2, 3}, []uint16{4, 2, 3})
		for id := uint16(1); id <= 3; id++ {
			nodes[id].put(t, "k", version(uint64(id)), text("v"))
		}
		for id, n := range nodes {
			n.leader, n.refuses = 1, id != 3
		}
		n := nodes[4]
		n.running(t)
		n.Update(task, 0)
		time.Sleep(4 * time.Second)
		require.Equal(t, task, n.reported())
		require.Equal(t, []string{"k"}, nodes[3].written())
	})
}

// TestAnotherEpoch ends what was collected in the one before, and nothing of that is reported.
func TestAnotherEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
		full(t, nodes, 20, pageBytes/2)
		n := nodes[4]
		n.running(t)
		n.Update(task, pageBytes) // a page a second
		time.Sleep(4 * time.Second)
		require.NotEmpty(t, n.holds(t))
		learn(nodes, slot, epoch+1, []uint16{1, 2, 3}, nil) // given up, and the document says so later
		time.Sleep(4 * time.Second)
		require.ErrorIs(t, n.Progress().Held, ErrOtherEpoch)
		n.Update(nil, 0)
		require.Zero(t, n.Progress().Waiting)
		time.Sleep(time.Minute)
		learn(nodes, slot, epoch+2, []uint16{1, 2, 3}, []uint16{1, 3, 4})
		n.Update([]change.SlotEpoch{{Slot: slot, Epoch: epoch + 2}}, pageBytes)
		time.Sleep(2 * time.Second)
		n.Update([]change.SlotEpoch{{Slot: slot, Epoch: epoch + 3}}, 0) // before the node knows who that is
		time.Sleep(time.Minute)
		require.Empty(t, n.reported())
		learn(nodes, slot, epoch+3, []uint16{1, 2, 3}, []uint16{2, 3, 4})
		time.Sleep(time.Minute)
		require.NotEmpty(t, n.reported())
		for _, done := range n.reported() {
			require.Equal(t, change.SlotEpoch{Slot: slot, Epoch: epoch + 3}, done)
		}
	})
}

// TestWhatIsCollectedIsReported until somebody has heard of it.
func TestWhatIsCollectedIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
		n := nodes[4]
		n.running(t)
		n.Update(task, 0)
		time.Sleep(time.Second)
		require.Len(t, n.reported(), 1)
		time.Sleep(2 * reportAgain)
		require.Len(t, n.reported(), 3)
		n.Update(task, 0)
		time.Sleep(time.Second)
		require.Len(t, n.reported(), 3)
		n.Update(nil, 0)
		time.Sleep(time.Minute)
		require.Len(t, n.reported(), 3)
	})
}

// TestTheRateIsKept, and is another one at once; commands come first.
func TestTheRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pages = 20
		nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
		full(t, nodes, pages, pageBytes)
		n := nodes[4]
		n.running(t)
		n.Update(task, pageBytes/10)
		time.Sleep(30 * time.Second)
		require.InDelta(t, 3, len(n.holds(t)), 1)
		p := n.Progress()
		require.InDelta(t, pageBytes/10, p.Rate, pageBytes/8)
		require.InDelta(t, 3*pageBytes, p.Bytes, pageBytes)
		n.Update(task, 1<<40)
		n.busy.Store(true)
		time.Sleep(3 * time.Second)
		require.InDelta(t, 5, len(n.holds(t)), 2, "it waits for a while with each page")
		n.busy.Store(false)
		time.Sleep(2 * time.Second)
		require.Len(t, n.holds(t), pages)
		require.Equal(t, task, n.reported())
	})
}

// TestAFewSlotsAtATime, all of them in the end, whatever holds one of them up.
func TestAFewSlotsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := newFakes([]uint16{1}, []uint16{2})
		var all []change.SlotEpoch
		for i := range uint16(50) {
			learn(nodes, i, epoch, []uint16{1}, []uint16{2})
			all = append(all, change.SlotEpoch{Slot: i, Epoch: epoch})
		}
		learn(nodes, 3, epoch-1, []uint16{1}, []uint16{2})
		nodes[1].before = func(protocol.Method) { time.Sleep(time.Millisecond) }
		nodes[2].running(t)
		nodes[2].Update(all, 0)
		time.Sleep(time.Second)
		require.Len(t, nodes[2].reported(), 49)
		require.Equal(t, Progress{Waiting: 1, Collected: 49, Held: nodes[2].Progress().Held, Bytes: nodes[2].Progress().Bytes}, nodes[2].Progress())
		require.Equal(t, int64(slotsAtOnce), nodes[1].most.Load())
		learn(nodes, 3, epoch, []uint16{1}, []uint16{2})
		time.Sleep(2 * time.Second)
		require.Len(t, nodes[2].reported(), 50)
	})
}

// object is a large object, whatever it means.
type object []byte

func (o object) Size() int                  { return len(o) }
func (o object) AppendTo(dst []byte) []byte { return append(dst, o...) }
func (o object) Memory() int                { return len(o) }
func (o object) Reader() io.Reader          { return bytes.NewReader(o) }

// TestObjectsComeApart from the answer that refers to them. If one does not come, it is asked for again.
func TestObjectsComeApart(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	for id := uint16(1); id <= 3; id++ {
		nodes[id].loses.Store(true)
		for i := range 5 {
			nodes[id].put(t, fmt.Sprint("key-", i), version(1), record.State{Type: record.Hash, Object: object(bytes.Repeat([]byte{byte(i)}, pageBytes))})
		}
	}
	n := nodes[4]
	n.running(t)
	n.Update(task, 1<<40)
	require.Eventually(t, func() bool { return len(n.reported()) > 0 }, soon, time.Millisecond)
	for i := range 5 {
		rec, found, err := n.engine.Get(slot, fmt.Append(nil, "key-", i))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, object(bytes.Repeat([]byte{byte(i)}, pageBytes)), rec.State.Object)
	}
}

// TestAStoreThatFails ends it; one without room is tried again.
func TestAStoreThatFails(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 1, 1)
	n := nodes[4]
	n.wrong = register.ErrNoRoom
	require.ErrorIs(t, n.collectNow(), register.ErrNoRoom)
	require.NoError(t, n.failed)
	n.wrong = errBroken
	require.ErrorIs(t, n.collectNow(), errBroken)
	require.ErrorIs(t, n.failed, errBroken)
	require.ErrorIs(t, n.collectNow(), errFailed)
}

// TestAnswersThatMakeNoSense are as good as none.
func TestAnswersThatMakeNoSense(t *testing.T) {
	nodes := newFakes([]uint16{1, 2, 3}, []uint16{1, 2, 4})
	full(t, nodes, 1, 1)
	r := newRun(nodes[4].Collector, slot, epoch, time.Now())
	defer r.end()
	_, err := r.fetch(t.Context(), 1, nil)
	require.ErrorContains(t, err, "no record")
	r.from = 1 << 48
	require.ErrorContains(t, r.askOne(t.Context(), 1).err, "does not go on")
	require.ErrorContains(t, r.askOne(t.Context(), 9).err, "not known")
}
