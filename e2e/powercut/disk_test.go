//go:build linux

package powercut

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// disk is a file system in an image file that can lose its power.
type disk struct {
	t     *testing.T
	image string
	at    string // where it is mounted, or an empty directory
}

// diskSize is what the file system believes to have. The image is sparse.
const diskSize = 8 << 30

func newDisk(t *testing.T, dir, name string) *disk {
	d := &disk{t: t, image: filepath.Join(dir, name+".img"), at: filepath.Join(dir, name)}
	require.NoError(t, os.Mkdir(d.at, 0o755))
	require.NoError(t, os.WriteFile(d.image, nil, 0o600))
	require.NoError(t, os.Truncate(d.image, diskSize))
	// Nothing is initialised later, in the background: a copy would tear it.
	run(t, "mkfs.ext4", "-q", "-F", "-N", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image)
	t.Cleanup(d.unmount)
	d.mount(d.image)
	return d
}

// mount mounts an image. The kernel writes nothing back by itself for as long as a test takes.
func (d *disk) mount(image string) { run(d.t, "mount", "-o", "loop,noatime,commit=600", image, d.at) }

// unmount unmounts what is mounted, if anything is.
func (d *disk) unmount() {
	if exec.Command("mountpoint", "-q", d.at).Run() == nil {
		run(d.t, "umount", d.at)
	}
}

// cut copies what is on the disk at this moment. Nobody may be writing to the file system, but what
// was written to it and not synced is there, in memory. The copy is good if nothing got to the disk meanwhile.
func (d *disk) cut(target string) {
	d.t.Helper()
	for range 5 {
		before := d.writes()
		run(d.t, "cp", "--sparse=always", d.image, target)
		if d.writes() == before {
			return
		}
	}
	require.FailNow(d.t, "the kernel writes to "+d.image+" all the time")
}

// writes tells of all that the disk was given to write so far.
func (d *disk) writes() string {
	device := strings.TrimSpace(run(d.t, "findmnt", "-n", "-o", "SOURCE", "--mountpoint", d.at))
	stat, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "stat"))
	require.NoError(d.t, err)
	fields := strings.Fields(string(stat))
	require.Greater(d.t, len(fields), 8, "fields of %s", device)
	return fmt.Sprint(fields[4:9]) // writes, merged, sectors, time; and how many requests are under way
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	require.NoError(t, err, "%s %q: %s", program, args, out)
	return string(out)
}
