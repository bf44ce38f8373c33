package repair

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// TestRepairByCall: a call starts one, and others follow it, wait for it and end it.
func TestRepairByCall(t *testing.T) {
	a := newFakes(t, nil).node("a")
	call := func(request protocol.RepairRequest) (p protocol.RepairProgress) {
		request.Last = ring.Slots - 1
		payload, err := json.Marshal(request)
		require.NoError(t, err)
		reply, err := a.AnswerRepair(payload)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(reply, &p))
		return p
	}
	a.running <- struct{}{} // the background compares
	for range 2 {
		require.Equal(t, protocol.RepairProgress{Waiting: true}, call(protocol.RepairRequest{ID: 1}))
		require.Equal(t, protocol.RepairProgress{Waiting: true}, call(protocol.RepairRequest{ID: 2}))
	}
	call(protocol.RepairRequest{ID: 1, Cancel: true})
	eventually(t, func() bool { return call(protocol.RepairRequest{ID: 1}).Done })
	require.Equal(t, "canceled", call(protocol.RepairRequest{ID: 1}).Error)
	require.True(t, call(protocol.RepairRequest{ID: 3, Cancel: true}).Done, "nothing is started to be ended")
	<-a.running
	eventually(t, func() bool { return call(protocol.RepairRequest{ID: 2}).Done })
	p := call(protocol.RepairRequest{ID: 2})
	require.Empty(t, p.Error)
	require.Equal(t, p.Total, p.Slots)
	require.NotZero(t, p.Slots)

	a.jobs.mu.Lock()
	require.Len(t, a.jobs.byID, 2)
	a.jobs.forget(time.Now().Add(jobKept + time.Second))
	require.Empty(t, a.jobs.byID)
	a.jobs.mu.Unlock()

	a.running <- struct{}{}
	for id := range uint64(maxJobs) {
		call(protocol.RepairRequest{ID: 10 + id})
	}
	_, err := a.poll(protocol.RepairRequest{ID: 9})
	require.ErrorIs(t, err, errJobs)
	a.jobs.mu.Lock()
	job := a.jobs.byID[10]
	job.idle.Reset(0) // nobody asks
	a.jobs.mu.Unlock()
	eventually(t, func() bool { a.jobs.mu.Lock(); defer a.jobs.mu.Unlock(); return errors.Is(job.err, errJobIdle) })
	a.Close()
	_, err = a.poll(protocol.RepairRequest{ID: 9})
	require.ErrorIs(t, err, errClosing)
	<-a.running
}

// TestRepairOfAllNodes asks each of them, and adds up what they did.
func TestRepairOfAllNodes(t *testing.T) {
	c := newFakes(t, nil)
	for i, name := range []string{"a", "b", "c"} {
		slot := c.slotOf(name)
		c.put(slot, largeKey(i), value("v", 1), "b")
	}
	var last admin.RepairProgress
	require.NoError(t, c.node("a").RepairAll(t.Context(), admin.RepairRequest{Last: ring.Slots - 1}, func(p admin.RepairProgress) error {
		require.False(t, last.Done, "a report after the last one")
		last = p
		return nil
	}))
	require.True(t, last.Done)
	require.Empty(t, last.Errors)
	require.EqualValues(t, 2*ring.Slots, last.Slots)
	require.EqualValues(t, 3, last.Keys)
	for i, name := range []string{"a", "b", "c"} {
		require.True(t, c.equal(c.slotOf(name)))
		require.Equal(t, "v", c.held("c", c.slotOf(name), string(largeKey(i))))
	}
}

func TestRefusals(t *testing.T) {
	a := newFakes(t, nil).node("a")
	report := func(admin.RepairProgress) error { return nil }
	err := a.RepairAll(t.Context(), admin.RepairRequest{Node: "x"}, report)
	require.EqualError(t, err, `there is no node "x" in the cluster, but a, b, c`)
	_, err = a.poll(protocol.RepairRequest{Last: ring.Slots})
	require.ErrorContains(t, err, "there are no slots 0 to 16384")
	_, err = a.AnswerRepair([]byte("{"))
	require.Error(t, err)
}
