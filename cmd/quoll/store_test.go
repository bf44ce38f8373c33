package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node/datadir"
)

// runReal runs a command line with nodes that really run.
func runReal(args ...string) (code int, stderr string) {
	var err strings.Builder
	a := &app{stdout: io.Discard, stderr: &err, signals: make(chan os.Signal), node: runNode, dev: runDev}
	code = a.run(args)
	return code, err.String()
}

func TestStoresThatCannotBeUsedEndWithCode1AndOneLine(t *testing.T) {
	top := t.TempDir()
	newDir := func(name, cluster, node string) (path string, d *datadir.Dir) {
		path = filepath.Join(top, name)
		d, err := datadir.Open(datadir.Options{Path: path, Cluster: cluster, Node: node, Engine: "badger", Fsync: datadir.FsyncAlways, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		return path, d
	}
	locked, holder := newDir("locked", "quoll", "a")
	t.Cleanup(func() { _ = holder.Close(true) })
	other, d := newDir("other", "quoll", "b")
	require.NoError(t, d.Close(true))
	circus, d := newDir("circus", "circus", "a")
	require.NoError(t, d.Close(true))
	_, d = newDir("dev/n7", devCluster, "n7")
	require.NoError(t, d.Close(true))
	foreign := filepath.Join(top, "foreign")
	require.NoError(t, os.Mkdir(foreign, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o600))
	unsaid, d := newDir("unsaid", "quoll", "a") // its engine's files are gone
	require.NoError(t, d.Close(true))

	node := "node --log-level error --name a --initial-cluster a=127.0.0.1:1 --replicas 1 --peer 127.0.0.1:0 --admin 127.0.0.1:0 --engine badger --data "
	dev := "dev --log-level error --listen 127.0.0.1:0 --engine badger --data "
	for line, want := range map[string]string{
		node + locked: " is in use by another process: its process ID is ",
		node + other:  ` belongs to another node: it is of node "b", not "a"; correct --name, or give another --data`,
		node + circus: ` belongs to another cluster: it is of cluster "circus", not "quoll"; correct --cluster-name, or give another --data`,
		strings.Replace(node, "badger", "pebble", 1) + unsaid: ` belongs to another engine: it is of engine "badger", not "pebble": give --engine badger, or another --data; ` +
			`to change the engine make a new cluster of a backup (quoll node backup, quoll node restore --engine pebble)`,
		node + foreign:                  ` is not empty, and not a data directory of Quoll: it has "thesis.tex"; `,
		node + unsaid:                   "is missing",
		node + foreign + "/thesis.tex":  " is not a directory: ",
		dev + locked:                    " is that of a single quoll node: give another --data",
		dev + filepath.Join(top, "dev"): " has a node n7, which a cluster of 3 nodes has not: give the --nodes of before, or another --data",
	} {
		code, stderr := runReal(strings.Fields(line)...)
		require.Equal(t, exitFailure, code, line)
		require.Contains(t, stderr, want, line)
		require.True(t, strings.HasPrefix(stderr, "quoll: "), "%s: %s", line, stderr)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %s", line, stderr)
	}
}

// devRun is a `quoll dev` that runs.
type devRun struct {
	client  *redis.Client
	welcome string
	stop    func() error
}

func runningDev(t *testing.T, cfg config.Dev) devRun {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := runDev(ctx, cfg, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})), writer, asTable)
		writer.Close()
		done <- err
	}()
	buffered := bufio.NewReader(reader)
	var welcome strings.Builder
	for !strings.Contains(welcome.String(), "Ctrl-C") {
		line, err := buffered.ReadString('\n')
		require.NoError(t, err, welcome.String())
		welcome.WriteString(line)
	}
	address := regexp.MustCompile(`connect to (\S+)\.\n`).FindStringSubmatch(welcome.String())
	require.NotNil(t, address, welcome.String())
	client := redis.NewClient(&redis.Options{Addr: address[1], MaxRetries: -1, ReadTimeout: cfg.OperationTimeout})
	return devRun{client: client, welcome: welcome.String(), stop: func() error {
		_ = client.Close()
		cancel()
		return <-done
	}}
}

func TestDevKeepsItsData(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two clusters on disk")
	}
	cfg := config.DefaultDev()
	cfg.Listen, cfg.Engine, cfg.Data, cfg.Cache = "127.0.0.1:0", config.Badger, filepath.Join(t.TempDir(), "quoll"), 64*config.MiB
	cfg.OperationTimeout = 20 * time.Second // on a busy machine
	dev := runningDev(t, cfg)
	require.Contains(t, dev.welcome, ", in "+cfg.Data+" (fsync always). Redis clients")
	require.Contains(t, dev.welcome, "The data is kept when this ends")
	require.NoError(t, dev.client.Set(t.Context(), "greeting", "hello", 0).Err())
	require.NoError(t, dev.client.Incr(t.Context(), "visits").Err())
	require.NoError(t, dev.stop())

	other := cfg
	other.Nodes = 5
	require.EqualError(t, runDev(t.Context(), other, slog.New(slog.DiscardHandler), io.Discard, asTable),
		"data directory "+cfg.Data+" has a cluster of 3 nodes with 3 replicas: give --nodes 3 --replicas 3, or another --data")
	require.NoDirExists(t, filepath.Join(cfg.Data, "n4"))

	dev = runningDev(t, cfg) // other ports
	greeting, err := dev.client.Get(t.Context(), "greeting").Result()
	require.NoError(t, err)
	require.Equal(t, "hello", greeting)
	visits, err := dev.client.Incr(t.Context(), "visits").Result()
	require.NoError(t, err)
	require.EqualValues(t, 2, visits)
	require.NoError(t, dev.stop())
}
