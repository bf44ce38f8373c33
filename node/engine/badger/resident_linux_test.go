package badger

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestParseMapped(t *testing.T) {
	const smaps = `00400000-00c96000 r-xp 00000000 fe:00 42                   /usr/bin/quoll
Rss:                1000 kB
3295eb800000-3295ec000000 rw-p 00000000 00:00 0                            [anon: Go: heap]
Rss:                2000 kB
7f6290000000-7f6290021000 rw-p 00000000 00:00 0
Rss:                3000 kB
7f62efd0f000-7f62efd35000 rw-s 00000000 fe:00 326269                     /data/a b/000001.vlog
Size:                152 kB
Rss:                 100 kB
Pss:                  99 kB
7f62efe00000-7f62efe01000 r--s 00000000 fe:00 326270                     /data/a b/000002.sst
7f62eff00000-7f62eff01000 r--s 00000000 fe:00 326270                     /data/a bc/000002.sst
Rss:                   4 kB
`
	require.Equal(t, []file{
		{start: 0x7f62efd0f000, end: 0x7f62efd35000, path: "/data/a b/000001.vlog", resident: 100 << 10},
		{start: 0x7f62efe00000, end: 0x7f62efe01000, path: "/data/a b/000002.sst"},
	}, parseMapped(strings.NewReader(smaps), "/data/a b/"))
	require.Empty(t, parseMapped(strings.NewReader("nonsense\n\n-\nRss: 1 kB\n"), ""))
}

// TestMappedFilesAreGivenBack: no more of them is resident than may be, and nothing of what was written is lost.
func TestMappedFilesAreGivenBack(t *testing.T) {
	const size = 8 << 20
	dir := t.TempDir()
	maps := map[string][]byte{}
	for _, name := range []string{"1", "2", "3"} {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, f.Truncate(size))
		memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(t, err)
		defer func() { require.NoError(t, unix.Munmap(memory)) }()
		maps[name] = memory
		copy(memory, bytes.Repeat([]byte(name), size))
	}
	held := func() (total int64) {
		for _, f := range mappedFiles(dir) {
			total += f.resident
		}
		return total
	}
	require.EqualValues(t, 3*size, held())
	r := &resident{dir: dir, most: 3 * size}
	r.look()
	require.EqualValues(t, 3*size, held(), "it may be so much")
	r.most = 2*size + size/2
	r.look()
	if held() == 3*size {
		t.Skip("this system, or its file system, does not give pages back when it is advised to")
	}
	require.LessOrEqual(t, held(), r.most/2)
	for name, memory := range maps {
		require.Equal(t, size, bytes.Count(memory, []byte(name)))
	}
	require.EqualValues(t, 3*size, held(), "they are read again")
}
