package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
)

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	t.Parallel()
	path, _ := newDir(t)
	for _, name := range jsonFiles {
		file := filepath.Join(path, name)
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, json.Valid(whole), "%s", whole)
		for i := range whole {
			if i > 100 && i < len(whole)-100 && i%101 != 0 {
				continue // the document is long
			}
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1 << (i % 8)
			requireDamaged(t, path, file, damaged)
			require.Error(t, unseal(whole[:i], new(any)))
			for b := range 256 {
				if damaged[i] = byte(b); damaged[i] != whole[i] && unseal(damaged, new(any)) == nil {
					t.Fatalf("not noticed: %s", damaged)
				}
			}
		}
		requireDamaged(t, path, file, nil)
		requireDamaged(t, path, file, append(bytes.Clone(whole), '\n'))
		require.NoError(t, os.WriteFile(file, whole, 0o600))
		require.NoError(t, mustOpen(t, options(path, FsyncAlways)).Close(true))
	}
}

// requireDamaged opens a directory with another content of a file.
func requireDamaged(t *testing.T, path, file string, content []byte) {
	require.NoError(t, os.WriteFile(file, content, 0o600))
	d, err := Open(options(path, FsyncAlways))
	require.Nil(t, d)
	require.ErrorIs(t, err, ErrDamaged, "%s", content)
	require.ErrorContains(t, err, filepath.Base(file))
}

func TestEveryMissingFileIsNoticed(t *testing.T) {
	for _, name := range jsonFiles {
		path, _ := newDir(t)
		require.NoError(t, os.Remove(filepath.Join(path, name)))
		for range 2 { // the first attempt mended nothing
			_, err := Open(options(path, FsyncAlways))
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, name+" is missing")
			require.ErrorContains(t, err, engine.Advice)
		}
	}
	path, _ := newDir(t)
	for _, name := range jsonFiles {
		require.NoError(t, os.Remove(filepath.Join(path, name)))
	}
	_, err := Open(options(path, FsyncAlways))
	require.ErrorContains(t, err, "node.json is missing, though there is data")
}

func TestFilesOfDifferentDirectories(t *testing.T) {
	path, _ := newDir(t)
	text, err := os.ReadFile(filepath.Join(path, sessionFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(path, nodeFile), text, 0o600))
	_, err = Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "do not belong together")
}

func TestDirectoriesOfOthers(t *testing.T) {
	path, _ := newDir(t)
	for _, tc := range []struct {
		change func(*Options)
		why    error
		want   string
	}{
		{func(o *Options) { o.Cluster = "circus" }, ErrOtherCluster,
			` belongs to another cluster: it is of cluster "zoo", not "circus"; correct --cluster-name, or give another --data`},
		{func(o *Options) { o.Node = "a" }, ErrOtherNode,
			` belongs to another node: it is of node "b", not "a"; correct --name, or give another --data`},
	} {
		opt := options(path, FsyncAlways)
		tc.change(&opt)
		_, err := Open(opt)
		require.ErrorIs(t, err, tc.why)
		require.EqualError(t, err, "data directory "+path+tc.want)
	}
	require.NoError(t, mustOpen(t, options(path, FsyncAlways)).Close(true), "the refused ones have left it as it was")
}

func TestNewerFormats(t *testing.T) {
	for _, name := range jsonFiles {
		path, _ := newDir(t)
		known := 1
		if name == ringFile {
			known = 2
		}
		text, err := seal(map[string]any{"format": known + 1, "cluster": []int{1}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(path, name), text, 0o600))
		_, err = Open(options(path, FsyncAlways))
		require.ErrorIs(t, err, ErrFormat)
		require.EqualError(t, err, fmt.Sprintf("data directory %s: %s was written by a newer version of quoll: its format is %d, and this version knows %d; use that version",
			path, name, known+1, known))
	}
}

func TestAnotherEngine(t *testing.T) {
	path, _ := newDir(t)
	text, err := seal(Identity{Format: 1, Cluster: "zoo", Node: "b", Generation: 1, Engine: "oak"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(path, nodeFile), text, 0o600))
	_, err = Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, `"oak"`)
}

func TestForeignDirectoriesAreLeftAlone(t *testing.T) {
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "thesis.tex"), nil, 0o600))
	_, err := Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, ErrForeign)
	require.EqualError(t, err, "data directory "+path+` is not empty, and not a data directory of Quoll: it has "thesis.tex"; `+
		"give --data an empty directory, or one that is not there yet")
	entries, err := os.ReadDir(path)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	root := t.TempDir() // of a file system
	require.NoError(t, os.Mkdir(filepath.Join(root, "lost+found"), 0o700))
	require.NoError(t, mustOpen(t, options(root, FsyncAlways)).Close(true))
}

func TestFilesAreNoDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{file, filepath.Join(file, "below")} {
		_, err := Open(options(path, FsyncAlways))
		require.ErrorIs(t, err, ErrNotDirectory)
		require.ErrorContains(t, err, "give --data the path of a directory")
	}
}

func TestOptionsAreComplete(t *testing.T) {
	for _, opt := range []Options{{}, {Path: "x", Cluster: "c", Node: "n"}, {Path: "x", Cluster: "c", Node: "n", Fsync: "never"}} {
		_, err := Open(opt)
		require.ErrorContains(t, err, "datadir: ")
	}
	require.NoFileExists(t, "x")
}

// TestErrorsOfTheSystem: those that need another user, another file system or a full
// disk to happen are in system_linux_test.go too.
func TestErrorsOfTheSystem(t *testing.T) {
	for _, tc := range []struct {
		cause, why error
		want       string
	}{
		{syscall.EROFS, ErrReadOnly, "mount it for writing"},
		{syscall.EACCES, ErrPermission, fmt.Sprintf("the user whom quoll runs as (user ID %d)", os.Getuid())},
		{syscall.EPERM, ErrPermission, "user ID"},
		{syscall.ENOSPC, syscall.ENOSPC, "cannot be used: "},
		{syscall.EIO, syscall.EIO, "cannot be used: "},
	} {
		path, generation := newDir(t)
		for _, step := range []string{"write session.json", "rename session.json", "sync b"} {
			_, err := open(options(path, FsyncAlways), func(now string) error {
				if now == step {
					return &os.PathError{Op: "open", Path: path, Err: tc.cause}
				}
				return nil
			})
			require.ErrorIs(t, err, tc.why, step)
			require.ErrorIs(t, err, tc.cause, step)
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "\n")
			require.True(t, strings.HasPrefix(err.Error(), "data directory "+path+" "), "%s", err)
		}
		d := mustOpen(t, options(path, FsyncAlways)) // it was unlocked
		require.Equal(t, generation, d.Generation())
		broken := errors.New("broken")
		d.before = func(string) error { return broken }
		require.ErrorIs(t, d.SaveRing(ringOf(d, 2)), broken)
		require.EqualValues(t, 1, d.Ring().Version)
		require.ErrorIs(t, d.Close(true), broken)
		require.NoError(t, mustOpen(t, options(path, FsyncAlways)).Close(true), "it was unlocked all the same")
	}
}
