package datadir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asNobody makes the test's goroutine somebody else where files are concerned, if it is
// the superuser, who may do anything.
func asNobody(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	runtime.LockOSThread()
	require.NoError(t, syscall.Setfsuid(65534))
	t.Cleanup(func() {
		require.NoError(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

func TestWithoutPermission(t *testing.T) {
	for _, opt := range []struct {
		name string
		mode os.FileMode
	}{{"", 0o000}, {"", 0o500}, {lockFile, 0o000}, {nodeFile, 0o000}} {
		t.Run(opt.name+opt.mode.String(), func(t *testing.T) {
			path, _ := newDir(t)
			if os.Getuid() == 0 {
				own(t, path, 65534)
			}
			file := filepath.Join(path, opt.name)
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(file, opt.mode))
			t.Cleanup(func() { require.NoError(t, os.Chmod(file, info.Mode())) })
			if opt.mode == 0o500 { // what is there can be read, but nothing be made
				require.NoError(t, os.Remove(filepath.Join(path, lockFile)))
			}
			asNobody(t)
			_, err = Open(options(path, FsyncAlways))
			require.ErrorIs(t, err, ErrPermission)
			require.ErrorContains(t, err, "permission denied; it and all that is in it must be the own of the user whom quoll runs as")
		})
	}
}

// own gives everything in a directory to a user.
func own(t *testing.T, path string, uid int) {
	require.NoError(t, filepath.Walk(path, func(name string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(name, uid, 0)
	}))
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	parent := t.TempDir()
	require.NoError(t, os.Chmod(parent, 0o555))
	asNobody(t)
	_, err := Open(options(filepath.Join(parent, "b"), FsyncAlways))
	require.ErrorIs(t, err, ErrPermission)
}

// namespaceVariable tells the test that it runs in a mount namespace of its own, which goes, with
// what it mounts, when it ends.
const namespaceVariable = "QUOLL_DATADIR_TEST_MOUNT"

func TestFileSystems(t *testing.T) {
	t.Parallel()
	mount := os.Getenv(namespaceVariable)
	if mount == "" {
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestFileSystems$", "-test.v")
		cmd.Env = append(os.Environ(), namespaceVariable+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		output, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skip("only the superuser may mount")
		}
		require.NoError(t, err, "%s", output)
		return
	}
	require.NoError(t, syscall.Mount("quoll", mount, "tmpfs", 0, "size=128k"))
	path := filepath.Join(mount, "b")
	d := mustOpen(t, options(path, FsyncAlways))
	require.NoError(t, d.SaveRing(ringOf(d, 1)))
	fillDisk(t, filepath.Join(mount, "big"))
	require.ErrorIs(t, d.SaveRing(ringOf(d, 2)), syscall.ENOSPC)
	require.EqualValues(t, 1, d.Ring().Version)
	require.NoError(t, d.Close(false))
	_, err := Open(options(path, FsyncAlways))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, os.Remove(filepath.Join(mount, "big")))
	d = mustOpen(t, options(path, FsyncAlways))
	require.NoError(t, d.SaveRing(ringOf(d, 2)))
	require.NoError(t, d.Close(true))

	require.NoError(t, syscall.Mount("", mount, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for _, path := range []string{path, filepath.Join(mount, "new")} {
		_, err = Open(options(path, FsyncAlways))
		require.ErrorIs(t, err, ErrReadOnly)
		require.ErrorContains(t, err, "read-only file system; mount it for writing, or give another --data")
	}
}

func fillDisk(t *testing.T, path string) {
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 512))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
}

// TestTheLockGoesThoughAChildHasTheFile: between fork and exec a child has all files of its
// parent.
func TestTheLockGoesThoughAChildHasTheFile(t *testing.T) {
	path, _ := newDir(t)
	d := mustOpen(t, options(path, FsyncAlways))
	childs, err := syscall.Dup(int(d.lock.Fd()))
	require.NoError(t, err)
	defer syscall.Close(childs)
	require.NoError(t, d.Close(true))
	require.NoError(t, mustOpen(t, options(path, FsyncAlways)).Close(true))
}
