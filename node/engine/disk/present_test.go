package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestFilesThatAreDeletedUnderTheEngineAreMissed: a process can go on writing to files that have no name.
func TestFilesThatAreDeletedUnderTheEngineAreMissed(t *testing.T) {
	forEachKind(t, testFilesThatAreDeletedUnderTheEngineAreMissed)
}

func testFilesThatAreDeletedUnderTheEngineAreMissed(t *testing.T, k kind) {
	for _, pattern := range append([]string{"journal/*.wal", "*"}, k.vital...) {
		t.Run(pattern, func(t *testing.T) {
			parent, err := os.MkdirTemp("", "quoll-present-")
			require.NoError(t, err)
			// A store without its files may not be closed, and go on making some.
			t.Cleanup(func() {
				require.Eventually(t, func() bool { return os.RemoveAll(parent) == nil }, 10*time.Second, time.Millisecond)
			})
			dir := k.dir(parent)
			opt := small(dir)
			opt.Cache, opt.Interval = 64*kib, 5*time.Millisecond
			e, err := opt.open()
			require.NoError(t, err)
			defer func() { _ = e.Close() }()
			require.NoError(t, e.PutSlot(1, record.SlotMeta{}))
			value := make([]byte, 1000)
			found := func() (names []string) {
				names, err := filepath.Glob(filepath.Join(dir, pattern))
				require.NoError(t, err)
				return names
			}
			deadline := time.Now().Add(time.Minute)
			for i := 0; len(found()) == 0 || i < 2000; i++ { // until there are tables
				require.True(t, time.Now().Before(deadline))
				require.NoError(t, e.Put(1, []byte{byte(i), byte(i >> 8)}, record.Record{State: record.State{Type: record.String, Value: value}}))
				require.NoError(t, e.Present(), "nothing was deleted")
				done := make(chan error, 1)
				e.Commit(func(err error) { done <- err })
				require.NoError(t, <-done)
			}
			require.Eventually(t, func() bool {
				for _, name := range found() {
					_ = os.RemoveAll(name) // the engine may make a file in there at the same time,
				}
				return errors.Is(e.Present(), engine.ErrGone) // or not have needed any more what was removed
			}, 10*time.Second, time.Millisecond)
			e.Commit(func(err error) { require.ErrorIs(t, err, engine.ErrGone) })
		})
	}
}
