package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// TestDataDirectoriesOfBefore: testdata/before has what four nodes of the code before rings changed (commit 410e6c0) have written. n1 and n3 are of Badger, n2 and n4
// of Pebble; n1 and n2 were stopped in order, n3 and n4 killed. They start, on other ports, have kept their data, and take part in a change of the ring.
func TestDataDirectoriesOfBefore(t *testing.T) {
	top := t.TempDir()
	names := []string{"n1", "n2", "n3", "n4"}
	for _, name := range names {
		unpack(t, filepath.Join("testdata", "before", name+".tar.gz"), top)
	}
	for life := range 2 {
		c := startBefore(t, top, names)
		client := redis.NewClient(&redis.Options{Addr: c.address, MaxRetries: -1, ReadTimeout: 20 * time.Second})
		require.Eventually(t, func() bool {
			return client.Ping(t.Context()).Err() == nil && client.Get(t.Context(), "key:3").Err() == nil
		}, 20*time.Second, 10*time.Millisecond)
		for i := 3; i < 30; i++ {
			value, err := client.Get(t.Context(), fmt.Sprint("key:", i)).Result()
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("value-", i), value)
		}
		for key, want := range map[string]string{"key:1": "value-1-more", "key:2": "again"} {
			value, err := client.Get(t.Context(), key).Result()
			require.NoError(t, err)
			require.Equal(t, want, value)
		}
		require.ErrorIs(t, client.Get(t.Context(), "key:30").Err(), redis.Nil)
		hash, err := client.HGetAll(t.Context(), "hash").Result()
		require.NoError(t, err)
		require.Equal(t, map[string]string{"f1": "v1", "f2": "v2", "f3": "v3"}, hash)
		require.NoError(t, client.Set(t.Context(), "life", life, 0).Err())
		require.NoError(t, client.Close())

		require.Greater(t, c.nodes[0].Document().Version, uint64(life))
		require.NoError(t, c.nodes[life].Propose(t.Context(), change.Entry{By: "test", Rate: &change.Rate{Bytes: int64(life+1) << 20}}))
		for _, n := range c.nodes {
			require.Eventually(t, func() bool { return n.Document().Rate == int64(life+1)<<20 }, 20*time.Second, 10*time.Millisecond)
		}
		c.stop()
	}
}

// startedBefore is nodes on such directories, and a proxy that was told of one.
type startedBefore struct {
	nodes   []*node.Node
	address string
	stop    func()
}

func startBefore(t *testing.T, top string, names []string) startedBefore {
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	var initial ring.Initial
	var listeners []net.Listener
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners = append(listeners, listener)
		initial = append(initial, ring.InitialMember{Name: name, Peer: listener.Addr().String()})
	}
	var c startedBefore
	var stops []func() error
	for i, name := range names {
		cfg := config.DefaultNode()
		cfg.Name, cfg.ClusterName, cfg.Engine, cfg.Cache, cfg.Data = name, "before", []string{config.Badger, config.Pebble}[i%2], 64*config.MiB, filepath.Join(top, name)
		s, err := openStore(cfg, log)
		require.NoError(t, err)
		n, err := s.start(node.Options{Name: name, ClusterName: "before", Initial: initial, Replicas: 3, Weight: 1, Listener: listeners[i], Version: "test", Logger: log})
		require.NoError(t, err)
		c.nodes = append(c.nodes, n)
		stops = append(stops, func() error { return s.stop(n) })
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.address = listener.Addr().String()
	cfg := config.DefaultProxy()
	cfg.ClusterName, cfg.Nodes, cfg.OperationTimeout = "before", []string{initial[2].Peer}, 20*time.Second
	p, err := startProxy(clientListeners{plain: listener}, new(security), cfg, surroundings{}, newFailures(), log)
	require.NoError(t, err)
	c.stop = func() {
		stop(p.close)
		for _, end := range stops {
			require.NoError(t, end())
		}
	}
	return c
}

// unpack extracts an archive.
func unpack(t *testing.T, archive, into string) {
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		require.NotContains(t, h.Name, "..")
		path := filepath.Join(into, h.Name)
		if strings.HasSuffix(h.Name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		require.NoError(t, copySparse(out, in))
		require.NoError(t, out.Truncate(h.Size))
		require.NoError(t, out.Close())
	}
}

// copySparse leaves out what is zero: most of a log is room.
func copySparse(out *os.File, in io.Reader) error {
	var block, zeros [64 << 10]byte
	for at := int64(0); ; {
		n, err := io.ReadFull(in, block[:])
		if n > 0 && !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], at); err != nil {
				return err
			}
		}
		if at += int64(n); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
	}
}
