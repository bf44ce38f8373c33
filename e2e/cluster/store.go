//go:build unix

package cluster

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quolldb/quoll/internal/artifact"
)

// OnDisk returns the engine that tests use for nodes on disk: $TEST_ENGINE, or badger.
func OnDisk() string { return cmp.Or(os.Getenv("TEST_ENGINE"), "badger") }

// store gives the nodes their data directories, if the engine has some, and returns the
// arguments that a node's store needs.
func (cfg Config) store(t testing.TB, nodes []*Member) func(*Member) []string {
	var common []string
	for _, setting := range []struct{ flag, value string }{{"--engine", cfg.Engine}, {"--fsync", cfg.Fsync}, {"--cache", cfg.Cache}} {
		if setting.value != "" {
			common = append(common, setting.flag, setting.value)
		}
	}
	if cfg.Engine == "" || cfg.Engine == "memory" {
		return func(*Member) []string { return common }
	}
	parent := cfg.Data
	if parent == "" {
		parent = dataDir(t)
	}
	for _, m := range nodes {
		if !slices.Contains(cfg.InMemory, m.Node) {
			m.Data = filepath.Join(parent, m.Node)
		}
	}
	return func(m *Member) []string {
		if m.Data == "" {
			return nil
		}
		return append([]string{"--data", m.Data}, common...)
	}
}

// dataDir makes a directory for data. If the test fails it moves to the artefacts:
// what is wrong can often be seen there only.
func dataDir(t testing.TB) string {
	dir, keep := t.TempDir(), artifact.Dir(t)
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		target, err := os.MkdirTemp(keep, "data-")
		if err == nil {
			err = os.Rename(dir, filepath.Join(target, "nodes"))
		}
		if err != nil {
			t.Logf("cluster: the data directories are not kept: %v", err)
		}
	})
	return dir
}
