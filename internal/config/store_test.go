package config

import (
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestStoreOnDisk(t *testing.T) {
	cfg, err := load("node", "--engine=badger", "--data=/d", "--fsync=interval=250ms", "--cache=1gb")
	require.NoError(t, err)
	n := cfg.(*Node)
	require.Equal(t, []any{Badger, "/d", 250 * time.Millisecond, "interval", GiB},
		[]any{n.Engine, n.Data, n.Fsync.Interval(), n.Fsync.Mode(), n.Cache})
	cfg, err = load("node", "--engine=badger", "--data=/d")
	require.NoError(t, err)
	n = cfg.(*Node)
	require.Equal(t, []any{"always", time.Duration(0)}, []any{n.Fsync.Mode(), n.Fsync.Interval()})
	require.Equal(t, defaultCache(os.DirFS("/"), 1), n.Cache)
	cfg, err = load("dev", "--engine=badger", "--data=/d", "--nodes=5")
	require.NoError(t, err)
	require.Equal(t, defaultCache(os.DirFS("/"), 5), cfg.(*Dev).Cache)
	cfg, err = load("node")
	require.NoError(t, err)
	require.Zero(t, cfg.(*Node).Cache, "the memory engine has none")

	for want, args := range map[string][]string{
		"cache: 1MiB is out of range: from 64MiB to 1TiB":           {"--data=/d", "--cache=1mb"},
		`data: "a\nb" has characters that cannot be printed`:        {"--data=a\nb"},
		`data: "a\xff" has characters that cannot be printed`:       {"--data=a\xff"},
		`data: is required with --engine badger: a directory of it`: {"--data="},
	} {
		for _, command := range []string{"node", "dev"} {
			_, err := load(command, append(args, "--engine=badger")...)
			require.ErrorContains(t, err, want)
		}
	}
	_, err = load("dev", "--data=/d", "--fsync=interval=1s", "--cache=1gb")
	require.Len(t, err, 3, "all at once: %v", err)
}

func TestFsync(t *testing.T) {
	for _, text := range []string{"", "Always", "interval", "interval=", "interval=100", "interval=999us", "interval=10.001s", "interval=-1s", "100ms", "always=1s", " always"} {
		require.ErrorIs(t, new(Fsync).Set(text), errFsync, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		f, back := Fsync(rapid.Int64Range(int64(time.Millisecond), int64(10*time.Second)).Draw(t, "interval")), Fsync(0)
		require.NoError(t, back.Set(f.String()))
		require.Equal(t, f, back)
		require.NoError(t, back.Set("always"))
		require.Equal(t, FsyncAlways, back)
	})
}

func TestMemoryOfTheMachine(t *testing.T) {
	const none = "9223372036854771712\n" // how version 1 says that there is no limit
	files := func(pairs ...string) fstest.MapFS {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal:       16777216 kB\nMemFree:        1 kB\n")}}
		for i := 0; i < len(pairs); i += 2 {
			root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return root
	}
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want Size
	}{
		"nothing known":        {fstest.MapFS{}, 0},
		"no groups":            {files(), 16 * GiB},
		"version 2, no limit":  {files("proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "max\n"), 16 * GiB},
		"version 2, own limit": {files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "1073741824\n"), GiB},
		"version 2, the slice's": {files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "max\n",
			"sys/fs/cgroup/a/memory.max", "2147483648\n"), 2 * GiB},
		"version 2, container":    {files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1073741824\n"), GiB},
		"version 2, path outside": {files("proc/self/cgroup", "0::/../../docker/x\n", "sys/fs/cgroup/memory.max", "1073741824\n"), GiB},
		"version 1, no limit":     {files("proc/self/cgroup", "3:cpu,memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", none), 16 * GiB},
		"version 1, own limit":    {files("proc/self/cgroup", "4:memory:/a:b\n3:cpu:/\n", "sys/fs/cgroup/memory/a:b/memory.limit_in_bytes", "536870912\n"), GiB / 2},
		"version 1, container":    {files("proc/self/cgroup", "4:memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"), GiB / 2},
		"both versions": {files("proc/self/cgroup", "4:memory:/a\n0::/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "536870912\n",
			"sys/fs/cgroup/unified/a/memory.max", "7\n"), GiB / 2},
		"more than there is": {files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1099511627776\n"), 16 * GiB},
		"nonsense":           {files("proc/self/cgroup", "?\n0::\n::\n\n", "sys/fs/cgroup/memory.max", "?\n"), 16 * GiB},
		"only a limit":       {fstest.MapFS{"proc/self/cgroup": {Data: []byte("0::/\n")}, "sys/fs/cgroup/memory.max": {Data: []byte("1073741824")}}, GiB},
	} {
		require.Equal(t, tc.want, machineMemory(tc.root), name)
	}
	require.Equal(t, 2*GiB, defaultCache(files(), 1))
	require.Equal(t, 682*MiB, defaultCache(files(), 3))
	require.Equal(t, leastCache, defaultCache(files(), 64))
	require.Equal(t, leastCache, defaultCache(fstest.MapFS{}, 1))
	require.Equal(t, mostCache, defaultCache(fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal: 99999999999 kB\n")}}, 1))
}
