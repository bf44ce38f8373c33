package config

import "github.com/spf13/pflag"

// The largest collections. On disk one has to fit into an operation of the journal, which holds all of it when it is copied; in memory it is bounded by what
// a command may make of one.
const (
	largestCollectionOnDisk = 128 * MiB
	largestCollection       = 64 * GiB
)

// bindMaxCollection declares the setting under both its names: the old one is of the time when hashes were the only collections.
func bindMaxCollection(fs *pflag.FlagSet, size *Size) {
	alias(fs, "max-hash", "max-collection")
	fs.Var(size, "max-collection", "largest hash, list, set or sorted set, the same on all nodes; also --max-hash (default: --max-bulk)")
}

// maxCollection checks the largest collection of a node that has so much memory for data, if that is in memory.
func (f *Faults) maxCollection(n, maxBulk Size, engine string, data Size) {
	largest := largestCollection
	if OnDisk(engine) {
		largest = largestCollectionOnDisk
	}
	f.between("max-collection", n, KiB, largest)
	if most := data / 2; n > maxBulk && n > most && !OnDisk(engine) && !f.has("memory") && !f.has("max-collection") {
		f.add("max-collection", "%s does not fit into the %s that a node has for its data: at most half of it, for it may hold two while it replaces one; give less, or more --memory", n, data)
	}
}
