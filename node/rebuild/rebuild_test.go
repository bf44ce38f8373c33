package rebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
)

// fill gives nodes many records, of which each node lacks some, and only the damaged one has others.
func fill(t *testing.T, nodes []*fakeNode) (want map[string]string) {
	want = map[string]string{}
	for i := range 40 {
		key, text := fmt.Sprint("key-", i), strings.Repeat("v", rebuildBytes/8)
		want[key] = text
		for k, n := range nodes[1:] {
			if i%3 != k {
				require.NoError(t, n.engine.Put(slot, []byte(key), value(text, uint64(i)+1)))
			}
		}
	}
	require.NoError(t, nodes[0].engine.Put(slot, []byte("foreign"), value("v", 1)))
	return want
}

// TestADamagedSlotIsCopied from all its other replicas, in many frames, and nothing that it held is left.
func TestADamagedSlotIsCopied(t *testing.T) {
	nodes := newFakes(t, 3, nil)
	want := fill(t, nodes)
	n := nodes[0]
	n.damage()
	slots, first := n.Damaged()
	require.Equal(t, []uint16{slot}, slots)
	require.ErrorIs(t, first, engine.ErrCorrupt)
	require.Zero(t, n.pass(t.Context()))
	require.Equal(t, want, n.content(t))
	require.NoError(t, n.err)
	slots, first = n.Damaged()
	require.Empty(t, slots)
	require.NoError(t, first)
	require.EqualValues(t, 1, n.metrics.Rebuilt.Value())
	require.Greater(t, n.others[0].(*fakePeer).asks.Load(), int64(3))
	require.Empty(t, n.runs)
	for _, other := range nodes[1:] {
		require.Equal(t, n.id, other.acceptor.Meta().Promised.Member(), "they have promised")
	}
}

// TestNothingIsRemovedUntilAllHavePromised: what it holds may yet be the last copy. It goes on where it was.
func TestNothingIsRemovedUntilAllHavePromised(t *testing.T) {
	nodes := newFakes(t, 3, nil)
	want := fill(t, nodes)
	n := nodes[0]
	last := n.others[1].(*fakePeer)
	last.down.Store(true)
	n.damage()
	require.Equal(t, 1, n.pass(t.Context()))
	require.Contains(t, n.content(t), "foreign")
	require.ErrorIs(t, n.err, engine.ErrCorrupt, "it does not vote")
	last.down.Store(false)
	require.Zero(t, n.pass(t.Context()))
	require.Equal(t, want, n.content(t))
}

// TestWhatAFormerProcessBeganIsDamaged, and goes on as soon as there is a ring.
func TestWhatAFormerProcessBeganIsDamaged(t *testing.T) {
	nodes := newFakes(t, 3, func(n *fakeNode) {
		if n.id == 1 {
			require.NoError(t, n.engine.PutSlot(slot, record.SlotMeta{Epoch: 1, Rebuilding: true}))
		}
	})
	want := fill(t, nodes)
	n := nodes[0]
	require.True(t, n.Begun(slot))
	require.False(t, n.Begun(slot+1))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.Run(ctx) }()
	n.mu.Lock()
	n.damage() // which opening it finds
	n.mu.Unlock()
	require.Contains(t, n.content(t), "foreign", "there is no ring yet")
	close(n.formed)
	require.Eventually(t, func() bool { slots, _ := n.Damaged(); return len(slots) == 0 }, 10*time.Second, time.Millisecond)
	cancel()
	<-ended
	require.Equal(t, want, n.content(t))
}

func TestTheOnlyReplicaIsNotRebuilt(t *testing.T) {
	n := newFakes(t, 1, nil)[0]
	require.NoError(t, n.engine.Put(slot, []byte("k"), value("v", 1)))
	n.damage()
	require.Equal(t, 1, n.pass(t.Context()))
	require.ErrorIs(t, n.rebuild(t.Context(), slot), errNobody)
	require.Equal(t, map[string]string{"k": "v"}, n.content(t))
}

// failing is an engine that cannot empty a slot.
type failing struct {
	*memory.Engine
	err error
}

func (f failing) Reset(uint16, record.SlotMeta) error { return f.err }

// TestAStoreThatFails ends the node, but not one that is damaged once more, or that has no room: then it is begun again, later.
func TestAStoreThatFails(t *testing.T) {
	for err, ends := range map[error]bool{errFailed: true, engine.ErrCorrupt: false, register.ErrNoRoom: false} {
		nodes := newFakes(t, 3, func(n *fakeNode) {
			if n.id == 1 {
				n.engine = failing{memory.New(), err}
			}
		})
		n := nodes[0]
		n.damage()
		require.Equal(t, 1, n.pass(t.Context()))
		require.Equal(t, ends, n.Failed(), err)
		if ends {
			require.Zero(t, n.pass(t.Context()), "it does nothing any more")
		} else {
			require.Equal(t, 1, n.pass(t.Context()))
		}
	}
}

// unread is an engine that cannot read a slot.
type unread struct{ *memory.Engine }

func (unread) Scan(uint16, engine.Position, func(engine.Position, []byte, record.Record) bool) error {
	return engine.ErrCorrupt
}

// TestWhatIsShown, and what is not.
func TestWhatIsShown(t *testing.T) {
	nodes := newFakes(t, 2, func(n *fakeNode) {
		if n.id == 2 {
			n.engine = unread{memory.New()}
		}
	})
	good := protocol.CopyRequest{Slot: slot, Epoch: 1, Ballot: record.Ballot{Counter: 5, Incarnation: record.NewIncarnation(1, 2)}, Limit: 1}
	show := func(n *fakeNode, r protocol.CopyRequest) error {
		_, err := n.AnswerCopy(protocol.AppendCopyRequest(nil, r), nil)
		return err
	}
	require.NoError(t, show(nodes[0], good))
	other := good
	other.Epoch = 2
	require.ErrorIs(t, show(nodes[0], other), errOtherEpoch)
	require.NoError(t, nodes[0].err)
	require.ErrorIs(t, show(nodes[1], good), engine.ErrCorrupt)
	require.ErrorIs(t, nodes[1].err, engine.ErrCorrupt, "the node knows it now")
	require.ErrorIs(t, show(nodes[1], good), engine.ErrCorrupt)
	_, err := nodes[0].AnswerCopy([]byte{1}, nil)
	require.Error(t, err)
}

// object is a large object, whatever it means.
type object []byte

func (o object) Size() int                  { return len(o) }
func (o object) AppendTo(dst []byte) []byte { return append(dst, o...) }
func (o object) Memory() int                { return len(o) }
func (o object) Reader() io.Reader          { return bytes.NewReader(o) }

// TestObjectsAreCopiedApart from the page that names them. A page of which one did not come is asked for again: nothing of it is copied.
func TestObjectsAreCopiedApart(t *testing.T) {
	nodes := newFakes(t, 2, nil)
	for i := range 5 {
		rec := value("", uint64(i)+1)
		rec.State = record.State{Type: record.Hash, Object: object(bytes.Repeat([]byte{byte(i)}, rebuildBytes))}
		require.NoError(t, nodes[1].engine.Put(slot, fmt.Append(nil, "key-", i), rec))
	}
	n := nodes[0]
	n.damage()
	n.others[0].(*fakePeer).loses.Store(true)
	require.NotZero(t, n.pass(t.Context()))
	require.Error(t, n.err, "it does not vote yet")
	require.Zero(t, n.pass(t.Context()))
	require.NoError(t, n.err)
	for i := range 5 {
		rec, found, err := n.engine.Get(slot, fmt.Append(nil, "key-", i))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, object(bytes.Repeat([]byte{byte(i)}, rebuildBytes)), rec.State.Object)
	}
}

// TestASlotThatIsSoundIsLeftAlone: the node has given it up, and come to it again.
func TestASlotThatIsSoundIsLeftAlone(t *testing.T) {
	for name, began := range map[string]bool{"before it began": false, "after that": true} {
		t.Run(name, func(t *testing.T) {
			nodes := newFakes(t, 3, nil)
			n := nodes[0]
			n.damage()
			if began {
				n.runs[slot] = &rebuild{rebuilder: n.Rebuilder, node: n, slot: slot, next: map[uint16]engine.Position{}}
				require.NoError(t, n.runs[slot].begin())
			}
			was := n.acceptor.Meta()
			n.err = nil
			require.Zero(t, n.pass(t.Context()))
			slots, _ := n.Damaged()
			require.Empty(t, slots)
			require.Empty(t, n.runs)
			require.Equal(t, was, n.acceptor.Meta(), "it has not begun")
		})
	}
}

// TestAMemberThatIsGoneIsWaitedFor: nothing is begun that cannot end.
func TestAMemberThatIsGoneIsWaitedFor(t *testing.T) {
	nodes := newFakes(t, 3, nil)
	n := nodes[0]
	n.lost = errors.New("a member has lost its state")
	n.damage()
	require.Equal(t, 1, n.pass(t.Context()))
	require.False(t, n.acceptor.Meta().Rebuilding)
	n.lost = nil
	require.Zero(t, n.pass(t.Context()))
}
