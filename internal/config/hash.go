package config

import "github.com/spf13/pflag"

// The largest hashes. On disk one has to fit into an operation of the journal, which holds all of it when it is copied; in memory it is bounded by what
// a command may make of one.
const (
	largestHashOnDisk = 128 * MiB
	largestHash       = 64 * GiB
)

func bindMaxHash(fs *pflag.FlagSet, size *Size) {
	fs.Var(size, "max-hash", "largest hash, the same on all nodes (default: --max-bulk)")
}

// maxHash checks the largest hash of a node that has so much memory for data, if that is in memory.
func (f *Faults) maxHash(n, maxBulk Size, engine string, data Size) {
	largest := largestHash
	if OnDisk(engine) {
		largest = largestHashOnDisk
	}
	f.between("max-hash", n, KiB, largest)
	if most := data / 2; n > maxBulk && n > most && !OnDisk(engine) && !f.has("memory") && !f.has("max-hash") {
		f.add("max-hash", "%s does not fit into the %s that a node has for its data: at most half of it, for it may hold two while it replaces one; give less, or more --memory", n, data)
	}
}
