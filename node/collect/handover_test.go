package collect

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring/change"
)

// TestAHomeThatLeavesHasTimeToHandOver: until then the slot is not reported, so that no write is caught in it. If a member leads that stays nobody waits.
func TestAHomeThatLeavesHasTimeToHandOver(t *testing.T) {
	for name, tt := range map[string]struct {
		leader uint16
		waits  bool
	}{
		"one that leaves leads": {1, true},
		"one that stays does":   {2, false},
		"nobody is known to":    {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newFakes([]uint16{1, 2, 3}, []uint16{4, 2, 3})[4]
				n.leader = tt.leader
				n.running(t)
				wanted := []change.SlotEpoch{{Slot: slot, Epoch: epoch}}
				n.Update(wanted, 0)
				time.Sleep(handOver - time.Millisecond)
				synctest.Wait()
				require.Equal(t, !tt.waits, len(n.reported()) > 0)
				time.Sleep(time.Millisecond)
				synctest.Wait()
				require.Equal(t, wanted, n.reported())
			})
		})
	}
}
