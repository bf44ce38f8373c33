package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/eviction"
)

func TestEviction(t *testing.T) {
	cfg, err := load("node", "--memory=1GiB")
	require.NoError(t, err)
	n := cfg.(*Node)
	require.Equal(t, n.DataMemory(), n.Maxmemory)
	require.Equal(t, eviction.DefaultSettings(), n.Evicts())
	cfg, err = load("dev", "--maxmemory=16MiB", "--maxmemory-policy=Volatile-LFU", "--maxmemory-samples=10", "--lfu-log-factor=3", "--lfu-decay-time=0")
	require.NoError(t, err)
	require.Equal(t, 16*MiB, cfg.(*Dev).Maxmemory)
	require.Equal(t, eviction.Settings{Policy: eviction.VolatileLFU, Samples: 10, LogFactor: 3}, cfg.(*Dev).Evicts())
	cfg, err = load("node", "--engine=pebble", "--data=/d", "--max-disk=10GiB")
	require.NoError(t, err)
	require.Equal(t, Size(0), cfg.(*Node).Maxmemory)
	require.Equal(t, 10*GiB, cfg.(*Node).MaxDisk)

	for want, args := range map[string][]string{
		`maxmemory-policy: "lru" is no policy: use noeviction, `:                  {"node", "--maxmemory-policy=lru"},
		"maxmemory: 2GiB does not fit into the":                                   {"node", "--memory=1GiB", "--maxmemory=2GiB"},
		"maxmemory: 1KiB is out of range":                                         {"node", "--maxmemory=1KiB"},
		"maxmemory-samples: 0":                                                    {"node", "--maxmemory-samples=0"},
		"maxmemory: is for --engine memory":                                       {"dev", "--engine=badger", "--data=/d", "--maxmemory=1GiB"},
		"maxmemory-policy: is for --engine memory: a node on disk evicts nothing": {"node", "--engine=badger", "--data=/d", "--maxmemory-policy=allkeys-lru"},
		"max-disk: is for --engine badger or pebble":                              {"node", "--max-disk=10GiB"},
		"max-disk: 1MiB is out of range":                                          {"node", "--engine=badger", "--data=/d", "--max-disk=1MiB"},
	} {
		_, err := load(args[0], args[1:]...)
		require.ErrorContains(t, err, want)
	}
}
