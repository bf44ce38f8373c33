package disk_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quolldb/quoll/node/engine/badger"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/pebble"
)

// options are those of an engine on a store of some kind.
type options struct {
	disk.Options
	kind      kind
	valueFile int64 // Badger's
}

func (o options) open() (*disk.Engine, error) {
	o.Apply, o.Live, o.Assemble = enginetest.Apply, enginetest.Live, enginetest.Assemble
	o.WaitFrom, o.PartsFrom = cmp.Or(o.WaitFrom, 1100), cmp.Or(o.PartsFrom, 1) // the suite's are not large
	return o.kind.open(o)
}

// kind is a store that the tests run with. Those that open engines in processes of their own tell the kind by the directory.
type kind struct {
	name string
	open func(options) (*disk.Engine, error)
	// vital are patterns of files without which the store cannot go on, values one of files with large values, foreign
	// are files that somebody else could put there.
	vital   []string
	values  string
	foreign []string
	// blocks: values are in blocks with others, so that damage takes the neighbours along, and compaction of the table fails.
	blocks bool
	// maps: the store writes through maps, so that a full disk may end the process, and frees nothing while all is in its first level.
	maps bool
}

var kinds = []kind{
	{
		name: "badger",
		open: func(o options) (*disk.Engine, error) {
			return badger.Open(badger.Options{Options: o.Options, ValueFile: o.valueFile})
		},
		vital:  []string{"badger/MANIFEST", "badger/*.sst", "badger/*.vlog", "badger/*.mem"},
		values: "*.vlog",
		maps:   true,
		foreign: []string{"badger/notes.txt", "badger/000077.sst", "badger/000077.vlog", "badger/00077.mem", "badger/x.mem", "badger/x.sst",
			"badger/x.vlog", "badger/MANIFEST-REWRITE", "badger/.hidden"},
	},
	{
		name:   "pebble",
		open:   func(o options) (*disk.Engine, error) { return pebble.Open(o.Options) },
		vital:  []string{"pebble/MANIFEST-*", "pebble/*.sst"},
		values: "*.sst",
		blocks: true,
		foreign: []string{"pebble/notes.txt", "pebble/000777.sst", "pebble/x.sst", "pebble/000777.log", "pebble/MANIFEST-000777",
			"pebble/OPTIONS-000777", "pebble/.hidden"},
	},
}

// forEachKind runs a test with each kind of store, or with $TEST_ENGINE only. Short runs have one kind, too: the first.
func forEachKind(t *testing.T, test func(t *testing.T, k kind)) {
	only := os.Getenv("TEST_ENGINE")
	if only == "" && testing.Short() {
		only = kinds[0].name
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			if only != "" && only != k.name {
				t.Skip("of the kinds of stores there is only ", only)
			}
			test(t, k)
		})
	}
}

const kindPrefix = "with-"

// dir returns a directory for engines of the kind. All that is below it is for that kind.
func (k kind) dir(parent string) string { return filepath.Join(parent, kindPrefix+k.name) }

// kindOf returns the kind that a directory is for.
func kindOf(dir string) kind {
	for _, k := range kinds {
		if strings.Contains(dir, "/"+kindPrefix+k.name) {
			return k
		}
	}
	panic("no kind has the directory " + dir)
}
