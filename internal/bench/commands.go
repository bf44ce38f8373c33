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

// holds is what keys hold, all the same.
func (o *Options) holds() holding {
	if kinds := o.kinds(); len(kinds) > 0 {
		return kinds[0].holds()
	}
	return aString
}

// collections reports whether keys hold something that has fields, or elements.
func (o *Options) collections() bool { return o.holds() != aString && o.holds() != aGroup }

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
	other := at(func(k kind) bool { return k.holds() != kinds[0].holds() })
	unknown := at(func(k kind) bool { _, removes := k.counterpart(); return removes })
	switch {
	case len(kinds) == 0:
		return "there are none"
	case other >= 0:
		return fmt.Sprintf("a key cannot hold a %s for %s and a %s for %s: measure one after the other",
			holdings[kinds[0].holds()].name, kinds[0].op(), holdings[kinds[other].holds()].name, kinds[other].op())
	case unknown >= 0 && (o.Workload == Mixed || o.Workload == Batch):
		return fmt.Sprintf("%s cannot know what is there for %s: %s does", o.Workload, kinds[unknown].op(), Simple)
	case o.Workload == Mixed && len(write) == 0 && o.SetFraction > 0:
		return "none of them writes: give one that does, or --set-fraction 0"
	case o.Workload == Mixed && len(read) == 0 && o.SetFraction < 1:
		return "none of them reads: give one that does, or --set-fraction 1"
	case o.Workload == Batch && (len(write) != 1 || len(read) != 1 || write[0] == hincrby):
		return "batch wants one that writes a value and one that reads it, such as hset,hget"
	}
	return ""
}
