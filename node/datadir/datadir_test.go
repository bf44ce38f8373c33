package datadir

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// quiet is a log that nobody reads.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// options are those of node b on the boot "monday".
func options(path, fsync string) Options {
	return Options{Path: path, Cluster: "zoo", Node: "b", Engine: "badger", Fsync: fsync, BootID: "monday", Logger: quiet}
}

func mustOpen(t require.TestingT, opt Options) *Dir {
	d, err := Open(opt)
	require.NoError(t, err)
	return d
}

// clusterOf is a cluster that names a directory's generation.
func clusterOf(d *Dir) ring.Cluster {
	return ring.Cluster{Name: "zoo", Epoch: 1, Replicas: 1, Members: []ring.Member{
		{ID: 1, Name: "a", Peer: "10.0.0.1:7000", Weight: 1, Generation: 4},
		{ID: 2, Name: "b", Peer: "10.0.0.2:7000", Weight: 1, Generation: d.Generation()}}}
}

// ringOf is some version of the ring of such a cluster.
func ringOf(d *Dir, version uint64) change.Document {
	doc, err := change.FromCluster(clusterOf(d))
	for err == nil && doc.Version < version {
		doc, err = change.Apply(doc, change.Entry{Rate: &change.Rate{Bytes: int64(doc.Version)}}, 1)
	}
	if err != nil {
		panic(err)
	}
	return doc
}

// newDir makes a directory that has had one life, with a ring and a file of the engine, which
// ended clean.
func newDir(t testing.TB) (path string, generation uint64) {
	path = filepath.Join(t.TempDir(), "b")
	d := mustOpen(t, options(path, FsyncAlways))
	require.True(t, d.Fresh())
	writeEngineFile(t, d)
	require.NoError(t, d.SaveRing(ringOf(d, 1)))
	require.NoError(t, d.Close(true))
	return path, d.Generation()
}

func writeEngineFile(t require.TestingT, d *Dir) {
	require.NoError(t, os.WriteFile(filepath.Join(d.JournalDir(), "1.log"), []byte("x"), 0o600))
}

func TestADirectoryKeepsItsIdentityAndRing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "b")
	d := mustOpen(t, options(path, FsyncAlways))
	require.Equal(t, []any{"zoo", "b", "badger", 1}, []any{d.Identity().Cluster, d.Identity().Node, d.Identity().Engine, d.Identity().Format})
	require.NotZero(t, d.Generation())
	require.Nil(t, d.Ring())
	require.True(t, d.Fresh())
	require.DirExists(t, d.JournalDir())
	require.DirExists(t, d.StoreDir())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	saved := ringOf(d, 1)
	require.NoError(t, d.SaveRing(saved))
	require.Equal(t, saved, *d.Ring())
	require.NoError(t, d.Close(true))
	require.NoError(t, d.Close(true), "a second time does nothing")

	again := mustOpen(t, options(path+"/.", FsyncAlways))
	defer again.Close(true)
	require.Equal(t, d.Identity(), again.Identity())
	require.Equal(t, saved, *again.Ring())
	require.False(t, again.Fresh())
	require.Empty(t, again.LostState())
}

// TestTheSystemTellsItsBoot: so that lives on this machine are told apart.
func TestTheSystemTellsItsBoot(t *testing.T) {
	if systemBoot() == "" {
		t.Skip("this system does not tell its boot: every unclean stop with --fsync interval counts as lost state")
	}
	require.Equal(t, systemBoot(), systemBoot())
	opt := options(t.TempDir(), FsyncAlways)
	opt.BootID = ""
	d := mustOpen(t, opt)
	defer d.Close(true)
	require.Equal(t, systemBoot(), d.session.Boot)
}

func TestWhatALifeLeavesMustExist(t *testing.T) {
	d := mustOpen(t, options(t.TempDir(), FsyncAlways))
	writeEngineFile(t, d)
	require.NoError(t, d.Close(true))
	d = mustOpen(t, options(d.path, FsyncAlways))
	require.False(t, d.Fresh(), "closed clean: what is there is meant to be kept, with or without a ring")
	require.FileExists(t, filepath.Join(d.JournalDir(), "1.log"))
	require.NoError(t, d.Close(false))

	d = mustOpen(t, options(d.path, FsyncAlways))
	require.False(t, d.Fresh(), "that stays so")
	require.NoError(t, d.Close(false))
	require.NoError(t, os.RemoveAll(d.StoreDir()))
	_, err := Open(options(d.path, FsyncAlways))
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "the directory badger is missing")
}

// TestAnUnfinishedFirstLifeLeavesNothing: no vote was given, and nothing was kept on purpose.
func TestAnUnfinishedFirstLifeLeavesNothing(t *testing.T) {
	d := mustOpen(t, options(t.TempDir(), FsyncAlways))
	writeEngineFile(t, d)
	require.NoError(t, d.Close(false))
	again := mustOpen(t, options(d.path, FsyncAlways))
	defer again.Close(false)
	require.True(t, again.Fresh())
	require.Equal(t, d.Generation(), again.Generation(), "others may know it")
	require.NoFileExists(t, filepath.Join(d.JournalDir(), "1.log"))
}

func TestWhenStateIsLost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		fsync        string
		clean        bool
		first, later string // boots; "?" is one that is not known
		lost         string
	}{
		{"always, another boot", FsyncAlways, false, "monday", "tuesday", ""},
		{"interval, clean", FsyncInterval, true, "monday", "tuesday", ""},
		{"interval, the same boot", FsyncInterval, false, "monday", "monday", ""},
		{"interval, another boot", FsyncInterval, false, "monday", "tuesday", lostNow},
		{"interval, boot unknown then", FsyncInterval, false, "?", "tuesday", lostUnknown},
		{"interval, boot unknown now", FsyncInterval, false, "monday", "?", lostUnknown},
		{"interval, boot never known", FsyncInterval, false, "?", "?", lostUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path, generation := newDir(t)
			live := func(boot, fsync string) *Dir {
				opt := options(path, fsync)
				opt.BootID = boot
				d := &Dir{path: path, log: quiet, boot: boot}
				if boot == "?" {
					d.boot = ""
				}
				require.NoError(t, d.begin(opt))
				return d
			}
			require.NoError(t, live(tc.first, tc.fsync).Close(tc.clean))
			for range 3 { // it stays so, however those lives end
				d := live(tc.later, FsyncAlways)
				require.Equal(t, tc.lost, d.LostState())
				require.Equal(t, tc.lost == "", d.Generation() == generation)
				me, _ := d.Ring().ByName("b")
				require.Equal(t, generation, me.Generation, "the ring still names the former life")
				require.False(t, d.Fresh())
				require.Equal(t, tc.lost != "", d.SaveRing(ringOf(d, 2)) != nil)
				generation = d.Generation()
				if tc.lost != "" {
					generation = me.Generation
				}
				require.NoError(t, d.Close(tc.lost == ""))
			}
		})
	}
}

// TestNothingIsLostBeforeTheFirstRing: a node without one has promised nothing.
func TestNothingIsLostBeforeTheFirstRing(t *testing.T) {
	path := t.TempDir()
	d := mustOpen(t, options(path, FsyncInterval))
	require.NoError(t, d.Close(false))
	opt := options(path, FsyncInterval)
	opt.BootID = "tuesday"
	again := mustOpen(t, opt)
	defer again.Close(true)
	require.Empty(t, again.LostState())
	require.Equal(t, d.Generation(), again.Generation())
}

// TestTheSystemsCacheIsWrittenBeforeALifeThatSyncs: a life with "interval" that was killed, then one with
// "always": what the first acknowledged must be on disk before the second says that
// everything is.
func TestTheSystemsCacheIsWrittenBeforeALifeThatSyncs(t *testing.T) {
	path, _ := newDir(t)
	require.NoError(t, mustOpen(t, options(path, FsyncInterval)).Close(false))
	var steps []string
	d, err := open(options(path, FsyncAlways), func(step string) error {
		steps = append(steps, step)
		return nil
	})
	require.NoError(t, err)
	defer d.Close(true)
	require.Equal(t, []string{"sync journal", "sync 1.log", "sync badger", "write session.json", "rename session.json", "sync b"}, steps)
}

func TestRingsThatAreNotKept(t *testing.T) {
	d := mustOpen(t, options(t.TempDir(), FsyncAlways))
	stranger := ringOf(d, 1)
	stranger.Members = slices.Clone(stranger.Members)
	stranger.Members[1].Generation++
	require.ErrorContains(t, d.SaveRing(stranger), "does not name node b with the generation of this directory")
	require.NoError(t, d.SaveRing(ringOf(d, 5)))
	for want, change := range map[string]func(*change.Document){
		"ring of cluster circus":       func(c *change.Document) { c.Cluster = "circus" },
		"another ring is kept already": func(c *change.Document) { c.Formation++ },
		"and version 5 is kept":        func(c *change.Document) { *c = ringOf(d, 4) },
		"0 replicas":                   func(c *change.Document) { c.Replicas = 0 },
	} {
		c := ringOf(d, 6)
		change(&c)
		require.ErrorContains(t, d.SaveRing(c), want)
		require.Equal(t, ringOf(d, 5), *d.Ring())
	}
	require.NoError(t, d.Close(true))
	require.ErrorContains(t, d.SaveRing(ringOf(d, 6)), "closed")
}

// TestARingThatTheNodeHasLeft is kept, and no state is lost with it, however the last life ended.
func TestARingThatTheNodeHasLeft(t *testing.T) {
	d := mustOpen(t, options(t.TempDir(), FsyncInterval))
	doc := ringOf(d, 1)
	require.NoError(t, d.SaveRing(doc))
	left := ringOf(d, 2)
	left.Members = left.Members[:1:1]
	left.LastID, left.Slots = 2, slices.Clone(left.Slots)
	for slot := range left.Slots {
		left.Slots[slot].Replicas = []uint16{1}
	}
	require.NoError(t, d.SaveRing(left))
	require.NoError(t, d.Close(false))
	opt := options(d.path, FsyncAlways)
	opt.BootID = "tuesday"
	again := mustOpen(t, opt)
	defer again.Close(true)
	require.Empty(t, again.LostState())
	require.Equal(t, left, *again.Ring())
}

// TestALostNodeThatTheRingKnowsAgain: a later version of the ring names the new generation.
func TestALostNodeThatTheRingKnowsAgain(t *testing.T) {
	path := t.TempDir()
	d := mustOpen(t, options(path, FsyncInterval))
	doc := ringOf(d, 1)
	require.NoError(t, d.SaveRing(doc))
	require.NoError(t, d.Close(false))
	opt := options(path, FsyncAlways)
	opt.BootID = "tuesday"
	d = mustOpen(t, opt)
	require.NotEmpty(t, d.LostState())
	was, _ := doc.ByName("b")
	again, err := change.Apply(doc, change.Entry{Rejoin: &change.Rejoin{Name: "b", Generation: d.Generation(), Was: was.Generation, Peer: was.Peer}}, 1)
	require.NoError(t, err)
	require.NoError(t, d.SaveRing(again))
	require.Empty(t, d.LostState())
	require.NoError(t, d.Close(false))
	d = mustOpen(t, opt)
	defer d.Close(true)
	require.Empty(t, d.LostState())
	require.Equal(t, again.Digest(), d.Ring().Digest())
}

// TestARingOfTheFormatBefore, of when rings did not change, is the document that it began with. It stays as it is until the ring changes; then
// who knows that format only refuses the directory.
func TestARingOfTheFormatBefore(t *testing.T) {
	path, _ := newDir(t)
	d := mustOpen(t, options(path, FsyncAlways))
	doc, cluster := *d.Ring(), clusterOf(d)
	require.NoError(t, d.write(ringFile, savedRing{Format: 1, Ring: &cluster}))
	require.NoError(t, d.Close(true))
	d = mustOpen(t, options(path, FsyncAlways))
	require.Equal(t, doc.Digest(), d.Ring().Digest())
	require.Equal(t, cluster.Digest(), d.Ring().Formation)
	format := func() (f struct{ Format int }) {
		text, err := os.ReadFile(filepath.Join(path, ringFile))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &f))
		return f
	}
	require.Equal(t, 1, format().Format)
	require.NoError(t, d.SaveRing(ringOf(d, 2)))
	require.Equal(t, 2, format().Format)
	require.NoError(t, d.Close(true))
}

// TestLives compares any sequence of lives with what they should remember.
func TestLives(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(top, strconv.Itoa(n))
		var epoch, generation uint64
		var weak, lost bool // the last life did not sync and was killed; state is lost
		boot := 0
		for range rapid.IntRange(1, 8).Draw(t, "lives") {
			rebooted := rapid.Bool().Draw(t, "reboot")
			if rebooted {
				boot++
			}
			opt := options(path, rapid.SampledFrom([]string{FsyncAlways, FsyncInterval}).Draw(t, "fsync"))
			opt.BootID = strconv.Itoa(boot)
			d := mustOpen(t, opt)
			lost = lost || weak && rebooted && epoch > 0
			require.Equal(t, lost, d.LostState() != "")
			if !lost && generation != 0 {
				require.Equal(t, generation, d.Generation())
			}
			generation = d.Generation()
			require.Equal(t, epoch == 0, d.Ring() == nil)
			if epoch > 0 {
				require.Equal(t, epoch, d.Ring().Version)
				me, _ := d.Ring().ByName("b")
				require.Equal(t, lost, me.Generation != generation)
			}
			if rapid.Bool().Draw(t, "save") && !lost {
				epoch++
				require.NoError(t, d.SaveRing(ringOf(d, epoch)))
			}
			clean := rapid.Bool().Draw(t, "clean")
			require.NoError(t, d.Close(clean))
			weak = !clean && opt.Fsync == FsyncInterval
		}
	})
}
