package disk_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

// mountsVariable tells a process that it has mounts of its own.
const mountsVariable = "QUOLL_OWN_MOUNTS"

// withDisk runs a test with a small file system, in a process of its own: a full disk under a
// map ends a process (SIGBUS), and what the process mounted is gone with it.
func withDisk(t *testing.T, k kind, size int64, test func(t *testing.T, d *smallDisk)) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	if os.Getenv(mountsVariable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
		cmd.Env = append(os.Environ(), mountsVariable+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skip("this root may not have mounts of its own: ", err)
		}
		require.NoError(t, err, "%s", out)
		t.Logf("%s", out)
		return
	}
	dir := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	d := &smallDisk{kind: k, dir: k.dir(dir), acknowledged: map[string]record.Record{}}
	d.open(t)
	test(t, d)
	require.NoError(t, d.Close())
}

// smallDisk is a small file system with an engine on it.
type smallDisk struct {
	*disk.Engine
	kind kind
	dir  string
	seq  uint64
	// acknowledged is what must be there.
	acknowledged map[string]record.Record
}

func (d *smallDisk) open(t *testing.T) {
	opt := small(filepath.Join(d.dir, "data"))
	opt.SegmentSize, opt.MemTable, opt.FlushSize = 4*mib, 8*mib, 4*mib
	opt.CollectInterval = 100 * time.Millisecond
	e, err := opt.open()
	require.NoError(t, err)
	d.Engine = e
}

func (d *smallDisk) restart(t *testing.T) {
	require.NoError(t, d.Close())
	d.open(t)
}

// batch writes records as a node would for clients, if there is room: with one commit.
func (d *smallDisk) batch(size int) error {
	time.Sleep(d.Pause())
	if err := d.Room(); err != nil {
		return err
	}
	const n = 16
	written := map[string]record.Record{}
	for i := range n {
		d.seq++
		key := fmt.Sprint("key ", int(d.seq)*7919%5000, i)
		rec := record.Record{Version: versionOf(d.seq), State: record.State{Type: record.String, Value: value(d.seq, size/n)}}
		if err := d.Put(1, []byte(key), rec); err != nil {
			return fmt.Errorf("in the middle: %w", err)
		}
		written[key] = rec
	}
	if err := commit(d); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for key, rec := range written {
		d.acknowledged[key] = rec
	}
	return nil
}

// fill writes until there is no room, or limit bytes.
func (d *smallDisk) fill(t *testing.T, limit int64) error {
	const size = 256 * kib
	for written := int64(0); written < limit; written += size {
		if err := d.batch(size); err != nil {
			require.ErrorIs(t, err, engine.ErrFull)
			require.NotContains(t, err.Error(), "in the middle")
			return err
		}
	}
	return nil
}

// fillPatiently writes some bytes, and waits for room while compactions take it for a moment.
func (d *smallDisk) fillPatiently(t *testing.T, bytes int64) {
	const size = 256 * kib
	for written := int64(0); written < bytes; {
		d.awaitRoom(t)
		if err := d.batch(size); err == nil {
			written += size
		} else {
			require.ErrorIs(t, err, engine.ErrFull)
			require.NotContains(t, err.Error(), "in the middle")
		}
	}
}

func (d *smallDisk) requireAll(t *testing.T) {
	var want engine.SlotStats
	for key, rec := range d.acknowledged {
		got, found, err := d.Get(1, []byte(key))
		require.NoError(t, err)
		require.True(t, found, key)
		require.True(t, equal(rec, got), key)
		want.Add([]byte(key), rec)
	}
	stats, err := d.Stats(1)
	require.NoError(t, err)
	require.Equal(t, want, stats)
}

func (d *smallDisk) awaitRoom(t *testing.T) {
	require.Eventually(t, func() bool { return d.Room() == nil }, 20*time.Second, 10*time.Millisecond, "room comes back")
}

// ballast takes space as another process would, all but leave, and returns what gives it
// back.
func (d *smallDisk) ballast(t *testing.T, leave int64) func() {
	name := filepath.Join(filepath.Dir(d.dir), "ballast")
	file, err := os.Create(name)
	require.NoError(t, err)
	defer file.Close()
	for taken := int64(0); ; { // the engine takes some meanwhile
		var fs unix.Statfs_t
		require.NoError(t, unix.Statfs(filepath.Dir(d.dir), &fs))
		more := int64(fs.Bavail)*fs.Bsize - leave
		if more <= 0 {
			return func() { require.NoError(t, os.Remove(name)) }
		}
		if err := unix.Fallocate(int(file.Fd()), 0, taken, more); err == nil {
			taken += more
		} else {
			require.ErrorIs(t, err, unix.ENOSPC)
		}
	}
}

const diskSize = 160 * mib

// TestFullDisk fills a disk through the engine.
func TestFullDisk(t *testing.T) { forEachKind(t, testFullDisk) }

func testFullDisk(t *testing.T, k kind) {
	withDisk(t, k, diskSize, func(t *testing.T, d *smallDisk) {
		err := d.fill(t, 2*diskSize)
		require.Error(t, err, "twice the disk is written")
		t.Log("full: ", err)
		t.Logf("%d records, %+v", len(d.acknowledged), d.Usage())
		d.requireAll(t)
		d.restart(t)
		d.requireAll(t)
	})
}

// TestFullDiskRecovers removes records from a full disk, and waits.
func TestFullDiskRecovers(t *testing.T) { forEachKind(t, testFullDiskRecovers) }

func testFullDiskRecovers(t *testing.T, k kind) {
	if k.maps {
		t.Skip("Badger's Flatten does nothing while all tables are in level 0, and does not see what is in memory: " +
			"what is obsolete is not found, and there is no room")
	}
	withDisk(t, k, diskSize, func(t *testing.T, d *smallDisk) {
		require.Error(t, d.fill(t, 2*diskSize))
		d.removeMost(t)
		d.awaitRoom(t)
		d.fillPatiently(t, 8*mib)
		d.requireAll(t)
	})
}

// removeMost removes most records. Whoever is full may still do that.
func (d *smallDisk) removeMost(t *testing.T) {
	for key := range d.acknowledged {
		if len(d.acknowledged) < 20 {
			break
		}
		require.NoError(t, d.Delete(1, []byte(key)))
		delete(d.acknowledged, key)
	}
	require.NoError(t, commit(d))
}

// TestSuddenlyFullDisk lets another process take the space, between two flushes.
func TestSuddenlyFullDisk(t *testing.T) { forEachKind(t, testSuddenlyFullDisk) }

func testSuddenlyFullDisk(t *testing.T, k kind) {
	for _, leave := range []int64{16 * mib, mib, 0} {
		if testing.Short() && leave > 0 {
			continue
		}
		t.Run(fmt.Sprint(leave>>20, "MiB"), func(t *testing.T) {
			withDisk(t, k, diskSize, func(t *testing.T, d *smallDisk) {
				d.fillPatiently(t, 40*mib) // compaction may lag
				d.comeToRest(t)
				d.sufferBallast(t, leave)
			})
		})
	}
}

// TestSuddenlyFullDiskWhileFlushing lets another process take all space while Badger writes.
func TestSuddenlyFullDiskWhileFlushing(t *testing.T) {
	forEachKind(t, testSuddenlyFullDiskWhileFlushing)
}

func testSuddenlyFullDiskWhileFlushing(t *testing.T, k kind) {
	if k.maps {
		t.Skip("Badger writes through maps: if all that is kept free is taken by another process within one flush, the process " +
			"ends with SIGBUS. Nothing is lost then, and Open says what to do")
	}
	withDisk(t, k, diskSize, func(t *testing.T, d *smallDisk) {
		rounds := 4
		if testing.Short() {
			rounds = 1
		}
		for range rounds { // at any moment of what the store does
			d.fillPatiently(t, 20*mib+rand.Int64N(20*mib))
			d.sufferBallast(t, 0)
			d.removeMost(t)
			d.awaitRoom(t)
		}
	})
}

// sufferBallast lives through a full disk.
func (d *smallDisk) sufferBallast(t *testing.T, leave int64) {
	remove := d.ballast(t, leave)
	err := d.fill(t, diskSize)
	require.Error(t, err)
	t.Log("full: ", err)
	d.requireAll(t)
	remove()
	d.awaitRoom(t)
	d.fillPatiently(t, 8*mib)
	d.requireAll(t)
	d.restart(t)
	d.requireAll(t)
}

// comeToRest waits until Badger writes nothing any more.
func (d *smallDisk) comeToRest(t *testing.T) {
	require.NoError(t, d.WriteBack())
	require.Eventually(t, func() bool {
		if !d.kind.maps {
			return true
		}
		logs, err := filepath.Glob(filepath.Join(d.dir, "data", "badger", "*.mem"))
		require.NoError(t, err)
		return len(logs) == 1
	}, 20*time.Second, 10*time.Millisecond)
}

// TestOpenOnAFullDisk is a restart while there is no space: the data is there, and reads go on.
func TestOpenOnAFullDisk(t *testing.T) { forEachKind(t, testOpenOnAFullDisk) }

func testOpenOnAFullDisk(t *testing.T, k kind) {
	withDisk(t, k, diskSize, func(t *testing.T, d *smallDisk) {
		d.fillPatiently(t, 40*mib) // compaction may lag
		require.NoError(t, d.Close())
		for _, leave := range []int64{0, 4 * kib, mib} {
			remove := d.ballast(t, leave)
			_, err := small(filepath.Join(d.dir, "data")).open()
			require.ErrorIs(t, err, engine.ErrFull)
			require.ErrorContains(t, err, d.dir)
			remove()
		}
		d.open(t)
		d.requireAll(t)
		d.fillPatiently(t, 8*mib)
	})
}

// TestCloseOnAFullDisk closes an engine when there is no space to write back.
func TestCloseOnAFullDisk(t *testing.T) { forEachKind(t, testCloseOnAFullDisk) }

func testCloseOnAFullDisk(t *testing.T, k kind) {
	for _, leave := range []int64{0, mib} {
		if testing.Short() && leave > 0 {
			continue
		}
		t.Run(fmt.Sprint(leave), func(t *testing.T) {
			withDisk(t, k, diskSize, func(t *testing.T, d *smallDisk) {
				dir := filepath.Join(d.dir, "population")
				e := openCalm(t, dir)
				for stage := range stages - 1 {
					populate(t, e, stage)
				}
				require.NoError(t, e.Close())

				// In a process of its own: it leaves Badger locked.
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), examinerVariable+"=full", fillVariable+"="+dir)
				in, err := cmd.StdinPipe()
				require.NoError(t, err)
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				cmd.Stderr = os.Stderr
				require.NoError(t, cmd.Start())
				_, err = out.Read(make([]byte, 1)) // it has written
				require.NoError(t, err)
				remove := d.ballast(t, leave)
				require.NoError(t, in.Close())
				require.NoError(t, cmd.Wait())
				remove()

				x := newExaminer(t, "self")
				require.Equal(t, verdict{}, x.examine(t, dir))
			})
		})
	}
}
