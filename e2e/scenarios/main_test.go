//go:build linux

package scenarios

import (
	"context"
	"crypto/sha256"
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
)

var (
	useDocker    = flag.Bool("docker", false, "run the scenarios, which need Docker and root; fail where that is not there")
	partitionFor = flag.Duration("partition", 0, "how long the partition of TestLongPartitionHealsByItself lasts; 0: ten minutes, 20 s with -short")
	sampleOf     = flag.String("sample", "", "a seed that says which of the scenarios run, about five of eight; empty: all")
	hangFor      = flag.Duration("hang", 0, "how long the replica of TestHungReplicaCostsBoundedMemory hangs; 0: a minute, 10 s with -short")
)

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	os.Exit(compose.Main(m))
}

// quiet drops what go-redis logs of connections that break, which tests break on purpose.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// needsDocker skips a test unless Docker was asked for.
func needsDocker(t *testing.T) {
	t.Helper()
	if *useDocker {
		if *sampleOf != "" && !sampled(*sampleOf, t.Name()) {
			t.Skipf("not in the sample of seed %s", *sampleOf)
		}
		return // compose.Up fails with one sentence if it is not there
	}
	if err := compose.Check(); err != nil {
		t.Skip(err)
	}
	t.Skip("it breaks a cluster of containers: give -docker, or run make e2e")
}

// sampled reports whether a scenario is in the sample of a seed.
func sampled(seed, name string) bool {
	return sha256.Sum256([]byte(name + " " + seed))[0]%8 < 5
}

// TestTheSampleIsSomeOfThem for any seed but a few, and another one for another seed.
func TestTheSampleIsSomeOfThem(t *testing.T) {
	samples := map[string]int{}
	total := 0
	for seed := range 1000 {
		sample := ""
		for _, name := range []string{"TestA", "TestB", "TestC", "TestD", "TestE", "TestF", "TestG", "TestH"} {
			if sampled(strconv.Itoa(seed), name) {
				sample += name
				total++
			}
		}
		samples[sample]++
	}
	require.InDelta(t, 5000, total, 300)
	require.Less(t, samples[""], 10)
	require.Greater(t, len(samples), 100)
}

// long skips a test that is not in the short list.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in the short list")
	}
}

// lasting is a flag's duration, or what stands for 0.
func lasting(given time.Duration, full, short time.Duration) time.Duration {
	switch {
	case given > 0:
		return given
	case testing.Short():
		return short
	}
	return full
}
