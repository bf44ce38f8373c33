package disk_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/disk"
)

// TestAStoreThatIsBehindSlowsWritersDown: the farther it is behind the longer writers wait, and nothing is refused. It is over when the
// store has caught up.
func TestAStoreThatIsBehindSlowsWritersDown(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		opened, err := open(k, t.TempDir(), func(o *options) { o.FlushInterval = time.Hour })
		require.NoError(t, err)
		defer func() { require.NoError(t, opened.Close()) }()
		e := opened.(*disk.Engine)
		begun, release := e.HoldStore()
		defer release()
		value, written := make([]byte, 10*kib), 0
		write := func(size int) (pause time.Duration) {
			for end := written + size; written < end; written += len(value) {
				key := []byte(fmt.Sprint("key", written))
				require.NoError(t, e.Put(7, key, record.Record{Version: record.Version{Seq: uint64(written) + 1}, State: record.State{Type: record.String, Value: value}}))
			}
			done := make(chan error, 1)
			e.Commit(func(err error) { done <- err })
			require.NoError(t, <-done)
			require.NoError(t, e.Room(), "it is slow, and no more than that")
			return e.Pause()
		}
		require.Zero(t, write(400*kib))
		<-begun
		first := write(700 * kib)
		require.Positive(t, first)
		require.Greater(t, write(600*kib), first)
		release()
		require.NoError(t, e.WriteBack())
		require.Zero(t, e.Pause())
	})
}
