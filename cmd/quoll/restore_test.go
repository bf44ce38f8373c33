package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
)

// files writes backups and returns the --from flags for them.
func files(t *testing.T, backups ...[]byte) (args []string) {
	t.Helper()
	for i, data := range backups {
		path := filepath.Join(t.TempDir(), string(rune('a'+i)))
		require.NoError(t, os.WriteFile(path, data, 0o600))
		args = append(args, "--from", path)
	}
	return args
}

func runRestore(from []string, data string, more ...string) (code int, stderr string) {
	args := append([]string{"node", "restore", "--data", data, "--name", "b"}, from...)
	code, _, stderr = newShell().run(append(args, more...)...)
	return code, stderr
}

// restored opens a restored directory as the node does that is started on it.
func restored(t *testing.T, data, cluster string) *store {
	t.Helper()
	cfg := config.DefaultNode()
	cfg.Name, cfg.ClusterName, cfg.Engine, cfg.Data, cfg.Cache = "b", cluster, config.Badger, data, 64*config.MiB
	s, err := openStore(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.finish(s.engine.Close())) })
	return s
}

func TestRestoreMakesADirectoryOfANewNode(t *testing.T) {
	data := filepath.Join(t.TempDir(), "new", "b")
	older := backupOf(t, func(h *backup.Header) { h.Node = "c" }, "one")
	together := func(h *backup.Header) { h.Placements = database.Placements{}.Place(3, true) }
	newer := backupOf(t, together, "none", "two") // whose second record is the newer one
	code, stderr := runRestore(files(t, older, newer), data)
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, "Restored 4 records, 1 of them deletions, for node b of cluster zoo in "+data+".\n"+
		"Restore the same backups for every other node, then start them all.\n"+
		"Database 3 was placed together. Its keys are there once the cluster has formed, and you have given:\n  quoll ring keyspace set 3 placement=together\n", stderr)

	s := restored(t, data, "zoo")
	require.Nil(t, s.dir.Ring(), "it is of no ring")
	require.Empty(t, s.dir.LostState())
	require.NotEqual(t, uint64(5), s.dir.Generation())
	require.False(t, s.dir.Fresh(), "what is in it must not get lost")
	slot := ring.SlotOf([]byte("{k}"))
	for key, want := range map[string]string{"one": "value of one", "two": "value of two", "gone": ""} {
		rec, found, err := s.engine.Get(slot, []byte("{k}"+key))
		require.NoError(t, err)
		require.True(t, found, key)
		require.Equal(t, want, string(rec.State.Value))
	}
	meta, err := s.engine.Slot(slot)
	require.NoError(t, err)
	require.EqualValues(t, 7, meta.Promised.Counter)
	require.Zero(t, meta.Epoch)
}

func TestRestoreIntoAnotherCluster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "b")
	code, stderr := runRestore(files(t, backupOf(t, nil, "one")), data, "--cluster-name", "circus", "-q")
	require.Equal(t, exitOK, code)
	require.Empty(t, stderr)
	require.Equal(t, "circus", restored(t, data, "circus").dir.Identity().Cluster)
}

func TestRestoreNeedsEverySlot(t *testing.T) {
	half := func(even bool) []byte {
		return backupOf(t, func(h *backup.Header) {
			h.Slots = ring.SlotSet{}
			for slot := range uint16(ring.Slots) {
				if (slot < 100) == even || slot == ring.SlotOf([]byte("{k}")) {
					h.Slots.Add(slot)
				}
			}
		}, "one")
	}
	data := filepath.Join(t.TempDir(), "b")
	code, stderr := runRestore(files(t, half(false)), data)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: nothing was restored: the backups do not have all slots, 100 of 16384 are missing (0-99): "+
		"give other nodes' backups too, or --partial to do without the keys of these slots\n", stderr)
	require.NoDirExists(t, data)
	code, stderr = runRestore(files(t, half(false)), data, "--partial")
	require.Equal(t, exitOK, code, stderr)
	code, stderr = runRestore(files(t, half(false), half(true)), filepath.Join(t.TempDir(), "b"))
	require.Equal(t, exitOK, code, stderr)
}

// TestARestoreThatFailsLeavesNothing: the same directory can be used when what was wrong is
// mended.
func TestARestoreThatFailsLeavesNothing(t *testing.T) {
	good := backupOf(t, nil, "one", "two")
	data := filepath.Join(t.TempDir(), "b")
	for want, backups := range map[string][][]byte{
		": the backup is damaged at byte ":     {flip(good, len(good)/2)},
		": the backup is incomplete: its end":  {good, good[:len(good)-3]},
		": not a backup of quoll":              {[]byte("REDIS0011")},
		": the backup was made by a newer":     {newer(good)},
		"are not of the same life of one clus": {good, backupOf(t, func(h *backup.Header) { h.Cluster.Members[0].Generation++ })},
	} {
		code, stderr := runRestore(files(t, backups...), data)
		require.Equal(t, exitFailure, code)
		require.Contains(t, stderr, "quoll: nothing was restored: ")
		require.Contains(t, stderr, want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		entries, err := os.ReadDir(data)
		require.True(t, os.IsNotExist(err) || len(entries) == 1 && entries[0].Name() == "LOCK", "%v", entries)
	}
	code, stderr := runRestore([]string{"--from", data + "/no"}, data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "no such file")
	code, stderr = runRestore(files(t, good), data, "--cluster-name", "a b")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "contains a space")

	a := &app{stdout: io.Discard, stderr: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	opt := restoreOptions{from: files(t, good)[1:], data: data, name: "b", engine: config.Badger, quiet: true}
	require.ErrorIs(t, a.restore(ctx, opt), context.Canceled)

	code, stderr = runRestore(files(t, good), data)
	require.Equal(t, exitOK, code, stderr)
}

func TestRestoreTouchesNothingThatIsThere(t *testing.T) {
	from := files(t, backupOf(t, nil, "one"))
	data := filepath.Join(t.TempDir(), "b")
	code, stderr := runRestore(from, data)
	require.Equal(t, exitOK, code, stderr)
	code, stderr = runRestore(from, data)
	require.Equal(t, exitFailure, code)
	require.Regexp(t, `^quoll: nothing was restored: \S+ is not empty, it has "badger": a restore is made into a new directory only; give another --data\n$`, stderr)
	rec, found, err := restored(t, data, "zoo").engine.Get(ring.SlotOf([]byte("{k}")), []byte("{k}one"))
	require.NoError(t, err)
	require.True(t, found && bytes.Equal(rec.State.Value, []byte("value of one")))

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, stderr = runRestore(from, file)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "not a directory")
}

func TestRestoreIntoADirectoryThatIsInUse(t *testing.T) {
	data := t.TempDir()
	lock, err := os.OpenFile(filepath.Join(data, "LOCK"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	code, stderr := runRestore(files(t, backupOf(t, nil, "one")), data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "nothing was restored: data directory "+data+" is in use by another process: ")
	require.Equal(t, 1, strings.Count(stderr, "\n"))
}
