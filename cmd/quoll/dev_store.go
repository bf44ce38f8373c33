package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/quolldb/quoll/internal/config"
)

// devName names the nodes of dev so that their order by name is that by number.
func devName(i, nodes int) string {
	return fmt.Sprintf("n%0*d", len(strconv.Itoa(nodes)), i+1)
}

var devNamed = regexp.MustCompile(`^n[0-9]+$`)

// checkDevData refuses a directory with the data of a node that would not be part of the
// cluster: what is in it would seem to be gone.
func checkDevData(cfg config.Dev) error {
	if cfg.Engine == config.Memory {
		return nil
	}
	expected := map[string]bool{}
	for i := range cfg.Nodes {
		expected[devName(i, cfg.Nodes)] = true
	}
	entries, _ := os.ReadDir(cfg.Data) // whatever is wrong with it, opening the stores tells
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == "node.json":
			return fmt.Errorf("data directory %s is that of a single quoll node: give another --data", cfg.Data)
		case devNamed.MatchString(name) && !expected[name]:
			return fmt.Errorf("data directory %s has a node %s, which a cluster of %d nodes has not: give the --nodes of before, or another --data", cfg.Data, name, cfg.Nodes)
		}
	}
	return nil
}

// openDevStore opens the store of one of the nodes.
func openDevStore(cfg config.Dev, name string, log *slog.Logger) (*store, error) {
	nc := config.DefaultNode()
	nc.Name, nc.ClusterName, nc.Engine, nc.Fsync, nc.Cache = name, devCluster, cfg.Engine, cfg.Fsync, cfg.Cache
	nc.Memory = cfg.Memory / config.Size(cfg.Nodes)
	nc.Eviction, nc.MaxDisk = cfg.Eviction, cfg.MaxDisk
	nc.Data = filepath.Join(cfg.Data, name)
	s, err := openStore(nc, log)
	if err != nil || s.dir == nil {
		return s, err
	}
	if r := s.dir.Ring(); r != nil && (len(r.Ring().Members) != cfg.Nodes || r.Replicas != cfg.Replicas) {
		return nil, s.release(fmt.Errorf("data directory %s has a cluster of %d nodes with %d replicas: give --nodes %[2]d --replicas %[3]d, or another --data",
			cfg.Data, len(r.Ring().Members), r.Replicas))
	}
	return s, nil
}
