package bench

import (
	"fmt"
	"slices"
)

// kinds are those of Commands, which have no faults.
func (o *Options) kinds() (kinds []kind) {
	for _, name := range o.Commands {
		if k, ok := kindOf(name); ok {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// hashes reports whether keys hold hashes.
func (o *Options) hashes() bool { return slices.ContainsFunc(o.kinds(), kind.hash) }

// writesAndReads are the commands that write, and those that read.
func (o *Options) writesAndReads() (write, read []kind) {
	for _, k := range o.kinds() {
		if k.writes() {
			write = append(write, k)
		} else {
			read = append(read, k)
		}
	}
	return write, read
}

// unfitCommands says why the commands do not fit each other or the workload, if they do not.
func (o *Options) unfitCommands() string {
	kinds := o.kinds()
	write, read := o.writesAndReads()
	at := func(test func(kind) bool) int { return slices.IndexFunc(kinds, test) }
	ofString, ofHash := at(func(k kind) bool { return !k.hash() }), at(kind.hash)
	switch {
	case len(kinds) == 0:
		return "there are none"
	case ofString >= 0 && ofHash >= 0:
		return fmt.Sprintf("a key cannot hold a string for %s and a hash for %s: measure one after the other", kinds[ofString].op(), kinds[ofHash].op())
	case slices.Contains(kinds, hdel) && (o.Workload == Mixed || o.Workload == Batch):
		return fmt.Sprintf("%s cannot know which fields are there for HDEL: %s does", o.Workload, Simple)
	case o.Workload == Mixed && len(write) == 0 && o.SetFraction > 0:
		return "none of them writes: give one that does, or --set-fraction 0"
	case o.Workload == Mixed && len(read) == 0 && o.SetFraction < 1:
		return "none of them reads: give one that does, or --set-fraction 1"
	case o.Workload == Batch && (len(write) != 1 || len(read) != 1 || write[0] == hincrby):
		return "batch wants one that writes a value and one that reads it, such as hset,hget"
	}
	return ""
}
