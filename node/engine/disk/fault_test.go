package disk_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/enginetest"
)

var flips = flag.Int("flips", 0, "how many bytes of each file are flipped, one at a time (0: a few)")

// templates are directories that hold the population, each in another way. What is done
// to their copies must be noticed, or make no difference.
func templates(t *testing.T, k kind) map[string]string {
	return map[string]string{"Closed": closedDir(t, k), "Abandoned": abandonedDir(t, k)}
}

// closedDir returns a directory that was closed as it should be.
func closedDir(t *testing.T, k kind) string {
	dir := filepath.Join(k.dir(t.TempDir()), "closed")
	for stage := range stages {
		e := openCalm(t, dir)
		populate(t, e, stage)
		require.NoError(t, e.Close())
	}
	return dir
}

// abandonedDir returns a directory as kill -9 leaves it: of the last stages, one is in
// Badger's log and one in the journal only.
func abandonedDir(t *testing.T, k kind) string {
	root := k.dir(t.TempDir())
	dir, frozen := filepath.Join(root, "used"), filepath.Join(root, "abandoned")
	for stage := range stages - 2 {
		e := openCalm(t, dir)
		populate(t, e, stage)
		require.NoError(t, e.Close())
	}
	e := openCalm(t, dir)
	populate(t, e, stages-2)
	require.NoError(t, e.WriteBack())
	populate(t, e, stages-1)
	// Of what is in a journal's last frame nothing says whether it was ever complete.
	require.NoError(t, e.PutSlot(populatedSlots, record.SlotMeta{Epoch: 1}))
	require.NoError(t, commit(e))
	require.NoError(t, enginetest.Freeze(dir, frozen))
	require.NoError(t, e.Close())
	return frozen
}

// calm are options with which nothing is written to Badger unless the engine is told to. Its files are small, so that they
// are copied soon, also where a file system knows of no holes.
func calm(dir string) options {
	opt := small(dir)
	opt.FlushInterval, opt.FlushSize, opt.valueFile = time.Hour, 1<<40, 4*mib
	return opt
}

func openCalm(t *testing.T, dir string) *disk.Engine {
	e, err := calm(dir).open()
	require.NoError(t, err)
	return e
}

// files returns the files below a directory, but for locks; only one of each kind if the
// test is to be short.
func files(t *testing.T, dir string) (names []string) {
	kinds := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "LOCK" {
			return err
		}
		kind := filepath.Ext(name)
		if !testing.Short() || kind == "" || !kinds[kind] {
			names = append(names, name[len(dir)+1:])
		}
		kinds[kind] = true
		return nil
	}))
	return names
}

// tried is what was tried, and its outcomes.
type tried struct {
	kind     kind
	examiner *examiner
	template string
	verdicts map[string]int
}

// try damages a copy of the template and examines it.
func (x *tried) try(t *testing.T, what string, damage func(dir string)) verdict {
	t.Helper()
	copied := filepath.Join(x.kind.dir(t.TempDir()), "copy")
	require.NoError(t, os.MkdirAll(filepath.Dir(copied), 0o700))
	out, err := exec.Command("cp", "-a", x.template, copied).CombinedOutput()
	require.NoError(t, err, "%s", out)
	damage(copied)
	v := x.examiner.examine(t, copied)
	require.NoError(t, os.RemoveAll(copied))
	switch {
	case v.Wrong != "":
		x.verdicts["wrong"]++
		t.Errorf("%s: %s", what, begin(v.Wrong))
	case v.Refused != "":
		x.verdicts["refused"]++
		if !strings.Contains(v.Refused, copied) {
			t.Errorf("%s: the error does not say where: %s", what, v.Refused)
		}
	case v.Unreadable > 0:
		x.verdicts["unreadable"]++
	default:
		x.verdicts["no difference"]++
	}
	return v
}

func forEachTemplate(t *testing.T, test func(t *testing.T, x *tried)) {
	forEachKind(t, func(t *testing.T, k kind) { forEachTemplateOf(t, k, test) })
}

func forEachTemplateOf(t *testing.T, k kind, test func(t *testing.T, x *tried)) {
	for name, dir := range templates(t, k) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &tried{kind: k, examiner: newExaminer(t, "self"), template: dir, verdicts: map[string]int{}}
			test(t, x)
			t.Log(x.verdicts)
		})
	}
}

// TestUndamaged shows that the other tests can tell something.
func TestUndamaged(t *testing.T) {
	forEachTemplate(t, func(t *testing.T, x *tried) {
		require.Equal(t, verdict{}, x.try(t, "nothing", func(string) {}))
		for _, name := range files(t, x.template) {
			info, err := os.Stat(filepath.Join(x.template, name))
			require.NoError(t, err)
			t.Logf("%-40s %10d bytes", name, info.Size())
		}
	})
}

func TestFlippedBytes(t *testing.T) {
	forEachTemplate(t, func(t *testing.T, x *tried) {
		for _, name := range files(t, x.template) {
			some := places(t, filepath.Join(x.template, name))
			for i, at := range some {
				mask := byte(1) << (i % 8)
				x.try(t, fmt.Sprintf("%s, byte %d xor %#x", name, at, mask), func(dir string) {
					flip(t, filepath.Join(dir, name), at, mask)
				})
			}
		}
	})
}

func flip(t *testing.T, name string, at int64, mask byte) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	var b [1]byte
	_, err = file.ReadAt(b[:], at)
	require.NoError(t, err)
	b[0] ^= mask
	_, err = file.WriteAt(b[:], at)
	require.NoError(t, err)
}

// places returns offsets of a file: some at its begin, at its end, at the end of what is not
// zero, and in between.
func places(t *testing.T, name string) (at []int64) {
	n := *flips
	if n == 0 {
		n = 5 // one of each kind
		if testing.Short() {
			n = 2
		}
	}
	size, used := extent(t, name)
	random := rand.New(rand.NewPCG(uint64(size), 1))
	seen := map[int64]bool{}
	add := func(i int64) {
		if i >= 0 && i < size && !seen[i] {
			seen[i] = true
			at = append(at, i)
		}
	}
	for i := range n {
		switch i % 5 {
		case 0:
			add(used - 1 - random.Int64N(100))
		case 1:
			add(random.Int64N(min(used, 100) + 1))
		case 2:
			add(size - 1 - int64(i/5))
		default:
			add(random.Int64N(used + 1))
		}
	}
	return at
}

// extent returns the size of a file, and where its trailing zeros begin.
func extent(t *testing.T, name string) (size, used int64) {
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	size = int64(len(content))
	zeros := make([]byte, 64*kib)
	for bytes.HasSuffix(content, zeros) { // quicker than byte by byte: files are large
		content = content[:len(content)-len(zeros)]
	}
	return size, int64(len(bytes.TrimRight(content, "\x00")))
}

func TestTruncatedFiles(t *testing.T) {
	forEachTemplate(t, func(t *testing.T, x *tried) {
		for _, name := range files(t, x.template) {
			info, err := os.Stat(filepath.Join(x.template, name))
			require.NoError(t, err)
			sizes := []int64{0, max(0, info.Size()-1), 1, info.Size() / 2}
			if testing.Short() {
				sizes = sizes[1:2]
			}
			for _, size := range sizes {
				x.try(t, fmt.Sprintf("%s, %d bytes of %d", name, size, info.Size()), func(dir string) {
					require.NoError(t, os.Truncate(filepath.Join(dir, name), size))
				})
			}
		}
	})
}

func TestDeletedFiles(t *testing.T) {
	forEachTemplate(t, func(t *testing.T, x *tried) {
		for _, name := range files(t, x.template) {
			x.try(t, name+" deleted", func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, name))) })
		}
		for _, name := range []string{x.kind.name, "journal"} {
			x.try(t, name+" deleted", func(dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, name))) })
			v := x.try(t, name+" emptied", func(dir string) {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
				require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
			})
			require.True(t, v.Corrupt, "%+v", v)
		}
	})
}

// TestForeignFiles adds files that nobody expects.
func TestForeignFiles(t *testing.T) {
	forEachTemplate(t, func(t *testing.T, x *tried) {
		for i, name := range append(x.kind.foreign, "journal/notes.txt", "journal/0000000000000099.wal",
			"journal/checkpoint.tmp", "journal/x.wal", "journal/x.spare", "journal/.hidden") {
			if testing.Short() && i%3 != 0 {
				continue
			}
			x.try(t, name+" added", func(dir string) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), value(1, 5000), 0o600))
			})
			if testing.Short() {
				continue
			}
			x.try(t, name+" added, empty", func(dir string) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			})
			x.try(t, name+" added, a directory", func(dir string) {
				require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
			})
		}
	})
}

// TestPermissions takes away what the files permit.
func TestPermissions(t *testing.T) {
	user := "self"
	if os.Getuid() == 0 {
		user = "nobody"
	}
	forEachTemplate(t, func(t *testing.T, x *tried) {
		x.examiner = newExaminer(t, user)
		give := func(dir string) { x.giveTo(t, dir) }
		x.try(t, "nothing", give)
		for _, name := range files(t, x.template) {
			modes := []os.FileMode{0, 0o400}
			if testing.Short() {
				modes = modes[:1]
			}
			for _, mode := range modes {
				x.try(t, fmt.Sprintf("%s is %s", name, mode), func(dir string) {
					give(dir)
					require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
				})
			}
		}
		for _, name := range []string{x.kind.name, "journal"} {
			for _, mode := range []os.FileMode{0, 0o500} {
				v := x.try(t, fmt.Sprintf("%s is %s", name, mode), func(dir string) {
					give(dir)
					require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
				})
				require.NotEmpty(t, v.Refused)
			}
		}
	})
}

// giveTo makes a directory, and the way to it, accessible to the user of the examiner.
func (x *tried) giveTo(t *testing.T, dir string) {
	if os.Getuid() != 0 {
		return
	}
	require.NoError(t, filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		require.NoError(t, err)
		return os.Chown(name, nobody, nobody)
	}))
	for up := filepath.Dir(dir); up != os.TempDir() && len(up) > 1; up = filepath.Dir(up) {
		require.NoError(t, os.Chmod(up, 0o755))
	}
}
