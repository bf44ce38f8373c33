//go:build unix

package e2e

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// TestFlippedByteInAnyFile flips a byte in each file that a node keeps, one after the
// other. The node says so, or has no use for it; the other two serve everybody; and nobody, not even
// those who need the damaged node's vote, reads what was not written.
func TestFlippedByteInAnyFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	needs(t, "cp")
	for how, v := range map[string]struct {
		binary string
		end    func(*cluster.Cluster)
	}{
		"ended in order": {"", (*cluster.Cluster).TerminateAll},
		// Killed in the middle of everything: there is something in each kind of file.
		"killed": {cluster.Hurried(t), (*cluster.Cluster).KillAll},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			d := newDamager(t, v.binary)
			v.end(d.c)
			d.save()
			noticed := 0
			for _, file := range d.files() {
				if d.trial(file) {
					noticed++
				}
			}
			require.Greater(t, noticed, 2, "damage that nobody notices: does the test do any?")
		})
	}
}

// TestKilledWhileAFileIsRemoved: Badger makes its files, and removes them, by way of empty
// ones. A node that is killed at that moment comes back.
func TestKilledWhileAFileIsRemoved(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"00099.mem", "000099.sst", "000099.vlog"} {
		t.Run(file, func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Engine: "badger", Node: []string{"--replicas", "1"}})
			client := connect(t, c.Proxies[0].Client)
			require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
			c.KillAll()
			require.NoError(t, os.WriteFile(filepath.Join(c.Nodes[0].Data, "badger", file), nil, 0o600))
			c.StartAll()
			require.Equal(t, "v", served(t, func() (string, error) { return client.Get(t.Context(), "k").Result() }))
		})
	}
}

// TestADamagedRecordIsMended flips a byte of a value on one node's disk, which makes others unreadable, too: Badger cuts
// its last file there. The node finds out when it reads its data after the start, copies what the other two hold of
// those slots, and is needed for one then.
func TestADamagedRecordIsMended(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a node is damaged and mended")
	}
	d := newDamager(t, "")
	d.c.TerminateAll()
	key := d.flipValue()
	d.c.StartAll()
	d.victim.AwaitLog("this node votes for it again") // of some slot: not every one has a line in the log
	d.awaitMended(key)
	require.Zero(t, d.read("mended"))
	d.c.Nodes[0].Kill()
	require.Equal(t, d.values[key], served(t, func() (string, error) { return d.client.Get(t.Context(), d.key(key)).Result() }))
}

// awaitMended waits until the victim holds a key again, and votes for it.
func (d *damager) awaitMended(i int) {
	d.t.Helper()
	cluster.Await(d.t, "the damaged record is there again", func() bool {
		l, _ := cluster.RunJSON[location](d.t, "ring", "locate", d.key(i), "-o", "json", "--admin", d.victim.Admin)
		return slices.ContainsFunc(l.Replicas, func(r holding) bool { return r.Node == d.victim.Node && r.State == "voting" && r.Present })
	})
}

// damager has a cluster whose node c it damages.
type damager struct {
	t      *testing.T
	c      *cluster.Cluster
	victim *cluster.Member
	client *redis.Client
	values []string // of the keys that there are, by their number
	data   string   // the nodes' directories
	saved  string   // a copy of them
}

func newDamager(t *testing.T, binary string) *damager {
	data := t.TempDir()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: "badger", Data: data, Binary: binary})
	d := &damager{t: t, c: c, victim: c.Nodes[2], client: connect(t, c.Proxies[0].Client), data: data, saved: filepath.Join(t.TempDir(), "saved")}
	for i := range 400 {
		d.values = append(d.values, strings.Repeat(fmt.Sprint(i, "."), 1+rand.IntN(3000)))
		require.NoError(t, d.client.Set(t.Context(), d.key(i), d.values[i], 0).Err())
	}
	return d
}

func (d *damager) key(i int) string { return fmt.Sprint("k:", i) }

// save keeps a copy of all directories, and restore brings it back: a node must never
// find an older state than the others remember.
func (d *damager) save() { output(d.t, "cp", "-a", "--sparse=always", d.data, d.saved) }

func (d *damager) restore() {
	require.NoError(d.t, os.RemoveAll(d.data))
	output(d.t, "cp", "-a", "--sparse=always", d.saved, d.data)
}

// files are those of the victim that hold something, some of each kind.
func (d *damager) files() (files []string) {
	kinds := map[string]int{}
	require.NoError(d.t, filepath.WalkDir(d.victim.Data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "LOCK" {
			return err
		}
		content, err := os.ReadFile(path)
		kind := filepath.Ext(path)
		if len(used(content)) > 0 && (kind == "" || kinds[kind] < 3) {
			kinds[kind]++
			files = append(files, path)
		}
		return err
	}))
	return files
}

// used is the content without the zeros at its end.
func used(content []byte) []byte {
	for len(content) > 0 && content[len(content)-1] == 0 {
		content = content[:len(content)-1]
	}
	return content
}

// trial flips a byte and reports whether the victim noticed.
func (d *damager) trial(file string) (noticed bool) {
	d.c.KillAll()
	d.restore()
	what := d.flip(file)
	before := len(d.victim.Log())
	for _, m := range d.c.Nodes {
		m.Start()
	}
	d.c.Nodes[0].AwaitReady()
	d.c.Nodes[1].AwaitReady()
	cluster.Await(d.t, "the damaged node decides what to do", func() bool {
		ready, _ := d.victim.Ready()
		return ready || !d.victim.Running()
	})
	cluster.Await(d.t, "two sound nodes serve everything", func() bool { return d.read(what) == 0 })
	if !d.victim.Running() {
		require.Equal(d.t, 1, d.victim.ExitCode(time.Second), what)
		complaint := lastLine(d.victim.Log()[before:])
		require.True(d.t, strings.HasPrefix(complaint, "quoll: "), "%s: %s", what, complaint)
		d.t.Logf("%s: it does not start: %s", what, complaint)
		return true
	}
	refused := d.readWithoutAnother(what)
	log := d.victim.Log()[before:]
	noticed = refused > 0 || strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN")
	d.t.Logf("%s: it starts; noticed: %v; without another node %d of %d keys cannot be read", what, noticed, refused, len(d.values))
	return noticed
}

// flip changes one bit of a file and says which.
func (d *damager) flip(file string) string {
	content, err := os.ReadFile(file)
	require.NoError(d.t, err)
	at := rand.IntN(len(used(content)))
	content[at] ^= 1 << rand.IntN(8)
	require.NoError(d.t, os.WriteFile(file, content, 0o600))
	name, err := filepath.Rel(d.victim.Data, file)
	require.NoError(d.t, err)
	return fmt.Sprintf("%s, byte %d of %d", name, at, len(used(content)))
}

// flipValue changes one bit in the middle of a value that the victim's store keeps, and returns the number of
// its key.
func (d *damager) flipValue() int {
	names, err := filepath.Glob(filepath.Join(d.victim.Data, "badger", "*.vlog"))
	require.NoError(d.t, err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(d.t, err)
		for i, value := range d.values {
			if at := strings.Index(string(content), value); at >= 0 && len(value) > 2000 {
				content[at+len(value)/2] ^= 1
				require.NoError(d.t, os.WriteFile(name, content, 0o600))
				return i
			}
		}
	}
	d.t.Fatal("no value is in a file of the value log")
	return 0
}

// readWithoutAnother kills a sound node and reads all keys: every answer needs the
// damaged one. It returns how many had none.
func (d *damager) readWithoutAnother(what string) (refused int) {
	d.c.Nodes[0].Kill()
	d.read(what) // whoever reads first finds out that it is gone
	return d.read(what)
}

// read reads all keys and returns how many had no answer. No answer may be wrong.
func (d *damager) read(what string) (refused int) {
	pipe := d.client.Pipeline()
	for i := range d.values {
		pipe.Get(d.t.Context(), d.key(i))
	}
	replies, _ := pipe.Exec(d.t.Context()) // every reply has its own error
	for i, reply := range replies {
		read, err := reply.(*redis.StringCmd).Result()
		if outcome.Of(err) != outcome.Answered {
			refused++
			continue
		}
		require.NoError(d.t, err, "%s: %s", what, d.key(i))
		require.Equal(d.t, d.values[i], read, "%s: %s", what, d.key(i))
	}
	return refused
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
