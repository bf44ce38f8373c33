package config

import (
	"os"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// The engines.
const (
	Memory = "memory"
	Badger = "badger"
)

// Bounds of Cache.
const (
	leastCache = 64 * MiB
	mostCache  = TiB
)

// store is where nodes keep their records: the part that the settings of Node and Dev
// share.
type store struct {
	engine *string
	data   *string
	fsync  *Fsync
	cache  *Size
}

func (s store) bind(fs *pflag.FlagSet, data string) {
	fs.StringVar(s.engine, "engine", *s.engine, "store of the records: memory, or badger, which keeps them on disk")
	fs.StringVar(s.data, "data", *s.data, data)
	fs.Var(s.fsync, "fsync", "with badger, when writes are forced to disk: always, before they are acknowledged; or interval=100ms (1ms to 10s), in the background: a power cut of the machine then costs the node its state")
	fs.Var(s.cache, "cache", "with badger, memory for the records of each node, at least 64MiB (default: an eighth of the machine's or container's, for all its nodes)")
}

// complete fills the cache: an eighth of the memory, shared by the nodes of this process.
func (s store) complete(nodes int) {
	if *s.engine == Badger && *s.cache == 0 {
		*s.cache = defaultCache(os.DirFS("/"), nodes)
	}
}

func (s store) validate(f *Faults) {
	switch *s.engine {
	case Badger:
		s.validateBadger(f)
	case Memory:
		f.onlyBadger("data", *s.data != "")
		f.onlyBadger("fsync", *s.fsync != FsyncAlways)
		f.onlyBadger("cache", *s.cache != 0)
	default:
		f.add("engine", "%q is not an engine: use memory or badger", *s.engine)
	}
}

func (s store) validateBadger(f *Faults) {
	if *s.data == "" {
		f.add("data", "is required with --engine badger: a directory of its own, e.g. /var/lib/quoll")
	} else if strings.ContainsFunc(*s.data, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		f.add("data", "%q has characters that cannot be printed", *s.data)
	}
	f.between("cache", *s.cache, leastCache, mostCache)
}

// onlyBadger refuses what is given to the memory engine in vain.
func (f *Faults) onlyBadger(field string, given bool) {
	if given {
		f.add(field, "is for --engine badger, the memory engine keeps nothing on disk: give --engine badger, or leave --%s out", field)
	}
}
