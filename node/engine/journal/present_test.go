package journal

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func openPresent(t *testing.T) (j *Journal, dir string) {
	dir = t.TempDir()
	j, _ = reopen(t, Options{Dir: dir, SegmentSize: 4 * blockSize, Logger: slog.New(slog.DiscardHandler), pause: time.Millisecond})
	add(t, j, "a")
	return j, dir
}

func segmentsIn(t *testing.T, dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	return names
}

func TestFilesThatAreDeletedUnderTheJournalAreMissed(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, dir string){
		"all": func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) },
		"moved": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(dir, dir+".old"))
			t.Cleanup(func() { _ = os.RemoveAll(dir + ".old") })
		},
		"replaced by a copy": func(t *testing.T, dir string) {
			for _, name := range segmentsIn(t, dir) {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				require.NoError(t, os.Remove(name))
				require.NoError(t, os.WriteFile(name, text, 0o600))
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			j, dir := openPresent(t)
			require.NoError(t, j.Present())
			change(t, dir)
			require.ErrorIs(t, j.Present(), ErrGone)
			_ = j.Close() // it cannot save its checkpoint
			require.ErrorIs(t, j.Present(), ErrClosed)
		})
	}
}

// TestRecycledFilesAreNotMissed: segments come and go while somebody looks.
func TestRecycledFilesAreNotMissed(t *testing.T) {
	j, _ := openPresent(t)
	var looking sync.WaitGroup
	stop := make(chan struct{})
	looking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := j.Present(); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 1000 {
		require.Eventually(t, func() bool { return j.Room() > 2000 }, time.Minute, 10*time.Microsecond)
		add(t, j, string(make([]byte, 1000)))
		require.NoError(t, j.Checkpoint(j.Last()))
	}
	close(stop)
	looking.Wait()
}
