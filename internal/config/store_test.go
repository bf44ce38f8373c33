package config

import (
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
	require.Equal(t, defaultCache(n.Memory, 1), n.Cache)
	cfg, err = load("dev", "--engine=badger", "--data=/d", "--nodes=5")
	require.NoError(t, err)
	require.Equal(t, defaultCache(cfg.(*Dev).Memory, 5), cfg.(*Dev).Cache)
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
	require.Equal(t, 12*GiB, defaultMemory(files(), MiB))
	require.Equal(t, 13*GiB, defaultMemory(files(), 13*GiB))
	require.Equal(t, unknownMemory, defaultMemory(fstest.MapFS{}, MiB))
	require.Equal(t, 2*GiB, defaultCache(12*GiB, 1))
	require.Equal(t, 682*MiB, defaultCache(12*GiB, 3))
	require.Equal(t, leastCache, defaultCache(12*GiB, 64))
	require.Equal(t, mostCache, defaultCache(mostMemory, 1))
}

// TestThePartsOfMemory are no more than all of it, whatever is left to quoll.
func TestThePartsOfMemory(t *testing.T) {
	for _, memory := range []string{"512MiB", "1GiB", "12GiB", "2TiB"} {
		for _, engine := range [][]string{{"--engine=memory"}, {"--engine=badger", "--data=/d"}} {
			cfg, err := load("node", append(engine, "--memory="+memory)...)
			require.NoError(t, err)
			n := cfg.(*Node)
			require.LessOrEqual(t, n.MaxPending+max(n.Cache, n.DataMemory()), n.Memory-n.Memory/4)
			require.Greater(t, n.DataMemory(), n.Memory/2)
		}
		cfg, err := load("dev", "--nodes=1", "--replicas=1", "--memory="+memory)
		require.NoError(t, err)
		d := cfg.(*Dev)
		require.LessOrEqual(t, d.ClientMemory()+d.MaxPending()+d.DataMemory(), d.Memory-d.Memory/4)
		cfg, err = load("proxy", "--memory="+memory)
		require.NoError(t, err)
		require.LessOrEqual(t, cfg.(*Proxy).ClientMemory, cfg.(*Proxy).Memory/2)
	}
	cfg, err := load("dev", "--memory=3GiB")
	require.NoError(t, err)
	d := cfg.(*Dev)
	require.Equal(t, []Size{512 * MiB, 128 * MiB, 469 * MiB}, []Size{d.ClientMemory(), d.MaxPending(), d.DataMemory()})

	for want, args := range map[string][]string{
		"memory: 255MiB is out of range: from 256MiB":                                                  {"node", "--memory=255MiB"},
		"cache: 257MiB does not fit into --memory 512MiB: at most 256MiB; give less, or more --memory": {"node", "--memory=512MiB", "--engine=badger", "--data=/d", "--cache=257MiB"},
		"max-pending: 129MiB does not fit into --memory 512MiB: at most 128MiB":                        {"node", "--memory=512MiB", "--max-pending=129MiB"},
		"memory: 287MiB is out of range: from 288MiB":                                                  {"proxy", "--memory=287MiB"},
		"client-memory: 300MiB does not fit into --memory 512MiB: at most 256MiB":                      {"proxy", "--memory=512MiB", "--client-memory=300MiB"},
		"cache: 400MiB does not fit into --memory 2GiB: at most 341MiB":                                {"dev", "--memory=2GiB", "--engine=badger", "--data=/d", "--cache=400MiB"},
		"memory: 512MiB is out of range: from 672MiB":                                                  {"dev", "--memory=512MiB"},
	} {
		_, err := load(args[0], args[1:]...)
		require.ErrorContains(t, err, want)
	}
}
