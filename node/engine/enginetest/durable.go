package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
)

// Opener opens the engine that keeps its data in dir, a directory that exists: a new
// engine if there is nothing in it, the one that was there otherwise. It may do more in a
// t.Cleanup, but not close the engine.
type Opener func(t *testing.T, dir string) (engine.Engine, error)

// Maintainer is an engine that can be told to do at once what it does in the background
// from time to time: write back, compact, collect garbage. Tests that are about what
// that does call it.
type Maintainer interface {
	Maintain() error
}

// RunDurable tests an engine that can be closed, or abandoned, and opened again. What Run
// tests is not part of it.
func RunDurable(t *testing.T, open Opener) {
	tests := []struct {
		name string
		test func(t *testing.T, s *store)
	}{
		{"RestartKeepsEverything", testRestartKeepsEverything},
		{"RestartOfManySlots", testRestartOfManySlots},
		{"RestartAfterClears", testRestartAfterClears},
		{"RestartAfterClearOfManyRecords", testRestartAfterClearOfManyRecords},
		{"RestartWithLargeValues", testRestartWithLargeValues},
		{"ExpiredAfterRestart", testExpiredAfterRestart},
		{"ScanAfterRestart", testScanAfterRestart},
		{"CloseCommits", testCloseCommits},
		{"ValuesOutliveTheEngine", testValuesOutliveTheEngine},
		{"UsageAfterRestart", testUsageAfterRestart},
		{"CrashAfterChangesToLowerVersions", testCrashAfterChangesToLowerVersions},
		{"Churn", testChurn},
		{"CrashOfConcurrentWriters", testCrashOfConcurrentWriters},
		{"CrashWhileClearsAreWrittenBack", testCrashWhileClearsAreWrittenBack},
		{"DurableModel", testDurableModel},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t, open)
			defer s.close(t)
			tt.test(t, s)
		})
	}
}

// store is an engine that can be opened again. Its lives have directories of their own.
type store struct {
	engine.Engine
	t     *testing.T
	open  Opener
	root  string
	dir   string
	lives int
}

func newStore(t *testing.T, open Opener) *store {
	s := &store{t: t, open: open, root: t.TempDir()}
	s.dir = s.nextDir()
	require.NoError(t, os.Mkdir(s.dir, 0o700))
	s.start(t)
	return s
}

func (s *store) nextDir() string {
	s.lives++
	return filepath.Join(s.root, fmt.Sprint("life", s.lives))
}

func (s *store) start(t require.TestingT) {
	e, err := s.open(s.t, s.dir)
	require.NoError(t, err)
	s.Engine = e
}

func (s *store) close(t require.TestingT) { require.NoError(t, s.Close()) }

// restart closes the engine and opens it again.
func (s *store) restart(t require.TestingT) {
	s.close(t)
	s.start(t)
}

// crash takes the files as they are at this moment, and opens those. What was staged and
// not committed may or may not be there then.
func (s *store) crash(t require.TestingT) { s.crashUnder(t, func() {}) }

// crashUnder is crash while others use the engine; settle ends them.
func (s *store) crashUnder(t require.TestingT, settle func()) {
	before, abandoned := s.dir, s.Engine
	s.dir = s.nextDir()
	err := Freeze(before, s.dir)
	settle()
	require.NoError(t, err)
	require.NoError(t, abandoned.Close())
	require.NoError(t, os.RemoveAll(before))
	s.start(t)
}

// maintain lets the engine do its work in the background now.
func (s *store) maintain(t require.TestingT) { require.NoError(t, maintain(s.Engine)) }

func maintain(e engine.Engine) error {
	if m, ok := e.(Maintainer); ok {
		return m.Maintain()
	}
	return nil
}
