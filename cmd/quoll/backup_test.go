package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// backupOf makes a backup of some keys; one more is a deletion. change may change the
// header.
func backupOf(t *testing.T, change func(*backup.Header), keys ...string) []byte {
	t.Helper()
	h := backup.Header{Node: "a", Time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Quoll: "v1", Records: 4,
		Cluster: ring.Cluster{Name: "zoo", Epoch: 1, Replicas: 1, Members: []ring.Member{{ID: 1, Name: "a", Peer: "h:1", Weight: 1, Generation: 5}}}}
	for slot := range uint16(ring.Slots) {
		h.Slots.Add(slot)
	}
	if change != nil {
		change(&h)
	}
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, h)
	require.NoError(t, err)
	chunk := backup.Chunk{Slot: ring.SlotOf([]byte("{k}"))}
	for i, key := range append(keys, "gone") {
		version := record.Version{Ballot: record.Ballot{Counter: 7, Incarnation: 1 << 20}, Seq: uint64(i + 1)}
		e := backup.Entry{Key: []byte("{k}" + key), Record: record.Record{Version: version}}
		if key != "gone" {
			e.State = record.State{Type: record.String, Value: []byte("value of " + key)}
		}
		chunk.Records = append(chunk.Records, e)
		chunk.Meta.Promised = version.Ballot
	}
	require.NoError(t, w.Write(&chunk))
	require.NoError(t, w.Close())
	return file.Bytes()
}

// holder is a Backend that can be backed up.
type holder struct {
	cluster
	backup func(ctx context.Context, w io.Writer) error
}

func (h *holder) Backup(ctx context.Context, w io.Writer) error { return h.backup(ctx, w) }

func serveBackup(t *testing.T, secret string, write func(context.Context, io.Writer) error) (address string) {
	server := httptest.NewServer(admin.NewHandler(&holder{backup: write}, http.NotFoundHandler(), admin.Access{Secret: secret}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func whole(data []byte) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

func requireFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	require.Equal(t, names, found)
}

func TestBackupToAFile(t *testing.T) {
	data := backupOf(t, nil, "one", "two")
	address := serveBackup(t, "hush", whole(data))
	dir := t.TempDir()
	path, secret := filepath.Join(dir, "a.quoll"), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hush"), 0o600))
	args := []string{"node", "backup", "--to", path, "--admin", address, "--secret-file", secret}
	code, stdout, stderr := newShell().run(args...)
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, stdout)
	require.Equal(t, fmt.Sprintf("Backed up node a: 3 records, 1 of them deletions; %s.\n", humanBytes(uint64(len(data)))), stderr)
	requireFiles(t, dir, "a.quoll")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode(), "it is the data")

	code, _, stderr = newShell().run(args...)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: "+path+" exists: give another name, or --force to replace it\n", stderr)
	require.NoError(t, os.WriteFile(path+".tmp", nil, 0o600))
	code, _, stderr = newShell().run("node", "backup", "--to", filepath.Join(dir, "b.quoll"), "--admin", address, "--secret-file", secret, "-q")
	require.Equal(t, exitOK, code)
	require.Empty(t, stderr)
	require.NoError(t, os.WriteFile(path, []byte("an old one"), 0o600))
	code, _, stderr = newShell().run(append(args, "--force")...)
	require.Equal(t, exitOK, code, stderr)
	requireFiles(t, dir, "a.quoll", "b.quoll")
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
}

func TestBackupToStandardOutput(t *testing.T) {
	data := backupOf(t, nil, "one")
	code, stdout, stderr := newShell().run("node", "backup", "--to", "-", "--admin", serveBackup(t, "", whole(data)))
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "Backed up node a: 2 records")
	require.Equal(t, string(data), stdout)
}

// TestABackupThatFailsLeavesNoFile: neither under its name nor under another one.
func TestABackupThatFailsLeavesNoFile(t *testing.T) {
	data := backupOf(t, nil, "one", "two")
	failed := func(_ context.Context, w io.Writer) error {
		out, err := backup.NewWriter(w, backup.Header{Node: "a", Cluster: ring.Cluster{Epoch: 1, Replicas: 1, Members: []ring.Member{{ID: 1, Name: "a", Peer: "h:1", Weight: 1}}}})
		return errors.Join(err, out.Fail("slot 7 cannot be read"))
	}
	for want, address := range map[string]string{
		"no backup was made: cannot reach the admin API at http://127.0.0.1:1: connection refused; is a quoll process running there?": "127.0.0.1:1",
		"the admin API asks for the cluster's secret at ":                                 serveBackup(t, "hush", whole(data)),
		"answered: this process is no node and holds no data":                             (&cluster{}).serve(t, ""),
		"answered: node a cannot be backed up":                                            serveBackup(t, "", func(context.Context, io.Writer) error { return errors.New("node a cannot be backed up") }),
		"no backup was made: the node could not finish the backup: slot 7 cannot be read": serveBackup(t, "", failed),
		"no backup was made: the backup is damaged at byte ":                              serveBackup(t, "", whole(flip(data, len(data)/2))),
		"no backup was made: the backup is incomplete: its end is missing, from byte ":    serveBackup(t, "", whole(data[:len(data)-1])),
		"no backup was made: not a backup of quoll":                                       serveBackup(t, "", whole([]byte("what is this"))),
	} {
		dir := t.TempDir()
		code, _, stderr := newShell().run("node", "backup", "--to", filepath.Join(dir, "x"), "--admin", address)
		require.Equal(t, exitFailure, code)
		require.Contains(t, stderr, want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		requireFiles(t, dir)
	}
}

func TestAnInterruptedBackupLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	s := newShell()
	data := backupOf(t, nil, "one")
	address := serveBackup(t, "", func(ctx context.Context, w io.Writer) error {
		if _, err := w.Write(data[:len(data)-1]); err != nil {
			return err
		}
		requireFiles(t, dir, "x.tmp")
		s.signals <- os.Interrupt
		<-ctx.Done()
		return ctx.Err()
	})
	code, _, stderr := s.run("node", "backup", "--to", filepath.Join(dir, "x"), "--admin", address)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: no backup was made: interrupted\n", stderr)
	requireFiles(t, dir)
}

func TestBackupWithoutAPlace(t *testing.T) {
	address := serveBackup(t, "", whole(backupOf(t, nil, "one")))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "busy.tmp"), nil, 0o600))
	for path, want := range map[string]string{
		dir:                           dir + " is a directory: give the name of a file in it",
		filepath.Join(dir, "no", "x"): "no such file or directory",
		filepath.Join(dir, "busy"):    "busy.tmp exists: another backup to this file is being made, or was killed; remove it, or give --force",
	} {
		code, _, stderr := newShell().run("node", "backup", "--to", path, "--admin", address)
		require.Equal(t, exitFailure, code)
		require.Contains(t, stderr, want)
	}
	requireFiles(t, dir, "busy.tmp")

	var stderr strings.Builder
	a := &app{stdout: fullDisk{}, stderr: &stderr, signals: make(chan os.Signal)}
	require.Equal(t, exitFailure, a.run([]string{"node", "backup", "--to", "-", "--admin", address}))
	require.Equal(t, "quoll: the disk is full: free some space and start again: no backup was made: no space left on device\n", stderr.String())
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestBackupUsage(t *testing.T) {
	for line, want := range map[string]string{
		"node backup":                       "quoll: to: give --to FILE to make a backup, or --check FILE to look at one\n",
		"node backup --to x --check x":      "quoll: to: give --to FILE to make a backup, or --check FILE to look at one\n",
		"node backup --to x --rate 1":       "quoll: rate: 1 is out of range: at least 1KiB, or 0 for no limit\n",
		"node backup --to x --rate fast":    "quoll: rate: \"fast\" is not a size such as 65536, 64mb or 64MiB\n",
		"node backup --to x --admin nobody": "quoll: admin: \"nobody\" is not host:port\n",
		"node restore":                      "quoll: data: is required: the data directory of the node that is to have the data, which is made\nquoll: name: is required: the node's name, as in --initial-cluster\nquoll: from: is required: a backup, or several, each with a --from of its own\n",
	} {
		code, stdout, stderr := newShell().run(strings.Fields(line)...)
		require.Equal(t, exitUsage, code, line)
		require.Empty(t, stdout, line)
		require.Equal(t, want, stderr, line)
	}
	for _, line := range []string{"node backup", "node restore"} {
		code, stdout, _ := newShell().run(append(strings.Fields(line), "--help")...)
		require.Equal(t, exitOK, code)
		require.Contains(t, stdout, "Examples:")
	}
}

func TestCheckBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.quoll")
	data := backupOf(t, nil, "one", "two")
	check := func(data []byte, args ...string) (int, string, string) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return newShell().run(append([]string{"node", "backup", "--check", path}, args...)...)
	}
	code, stdout, stderr := check(data)
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, stderr)
	head, digest, _ := strings.Cut(stdout, "SHA-256  ")
	require.Len(t, digest, 65)
	require.Equal(t, fmt.Sprintf(`Complete and undamaged: node a of cluster zoo, backed up 2030-01-02T03:04:05Z by quoll v1.

Ring     epoch 1, 1 replicas, nodes a
Slots    16384 of 16384
Records  2, with 36B of keys and values; and 1 deletions
Size     %s
`, humanBytes(uint64(len(data)))), head)

	code, stdout, _ = check(data, "-o", "json")
	require.Equal(t, exitOK, code)
	var summary backupSummary
	require.NoError(t, json.Unmarshal([]byte(stdout), &summary))
	require.Equal(t, backup.Counts{Live: 2, Tombstones: 1, Bytes: 36}, summary.Contents)
	require.Equal(t, []any{"a", int64(len(data)), strings.TrimSpace(digest)}, []any{summary.Node, summary.Size, summary.SHA256})
	code, stdout, stderr = check(data, "-q")
	require.Equal(t, []any{exitOK, "", ""}, []any{code, stdout, stderr})

	_, stdout, _ = check(backupOf(t, func(h *backup.Header) { h.Slots = ring.SlotSet{}; h.Slots.Add(ring.SlotOf([]byte("{k}"))) }))
	require.Contains(t, stdout, "Slots    1 of 16384; a restore needs other nodes' backups too\n")

	for want, bad := range map[string][]byte{
		": the backup is damaged at byte ":                                                     flip(data, len(data)/2),
		": the backup is incomplete: its end is missing":                                       data[:len(data)-9],
		": not a backup of quoll":                                                              []byte("REDIS0011"),
		": the backup was made by a newer quoll: its format is 9, this program knows format 2": newer(data),
	} {
		code, stdout, stderr := check(bad)
		require.Equal(t, exitFailure, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "quoll: "+path+want)
		require.Equal(t, 1, strings.Count(stderr, "\n"))
	}
	code, _, stderr = newShell().run("node", "backup", "--check", filepath.Dir(path))
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "is a directory, not a backup")
	code, _, _ = newShell().run("node", "backup", "--check", path+"x")
	require.Equal(t, exitFailure, code)
}

func flip(data []byte, i int) []byte {
	bad := bytes.Clone(data)
	bad[i] ^= 0x10
	return bad
}

// newer is a backup of a format to come.
func newer(data []byte) []byte {
	head := binary.LittleEndian.AppendUint32([]byte("QUOLLBAK"), 9)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)))
	return append(head, data[16:]...)
}
