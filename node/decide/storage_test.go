package decide

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/datadir"
	"github.com/quolldb/quoll/ring/change"
)

func openDir(t *testing.T, path string) *datadir.Dir {
	t.Helper()
	d, err := datadir.Open(datadir.Options{Path: path, Cluster: "test", Node: "n1", Engine: "badger", Fsync: datadir.FsyncAlways, Logger: discard})
	require.NoError(t, err)
	return d
}

// life has a node live with its directory, alone in its cluster, and returns the machine.
func life(t *testing.T, path string, do func(g *consensus.Group)) (*Machine, error) {
	t.Helper()
	dir := openDir(t, path)
	defer func() { require.NoError(t, dir.Close(true)) }()
	storage, err := OpenLog(dir)
	if err != nil {
		return nil, err
	}
	first := formed(t, 1)
	cfg := consensus.Default()
	cfg.Tick /= 10
	cfg.ID, cfg.Storage, cfg.Machine, cfg.Transport = dir.Generation(), storage, NewMachine(func(change.Document) {}), nobody{}
	cfg.Candidates = func() []consensus.Candidate { return nil }
	cfg.Initial = &consensus.Initial{Voters: []uint64{cfg.ID}, Snapshot: first.Encode()}
	cfg.Logger = slog.New(slog.DiscardHandler)
	g, err := consensus.Start(t.Context(), cfg)
	require.NoError(t, err)
	do(g)
	g.Close()
	return cfg.Machine.(*Machine), nil
}

func rateOf(bytes int64) change.Entry { return change.Entry{Rate: &change.Rate{Bytes: bytes}} }

type nobody struct{}

func (nobody) Send(uint64, []byte) {}

func TestALogOutlivesItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n1")
	m, err := life(t, path, func(g *consensus.Group) {
		for rate := range int64(3) {
			_, err := Propose(t.Context(), g, 1, rateOf(rate+1))
			require.NoError(t, err)
		}
	})
	require.NoError(t, err)
	require.EqualValues(t, 3, m.Document().Rate)
	m, err = life(t, path, func(g *consensus.Group) {
		_, err := Propose(t.Context(), g, 1, rateOf(9))
		require.NoError(t, err)
	})
	require.NoError(t, err)
	require.EqualValues(t, 5, m.Document().Version)

	require.NoError(t, os.Remove(filepath.Join(path, "consensus", "raft")))
	_, err = life(t, path, nil)
	require.ErrorIs(t, err, consensus.ErrLost)
}

type brokenDir struct{ path string }

func (d brokenDir) Generation() uint64                        { return 7 }
func (d brokenDir) Log() (path string, begun bool, err error) { return d.path, false, nil }
func (d brokenDir) LogBegun() error                           { return errors.New("no disk") }

// TestALogIsNotUsedBeforeItIsNotedThatItIs: it would be begun again after a restart, and its votes forgotten.
func TestALogIsNotUsedBeforeItIsNotedThatItIs(t *testing.T) {
	_, err := OpenLog(brokenDir{t.TempDir()})
	require.ErrorContains(t, err, "no disk")
}
