package disk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestAStoreThatWaitsForWhatIsGoneCanBeLeft: Badger tries for ever to write a table in memory to its directory, and whoever writes to it waits
// for that. When the directory is deleted meanwhile, the engine has to end all the same.
func TestAStoreThatWaitsForWhatIsGoneCanBeLeft(t *testing.T) {
	parent := t.TempDir()
	dir := kinds[0].dir(parent)
	opt := small(dir)
	require.Equal(t, "badger", opt.kind.name)
	e, err := opt.open()
	require.NoError(t, err)
	for i := range 1000 { // what it would call its tables
		require.NoError(t, os.Mkdir(filepath.Join(opt.Dir, fmt.Sprintf("%06d.sst", i)), 0o700))
	}
	value := make([]byte, 1000)
	i := 0
	require.Eventually(t, func() bool {
		for range 100 {
			require.NoError(t, e.Put(1, fmt.Append(nil, i), record.Record{State: record.State{Type: record.String, Value: value}}))
			i++
		}
		require.NoError(t, commit(e))
		return badgerWaitsForRoom()
	}, time.Minute, time.Millisecond)
	require.NoError(t, e.Present())

	require.Eventually(t, func() bool { // Badger may make a file in there at the same time
		return os.RemoveAll(opt.Dir) == nil && errors.Is(e.Present(), engine.ErrGone)
	}, 10*time.Second, time.Millisecond)
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		require.ErrorIs(t, err, engine.ErrGone)
	case <-time.After(time.Minute):
		require.FailNow(t, "the engine does not end")
	}
}

// badgerWaitsForRoom reports whether a write waits for a table in memory.
func badgerWaitsForRoom() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Contains(string(stacks), "ensureRoomForWrite")
}
