package disk_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/enginetest"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// small are options that make everything happen with little data.
func small(dir string) options {
	k := kindOf(dir)
	return options{kind: k, Options: disk.Options{
		Dir:           filepath.Join(dir, k.name),
		Journal:       filepath.Join(dir, "journal"),
		MustExist:     exists(filepath.Join(dir, k.name)),
		SegmentSize:   256 * kib,
		MemTable:      512 * kib,
		FlushSize:     256 * kib,
		FlushInterval: 20 * time.Millisecond,
		Logger:        slog.New(slog.DiscardHandler),
	}}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// variants are the ways to run an engine that must not make a difference. The first reads
// and writes the most: hardly anything stays in memory.
var variants = []struct {
	name string
	vary func(*options)
}{
	{"SmallCache", func(o *options) { o.Cache = 64 * kib }},
	{"Always", func(*options) {}},
	{"Interval", func(o *options) { o.Interval = 10 * time.Millisecond }},
	// Everything is in the journal only.
	{"NoFlush", func(o *options) { o.FlushInterval, o.FlushSize = time.Hour, 1<<40 }},
}

// Tests that open engines do not run beside others: a process that those start has, until it
// runs its program, the locks of engines that are closed meanwhile.

func TestConformance(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		for i, v := range variants {
			if testing.Short() && i > 0 {
				break
			}
			place := (*testing.T).TempDir
			if i == 0 {
				place = onDisk
			}
			t.Run(v.name, func(t *testing.T) {
				enginetest.Run(t, func(t *testing.T) engine.Engine {
					e, err := open(k, place(t), v.vary)
					require.NoError(t, err)
					return e
				})
			})
		}
	})
}

// TestDurability gives every life of an engine another variant.
func TestDurability(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		lives := 0
		enginetest.RunDurable(t, func(_ *testing.T, dir string) (engine.Engine, error) {
			lives++
			return open(k, dir, variants[lives%len(variants)].vary)
		})
	})
}

func open(k kind, dir string, vary func(*options)) (engine.Engine, error) {
	opt := small(k.dir(dir))
	vary(&opt)
	return opt.open()
}
