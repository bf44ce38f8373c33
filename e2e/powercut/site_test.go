//go:build linux

package powercut

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/artifact"
)

// site is a cluster of three nodes with a disk each.
type site struct {
	t      *testing.T
	c      *cluster.Cluster
	dir    string
	disks  []*disk
	client *redis.Client
	boots  int // so far, and starts after a power cut
	starts int
}

// outage is the moment of a power cut: what was on the disks, and what clients knew.
type outage struct {
	images []string
	known  snapshot
}

// newSite makes a cluster that runs.
func newSite(t *testing.T, cfg cluster.Config) *site {
	s := &site{t: t, dir: artifact.Dir(t)} // if it fails, the disks are what is looked at
	for _, name := range []string{"a", "b", "c"} {
		s.disks = append(s.disks, newDisk(t, s.dir, name))
	}
	cfg.Nodes, cfg.Proxies, cfg.Engine, cfg.Data = 3, 1, cluster.OnDisk(), s.dir
	s.c = cluster.New(t, cfg)
	s.client = redis.NewClient(&redis.Options{Addr: s.c.Proxies[0].Client, MaxRetries: -1, ReadTimeout: 10 * time.Second})
	t.Cleanup(func() { _ = s.client.Close() })
	s.boot()
	s.c.Proxies[0].Start()
	s.c.StartAll()
	s.c.Proxies[0].AwaitReady()
	return s
}

// boot gives the machine another boot ID, as far as nodes see it that are started from now on.
func (s *site) boot() {
	s.boots++
	id := filepath.Join(s.dir, fmt.Sprint("boot-", s.boots))
	require.NoError(s.t, os.WriteFile(id, fmt.Appendf(nil, "%08d-0000-4000-8000-000000000000\n", s.boots), 0o600))
	for _, m := range s.c.Nodes {
		m.Under = []string{"unshare", "--mount", "sh", "-c", `mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"`, id}
	}
}

// runAndCut lets clients write and cuts the power some times. Of the cuts only the copies of the
// disks know: the cluster hangs for as long as they are made, and goes on.
func (s *site) runAndCut(trials int) (outages []outage) {
	s.t.Helper()
	w := startWriters(s.t, s.c.Proxies[0].Client)
	for i := range trials {
		time.Sleep(500*time.Millisecond + rand.N(2*time.Second))
		outages = append(outages, s.cut(w, i))
	}
	w.stop()
	return outages
}

func (s *site) cut(w *writers, number int) (o outage) {
	for _, m := range s.c.Nodes {
		m.Stop()
	}
	o.known = w.snapshot() // of what was acknowledged before, some replies are still on their way
	for _, d := range s.disks {
		copied := fmt.Sprintf("%s.cut-%d", d.image, number)
		d.cut(copied)
		o.images = append(o.images, copied)
	}
	for _, m := range s.c.Nodes {
		m.Continue()
	}
	return o
}

// startOn starts the nodes, whatever they do now, on copies of what a power cut left. They
// may not become ready.
func (s *site) startOn(o outage) {
	s.t.Helper()
	s.c.KillAll()
	s.starts++
	for i, d := range s.disks {
		d.unmount()
		// Another file each time: the kernel may take a moment to let go of the last one.
		copied := fmt.Sprintf("%s.start-%d", d.image, s.starts)
		run(s.t, "cp", "--sparse=always", o.images[i], copied)
		d.mount(copied)
	}
	for _, m := range s.c.Nodes {
		m.Start()
	}
}

// lost starts the nodes after a power cut and counts what is not there any more.
func (s *site) lost(o outage) losses {
	s.t.Helper()
	s.startOn(o)
	s.c.AwaitNodes()
	return s.compare(o)
}

// compare counts what is not there any more of what was acknowledged before a power cut.
func (s *site) compare(o outage) losses {
	s.t.Helper()
	s.c.Proxies[0].AwaitReady()
	lost := o.known.compare(s.t, s.client)
	writes, increments := o.known.size()
	s.t.Logf("of %d acknowledged writes and %d increments: %v", writes, increments, lost)
	require.NotZero(s.t, writes)
	return lost
}
