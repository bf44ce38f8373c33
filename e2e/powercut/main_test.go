//go:build linux

package powercut

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/quolldb/quoll/e2e/cluster"
)

var (
	enabled = flag.Bool("powercut", false, "cut the power: needs root and loop devices")
	trials  = flag.Int("trials", 5, "how often each cluster loses its power")
)

func TestMain(m *testing.M) {
	flag.Parse()
	redis.SetLogger(quiet{})
	if !*enabled {
		os.Exit(m.Run())
	}
	os.Exit(cluster.Main(m))
}

// quiet drops what go-redis logs of connections that break.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// needsDisks skips the test where no disks can be made.
func needsDisks(t *testing.T) {
	t.Helper()
	if !*enabled {
		t.Skip("it mounts file systems: make powercut runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("it needs root")
	}
	for _, program := range []string{"mkfs.ext4", "mount", "umount", "unshare", "cp", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skipf("there are no loop devices: %v", err)
	}
}
