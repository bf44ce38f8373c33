//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestTheAdviceAboutDamagedFilesWorks damages what a node does not start without, reads the message, and does what it says: the
// files are put back as they were, or there is a new cluster of what the others have.
func TestTheAdviceAboutDamagedFilesWorks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nodes are damaged and mended one after the other")
	}
	needs(t, "cp")
	for _, damage := range []struct {
		name string
		do   func(d *damager)
	}{
		{"a journal, before its checkpoint", (*damager).flipJournal},
		{"a journal that is gone", func(d *damager) { d.remove("journal") }},
		{"a store that is gone", func(d *damager) { d.remove("badger") }},
		{"a file of the directory", func(d *damager) { d.remove("ring.json") }},
	} {
		t.Run(damage.name, func(t *testing.T) {
			d := newDamager(t, "")
			d.c.TerminateAll()
			d.save()
			damage.do(d)
			d.c.Nodes[0].Start()
			d.c.Nodes[1].Start()
			d.victim.Start()
			require.Equal(t, 1, d.victim.ExitCode(time.Minute))
			advice := lastLine(d.victim.Log())
			t.Log(advice)
			require.Contains(t, advice, d.victim.Data)

			require.Contains(t, advice, "leave this node stopped: the others serve")
			cluster.Await(t, "the others serve everything", func() bool { return d.read("without it") == 0 })

			if !testing.Short() {
				require.Contains(t, advice, "quoll node backup on each of them, then quoll node restore into a new directory for every node")
				d.renew()
			}

			require.Contains(t, advice, "put them back; no older copy")
			d.remove("")
			output(t, "cp", "-a", "--sparse=always", filepath.Join(d.saved, d.victim.Node), d.victim.Data)
			d.victim.Start()
			d.victim.AwaitReady()
			require.Zero(t, d.read("put back"))
			d.c.Nodes[0].Kill()
			cluster.Await(t, "it votes again", func() bool { return d.read("with its vote") == 0 })
		})
	}
}

// flipJournal changes a byte of the first operation in the victim's journal, of which the store has all.
func (d *damager) flipJournal() {
	names, err := filepath.Glob(filepath.Join(d.victim.Data, "journal", "*.wal"))
	require.NoError(d.t, err)
	require.NotEmpty(d.t, names)
	content, err := os.ReadFile(names[0])
	require.NoError(d.t, err)
	content[4096+100] ^= 1
	require.NoError(d.t, os.WriteFile(names[0], content, 0o600))
}

func (d *damager) remove(name string) {
	require.NoError(d.t, os.RemoveAll(filepath.Join(d.victim.Data, name)))
}

// renew makes a new cluster of backups of the sound nodes, and reads everything there.
func (d *damager) renew() {
	var files []string
	for _, m := range d.c.Nodes[:2] {
		file := filepath.Join(d.t.TempDir(), m.Node+".quoll")
		_, stderr, code := cluster.Run(d.t, nil, "node", "backup", "--to", file, "--admin", m.Admin)
		require.Equal(d.t, 0, code, stderr)
		files = append(files, file)
	}
	client := connect(d.t, newRestored(d.t, 3, files...).Proxies[0].Client)
	for i, value := range d.values {
		got, err := client.Get(d.t.Context(), d.key(i)).Result()
		require.NoError(d.t, err)
		require.Equal(d.t, value, got)
	}
}

// TestAValueLogThatIsGoneIsMended: the node finds out by itself which slots it cannot read, and copies them from the others, as it says.
func TestAValueLogThatIsGoneIsMended(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a node is damaged and mended")
	}
	d := newDamager(t, "")
	d.c.TerminateAll()
	names, err := filepath.Glob(filepath.Join(d.victim.Data, "badger", "*.vlog"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		require.NoError(t, os.Remove(name))
	}
	d.c.StartAll()
	d.victim.AwaitLog("until it has copied all records of the slot's other replicas, all of which have to be up")
	for i, mended := 0, 0; mended < 10; i++ {
		if len(d.values[i]) > 2000 { // in the value log
			mended++
			d.awaitMended(i)
		}
	}
	require.Zero(t, d.read("mended"))
	require.Less(t, strings.Count(d.victim.Log(), "\n"), 500)
}
