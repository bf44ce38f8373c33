package disk_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

var readyKeys = flag.Int("ready-keys", 1_000_000, "how many keys of 1 KiB BenchmarkReady has")

// BenchmarkReady shows how long it takes until an engine that holds many keys serves
// again: after it was closed, and after its process was killed. Open is the time until it
// answers, counted until it also knows how much it holds.
//
//	go test ./node/engine/disk -run '^$' -bench Ready -benchtime 1x
func BenchmarkReady(b *testing.B) {
	for _, k := range kinds {
		for _, end := range []string{"closed", "killed"} {
			b.Run(k.name+"/"+end, func(b *testing.B) { benchmarkReady(b, k.dir(b.TempDir()), end) })
		}
	}
}

func benchmarkReady(b *testing.B, dir, end string) {
	pid, err := syscall.ForkExec(os.Args[0], os.Args[:1], &syscall.ProcAttr{
		Env:   append(os.Environ(), examinerVariable+"="+end, fillVariable+"="+fmt.Sprint(*readyKeys, " ", dir)),
		Files: []uintptr{0, 1, 2},
	})
	require.NoError(b, err)
	var status syscall.WaitStatus
	_, err = syscall.Wait4(pid, &status, 0, nil)
	require.NoError(b, err)
	require.True(b, status.Signal() == syscall.SIGKILL || status.ExitStatus() == 0, "%v", status)
	out, _ := filepath.Glob(filepath.Join(dir, "journal", "*.wal"))
	b.Logf("%d journal segments", len(out))
	for b.Loop() {
		measureReady(b, dir)
	}
}

// fillVariable tells a process to fill an engine: how many keys, and where.
const fillVariable = "QUOLL_FILL"

// fill fills an engine with as many keys as it is told, and ends as it is told.
func fill(end string) error {
	var n int
	var dir string
	if _, err := fmt.Sscan(os.Getenv(fillVariable), &n, &dir); err != nil {
		return err
	}
	e, err := large(dir).open()
	if err != nil {
		return err
	}
	const batch = 1000
	for i := range n {
		if i%batch == 0 {
			for e.Room() != nil {
				time.Sleep(time.Millisecond)
			}
			if err := commit(e); err != nil {
				return err
			}
		}
		rec := record.Record{Version: versionOf(uint64(i)), State: record.State{Type: record.String, Value: value(uint64(i), kib)}}
		if err := e.Put(uint16(i%engine.Slots), fmt.Append(nil, "key:", i), rec); err != nil {
			return err
		}
	}
	if err := commit(e); err != nil {
		return err
	}
	if end == "killed" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return e.Close()
}

// large are the options of a node.
func large(dir string) options {
	k := kindOf(dir)
	opt := options{kind: k, Options: disk.Options{Dir: filepath.Join(dir, k.name), Journal: filepath.Join(dir, "journal"), Cache: 4 << 30}}
	opt.MustExist = exists(opt.Dir)
	return opt
}

func measureReady(b *testing.B, dir string) {
	start := time.Now()
	e, err := large(dir).open()
	require.NoError(b, err)
	_, _, err = e.Get(1, []byte("key:1"))
	require.NoError(b, err)
	b.ReportMetric(time.Since(start).Seconds(), "s-open")
	var sum engine.SlotStats
	for slot := range uint16(engine.Slots) {
		stats, err := e.Stats(slot)
		require.NoError(b, err)
		sum.Merge(stats)
	}
	b.ReportMetric(time.Since(start).Seconds(), "s-counted")
	require.Equal(b, uint64(*readyKeys), sum.Live)
	require.NoError(b, e.Close())
}
