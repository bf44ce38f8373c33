package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargestHash is the largest value, unless it is set; then it fits into the memory of a node that keeps it there, or into a journal.
func TestLargestHash(t *testing.T) {
	cfg, err := load("node", "--max-bulk=3mb")
	require.NoError(t, err)
	require.Equal(t, 3*MiB, cfg.(*Node).MaxHash)
	cfg, err = load("dev", "--max-bulk=3mb")
	require.NoError(t, err)
	require.Equal(t, 3*MiB, cfg.(*Dev).MaxHash)
	cfg, err = load("node", "--max-hash=1gb", "--memory=8gb")
	require.NoError(t, err)
	require.Equal(t, GiB, cfg.(*Node).MaxHash)
	_, err = load("node", "--max-hash=128mb", "--memory=256mb", "--engine=pebble", "--data=/d")
	require.NoError(t, err, "what is on disk need not be in memory")

	for want, args := range map[string][]string{
		"max-hash: 1 is out of range: from 1KiB to 64GiB":       {"--max-hash=1"},
		"max-hash: 129MiB is out of range: from 1KiB to 128MiB": {"--max-hash=129mb", "--engine=badger", "--data=/d"},
		"max-hash: 1GiB does not fit into the ":                 {"--max-hash=1gb", "--memory=1gb"},
		"max-hash: 65GiB is out of range: from 1KiB to 64GiB":   {"--max-hash=65gb", "--memory=1tb"},
	} {
		for _, command := range []string{"node", "dev"} {
			_, err := load(command, args...)
			require.ErrorContains(t, err, want)
		}
	}
}
