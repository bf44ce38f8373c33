package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargestCollection is the largest value, unless it is set; then it fits into the memory of a node that keeps it there, or into a journal.
func TestLargestCollection(t *testing.T) {
	cfg, err := load("node", "--max-bulk=3mb")
	require.NoError(t, err)
	require.Equal(t, 3*MiB, cfg.(*Node).MaxCollection)
	cfg, err = load("dev", "--max-bulk=3mb")
	require.NoError(t, err)
	require.Equal(t, 3*MiB, cfg.(*Dev).MaxCollection)
	cfg, err = load("node", "--max-collection=1gb", "--memory=8gb")
	require.NoError(t, err)
	require.Equal(t, GiB, cfg.(*Node).MaxCollection)
	cfg, err = load("dev", "--max-hash=1gb", "--memory=32gb", "--requirepass=p")
	require.NoError(t, err, "its name of old")
	require.Equal(t, GiB, cfg.(*Dev).MaxCollection)
	_, err = load("node", "--max-collection=128mb", "--memory=256mb", "--engine=pebble", "--data=/d")
	require.NoError(t, err, "what is on disk need not be in memory")

	for want, args := range map[string][]string{
		"max-collection: 1 is out of range: from 1KiB to 64GiB":       {"--max-collection=1"},
		"max-collection: 129MiB is out of range: from 1KiB to 128MiB": {"--max-collection=129mb", "--engine=badger", "--data=/d"},
		"max-collection: 1GiB does not fit into the ":                 {"--max-collection=1gb", "--memory=1gb"},
		"max-collection: 65GiB is out of range: from 1KiB to 64GiB":   {"--max-collection=65gb", "--memory=1tb"},
	} {
		for _, command := range []string{"node", "dev"} {
			_, err := load(command, args...)
			require.ErrorContains(t, err, want)
		}
	}
}
