package config

import (
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// The engines.
const (
	Memory = "memory"
	Badger = "badger"
	Pebble = "pebble"
)

// Bounds of Cache.
const (
	leastCache = 64 * MiB
	mostCache  = TiB
)

// OnDisk reports whether an engine keeps its records on disk.
func OnDisk(engine string) bool { return engine == Badger || engine == Pebble }

// store is where nodes keep their records: the part that the settings of Node and Dev
// share.
type store struct {
	engine *string
	data   *string
	fsync  *Fsync
	cache  *Size
}

func (s store) bind(fs *pflag.FlagSet, data string) {
	fs.StringVar(s.engine, "engine", *s.engine, "store of the records: memory; badger, which keeps them on disk; or pebble, which does too and bears a full disk better")
	fs.StringVar(s.data, "data", *s.data, data)
	fs.Var(s.fsync, "fsync", "on disk, when writes are forced to disk: always, before they are acknowledged; or interval=100ms (1ms to 10s), in the background: a power cut of the machine then costs the node its state")
	fs.Var(s.cache, "cache", "on disk, memory for the records of each node, at least 64MiB (default: a sixth of --memory, for all its nodes)")
}

// complete fills the cache: a part of the memory, shared by the nodes of this process.
func (s store) complete(memory Size, nodes int) {
	if OnDisk(*s.engine) && *s.cache == 0 {
		*s.cache = defaultCache(memory, nodes)
	}
}

func (s store) validate(f *Faults, memory Size, nodes int) {
	switch *s.engine {
	case Badger, Pebble:
		s.validateOnDisk(f)
		f.fits("cache", *s.cache, nodes, memory, 2)
	case Memory:
		f.onlyOnDisk("data", *s.data != "")
		f.onlyOnDisk("fsync", *s.fsync != FsyncAlways)
		f.onlyOnDisk("cache", *s.cache != 0)
	default:
		f.add("engine", "%q is not an engine: use memory, badger or pebble", *s.engine)
	}
}

func (s store) validateOnDisk(f *Faults) {
	if *s.data == "" {
		f.add("data", "is required with --engine %s: a directory of its own, e.g. /var/lib/quoll", *s.engine)
	} else if strings.ContainsFunc(*s.data, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		f.add("data", "%q has characters that cannot be printed", *s.data)
	}
	f.between("cache", *s.cache, leastCache, mostCache)
}

func bindMaxDisk(fs *pflag.FlagSet, maxDisk *Size) {
	fs.Var(maxDisk, "max-disk", "on disk, most bytes of each node's files, at least 1GiB: from 95 % of it on what makes the data grow is refused (default: as much as the disk has)")
}

// maxDisk checks the bound of a node's files.
func (f *Faults) maxDisk(n Size, engine string) {
	if n == 0 {
		return
	}
	f.onlyOnDisk("max-disk", !OnDisk(engine))
	f.between("max-disk", n, leastMaxDisk, 1024*TiB)
}

// onlyOnDisk refuses what is given to the memory engine in vain.
func (f *Faults) onlyOnDisk(field string, given bool) {
	if given {
		f.add(field, "is for --engine badger or pebble, the memory engine keeps nothing on disk: give --engine badger, or leave --%s out", field)
	}
}
