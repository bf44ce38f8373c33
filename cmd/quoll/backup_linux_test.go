package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// smallDisk mounts a file system of some size.
func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a tmpfs needs root")
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no tmpfs: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	return dir
}

// largeBackup makes a backup of so many records of 100 kB.
func largeBackup(t *testing.T, records int) []byte {
	var file bytes.Buffer
	in, err := backup.NewReader(bytes.NewReader(backupOf(t, nil)))
	require.NoError(t, err)
	w, err := backup.NewWriter(&file, *in.Header())
	require.NoError(t, err)
	for i := range records {
		key := append([]byte("{k}"), byte(i), byte(i>>8))
		e := backup.Entry{Key: key, Record: record.Record{Version: record.Version{Seq: uint64(i + 1)}, State: record.State{Type: record.String, Value: bytes.Repeat([]byte("x"), 100_000)}}}
		require.NoError(t, w.Write(&backup.Chunk{Slot: ring.SlotOf(key), Records: []backup.Entry{e}}))
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

func TestBackupOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, "1m")
	path := filepath.Join(dir, "x")
	code, _, stderr := newShell().run("node", "backup", "--to", path, "--admin", serveBackup(t, "", whole(largeBackup(t, 30))))
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: the disk is full: free some space and start again: no backup was made: write "+path+".tmp: no space left on device\n", stderr)
	requireFiles(t, dir)
}

func TestRestoreOnADiskThatIsTooSmall(t *testing.T) {
	dir := smallDisk(t, "8m")
	code, stderr := runRestore(files(t, largeBackup(t, 1)), filepath.Join(dir, "b"))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "quoll: nothing was restored: engine: no space: ")
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
}
