package repair

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/ring"
)

// changed returns the table of the next version, in which a slot has another assignment.
func (c *fakeCluster) changed(slot uint16, a ring.Assignment) *ring.Table {
	slots := make([]ring.Assignment, ring.Slots)
	for number := range slots {
		slots[number] = c.table.Assignment(uint16(number))
	}
	a.Epoch = c.table.Version() + 1
	slots[slot] = a
	table, err := ring.NewTable(a.Epoch, slots)
	require.NoError(c.t, err)
	return table
}

// TestSlotsThatChangeAreNotCompared: neither a joint one, whose new members have yet to collect, nor one that the two nodes know in different epochs.
func TestSlotsThatChangeAreNotCompared(t *testing.T) {
	moved := func(c *fakeCluster, slot uint16) *ring.Table {
		r := c.table.Replicas(slot)
		return c.changed(slot, ring.Assignment{Replicas: []uint16{r[0], r[2], r[1]}})
	}
	for name, change := range map[string]func(c *fakeCluster, slot uint16){
		"joint": func(c *fakeCluster, slot uint16) {
			c.table = c.changed(slot, ring.Assignment{Replicas: c.table.Replicas(slot)[:2], Next: c.table.Replicas(slot)})
		},
		"the peer knows more": func(c *fakeCluster, slot uint16) { c.node("c").table = moved(c, slot) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newFakes(t, nil)
			slot := c.slotOf("a")
			c.put(slot, []byte("moves"), value("v", 1), "a", "b")
			c.put(slot+1, []byte("stays"), value("v", 1), "a", "b")
			change(c, slot)
			progress := &Progress{}
			require.NoError(t, c.node("a").Repair(t.Context(), Request{First: slot, Last: slot, Peer: "c"}, progress))
			require.Zero(t, progress.Keys.Load())
			require.Zero(t, progress.Unreadable.Load(), "there is nothing wrong with it")
			require.Empty(t, c.held("c", slot, "moves"))
		})
	}
	t.Run("the peer knows less", func(t *testing.T) {
		c := newFakes(t, nil)
		slot := c.slotOf("a")
		c.put(slot, []byte("moves"), value("v", 1), "a", "b")
		old := c.table
		c.table = moved(c, slot)
		c.node("c").table = old
		err := c.node("a").Repair(t.Context(), Request{First: slot, Last: slot, Peer: "c"}, &Progress{})
		require.True(t, protocol.IsChanged(err), "%v", err)
		require.Empty(t, c.held("c", slot, "moves"))
		c.node("c").table = nil
		require.NoError(t, c.node("a").Repair(t.Context(), Request{First: slot, Last: slot, Peer: "c"}, &Progress{}))
		require.Equal(t, "v", c.held("c", slot, "moves"))
	})
}

// TestASlotThatChangesWhileItIsCompared is left, and the others are gone on with.
func TestASlotThatChangesWhileItIsCompared(t *testing.T) {
	c := newFakes(t, nil)
	slot := c.slotOf("a")
	next := slot + 1
	for c.table.Replicas(next)[0] != c.node("a").id {
		next++
	}
	c.put(slot, []byte("moves"), value("v", 1), "a", "b")
	c.put(next, []byte("stays"), value("v", 1), "a", "b")
	p := c.peer("a", "c")
	current := p.ask
	p.ask = func(method protocol.Method, payload []byte) ([]byte, error) {
		if method == protocol.MethodVersions || method == protocol.MethodScan {
			c.mu.Lock()
			if c.table.Version() == 1 {
				r := c.table.Replicas(slot)
				c.table = c.changed(slot, ring.Assignment{Replicas: []uint16{r[0], r[2], r[1]}})
			}
			c.mu.Unlock()
		}
		return current(method, payload)
	}
	require.NoError(t, c.node("a").Repair(t.Context(), Request{First: slot, Last: next, Peer: "c"}, &Progress{}))
	require.Empty(t, c.held("c", slot, "moves"))
	require.Equal(t, "v", c.held("c", next, "stays"))
}

// TestNothingIsForgottenInAJointSlot (R13), and so nothing is deleted again for that.
func TestNothingIsForgottenInAJointSlot(t *testing.T) {
	for name, joint := range map[string]bool{"joint": true, "at rest": false} {
		t.Run(name, func(t *testing.T) {
			c := newFakes(t, nil)
			slot := c.slotOf("a")
			c.put(slot, []byte("gone"), record.Record{Version: record.Version{Seq: 1}})
			if joint {
				r := c.table.Replicas(slot)
				c.table = c.changed(slot, ring.Assignment{Replicas: r, Next: []uint16{r[1], r[0], r[2]}})
			}
			n := c.node("a")
			table, self := n.Ring()
			require.Equal(t, joint, len(n.comparison(table, self, nil, Request{First: slot, Last: slot}, &Progress{}).remembering()) == 0)
		})
	}
}

// TestHintsOfSlotsThatThePeerHasLeft are dropped: nobody writes them again, and not everything is compared instead.
func TestHintsOfSlotsThatThePeerHasLeft(t *testing.T) {
	c := newFakes(t, nil)
	slot := c.slotOf("a")
	c.put(slot, []byte("k"), value("v", 1), "a", "b")
	p := c.peer("a", "c")
	p.hints.Add(slot, []byte("k"))
	var left []uint16
	for _, id := range c.table.Replicas(slot) {
		if id != p.ID() {
			left = append(left, id)
		}
	}
	c.table = c.changed(slot, ring.Assignment{Replicas: left})
	p.ask = func(protocol.Method, []byte) ([]byte, error) { panic("it is asked") }
	ctx := t.Context()
	done := make(chan struct{})
	go func() { defer close(done); c.node("a").replay(ctx) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	require.Equal(t, hint.Counts{}, p.hints.Counts())
	require.Empty(t, c.held("c", slot, "k"))
}

// TestNothingIsForgottenWithoutAMember whose state is lost: no peer stands for it, and it acknowledges nothing.
func TestNothingIsForgottenWithoutAMember(t *testing.T) {
	c := newFakes(t, nil)
	slot := c.slotOf("a")
	c.put(slot, []byte("gone"), record.Record{Version: record.Version{Seq: 1}})
	n := c.node("a")
	remembering := func() []uint16 {
		table, self := n.Ring()
		return n.comparison(table, self, nil, Request{First: slot, Last: slot}, &Progress{}).remembering()
	}
	require.Equal(t, []uint16{slot}, remembering())
	c.table = c.changed(slot, ring.Assignment{Replicas: []uint16{n.id, c.peer("a", "b").ID(), 9}})
	require.Empty(t, remembering())
}
