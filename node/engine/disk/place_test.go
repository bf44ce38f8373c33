package disk_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nearly all of the time that these tests took they waited for a disk: a hundred thousand times for fdatasync. What a crash leaves of a process' files does not depend
// on that, so they run in a file system in memory where there is one with room. The first variant of TestConformance is on the disk, as are the power cuts of e2e/powercut and all
// other tests of nodes.

// diskTemp is where directories on the disk are made.
var diskTemp = os.TempDir()

// roomInMemory is how many bytes the file system in memory has to have: hardly any are used, but for a million fields.
const roomInMemory = 2 << 30

// runInMemory runs the tests, with directories in memory if that is possible. Benchmarks measure the disk.
func runInMemory(m *testing.M) int {
	flag.Parse()
	if place := memoryFileSystem(roomInMemory); place != "" && flag.Lookup("test.bench").Value.String() == "" {
		if dir, err := os.MkdirTemp(place, "quoll-disk-"); err == nil {
			defer os.RemoveAll(dir)
			_ = os.Chmod(dir, 0o755) // for those who may only read, see giveTo
			_ = os.Setenv("TMPDIR", dir)
		}
	}
	return m.Run()
}

// onDisk returns a directory on the disk, which is removed with the test.
func onDisk(t *testing.T) string {
	dir, err := os.MkdirTemp(diskTemp, "quoll-disk-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
