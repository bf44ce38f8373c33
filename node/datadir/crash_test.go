package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var errCrash = errors.New("the process was killed here")

// history is what a directory's lives have been told.
type history struct {
	path       string
	generation uint64 // of the first life that could tell
	saved      uint64 // the epoch of the last ring that was kept for certain,
	tried      uint64 // and of the last that may have been
	weak       bool   // a life that did not sync has run,
	maybe      bool   // or had begun to
}

// script lives four lives: one that forms, one that ends clean, one whose machine is cut off from power, and
// one that finds out that it has lost state. It stops where before returns an error.
func (h *history) script(before func(string) error) error {
	for i, life := range []struct {
		boot, fsync string
		ring, clean bool
	}{
		{"monday", FsyncAlways, true, false},
		{"monday", FsyncAlways, true, true},
		{"monday", FsyncInterval, false, false},
		{"tuesday", FsyncAlways, false, true},
	} {
		opt := options(h.path, life.fsync)
		opt.BootID = life.boot
		h.maybe = h.maybe || life.fsync == FsyncInterval
		d, err := open(opt, before)
		if err != nil {
			return err
		}
		if h.generation == 0 {
			h.generation = d.Generation()
		}
		h.weak = h.maybe
		if life.ring {
			h.tried = uint64(i + 1)
			err = d.SaveRing(ringOf(d, h.tried))
			if err == nil {
				h.saved = h.tried
			}
		}
		if closing := d.Close(life.clean && err == nil); err == nil {
			err = closing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestACrashBetweenAnyTwoSteps: whenever the process ends, the directory opens again, with
// everything that had been said to be kept.
func TestACrashBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	crashed := false
	for at := 1; at == 1 || crashed; at++ {
		crashed = false
		h := history{path: filepath.Join(t.TempDir(), "deep", "b")}
		steps := 0
		err := h.script(func(step string) error {
			if steps++; steps < at {
				return nil
			}
			if !crashed {
				t.Logf("crash at step %d: %s", at, step)
			}
			crashed = true
			return errCrash
		})
		require.Equal(t, crashed, err != nil)
		if crashed {
			require.ErrorIs(t, err, errCrash)
		}
		h.check(t)
		if !crashed {
			require.Greater(t, at, 30, "the script takes more steps than that")
		}
	}
}

// check opens the directory on another boot than any life before.
func (h *history) check(t *testing.T) {
	for _, name := range jsonFiles { // what was not synced before it was renamed may hold anything
		if _, err := os.Stat(filepath.Join(h.path, name+temporary)); err == nil {
			require.NoError(t, os.WriteFile(filepath.Join(h.path, name+temporary), []byte("{"), 0o600))
		}
	}
	opt := options(h.path, FsyncAlways)
	opt.BootID = "wednesday"
	d, err := Open(opt)
	require.NoError(t, err)
	defer d.Close(true)
	epoch := uint64(0)
	if d.Ring() != nil {
		epoch = d.Ring().Version
		me, _ := d.Ring().ByName("b")
		require.Equal(t, h.generation, me.Generation)
		require.Equal(t, d.LostState() == "", d.Generation() == h.generation)
	}
	require.Contains(t, []uint64{h.saved, h.tried}, epoch)
	require.Equal(t, epoch == 0, d.Fresh())
	lost := d.LostState() != ""
	require.Contains(t, []bool{h.weak, h.maybe}, lost)
	require.NoError(t, d.Close(true))

	d, err = Open(opt)
	require.NoError(t, err)
	defer d.Close(true)
	require.Equal(t, lost, d.LostState() != "")
	require.Equal(t, epoch == 0, d.Ring() == nil)
}
