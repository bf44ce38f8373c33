package config

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/quolldb/quoll/internal/eviction"
)

// Bounds of what may take Maxmemory and MaxDisk.
const (
	leastMaxmemory = MiB
	leastMaxDisk   = GiB
)

// Eviction is how much a node in memory may have of data, and which keys go when it has more: the part of the settings that Node and Dev share. Its settings have the names that they have in Redis.
type Eviction struct {
	// Maxmemory bounds the data of a node in memory, tables included. Load fills it: what remains of the node's memory when all else has its part.
	Maxmemory Size
	// MaxmemoryPolicy is a policy of Redis by its name.
	MaxmemoryPolicy string
	// MaxmemorySamples is how many keys are looked at for each that goes.
	MaxmemorySamples int
	// LfuLogFactor says how many uses it takes to count one up, LfuDecayTime in how many minutes without use one is counted down.
	LfuLogFactor, LfuDecayTime int
}

func defaultEviction() Eviction {
	s := eviction.DefaultSettings()
	return Eviction{MaxmemoryPolicy: s.Policy.String(), MaxmemorySamples: s.Samples, LfuLogFactor: s.LogFactor, LfuDecayTime: s.DecayTime}
}

func (e *Eviction) bindEviction(fs *pflag.FlagSet) {
	fs.Var(&e.Maxmemory, "maxmemory", "in memory, most bytes of data of each node, tables included (default: what --memory leaves)")
	fs.StringVar(&e.MaxmemoryPolicy, "maxmemory-policy", e.MaxmemoryPolicy, "in memory, which keys go when there is more, as in Redis: "+strings.Join(eviction.Policies(), ", ")+"; the same on all nodes")
	fs.IntVar(&e.MaxmemorySamples, "maxmemory-samples", e.MaxmemorySamples, "keys that are looked at for each that goes, 1 to 64")
	fs.IntVar(&e.LfuLogFactor, "lfu-log-factor", e.LfuLogFactor, "for the lfu policies: the higher, the more uses it takes to count one up")
	fs.IntVar(&e.LfuDecayTime, "lfu-decay-time", e.LfuDecayTime, "for the lfu policies: minutes without use after which one is counted down; 0: at each look")
}

// completeEviction fills Maxmemory with what a node in memory has room for.
func (e *Eviction) completeEviction(engine string, room Size) {
	if e.Maxmemory == 0 && engine == Memory {
		e.Maxmemory = room
	}
}

// validateEviction checks the settings of a node that has room for so much data.
func (e *Eviction) validateEviction(f *Faults, engine string, room Size) {
	_, err := eviction.ParsePolicy(e.MaxmemoryPolicy)
	switch {
	case err != nil:
		f.add("maxmemory-policy", "%q is no policy: use %s", e.MaxmemoryPolicy, strings.Join(eviction.Policies(), ", "))
	case OnDisk(engine) && !strings.EqualFold(e.MaxmemoryPolicy, eviction.NoEviction.String()):
		f.add("maxmemory-policy", "is for --engine memory: a node on disk evicts nothing, --max-disk bounds what it takes")
	}
	switch {
	case engine == Memory:
		f.between("maxmemory", e.Maxmemory, leastMaxmemory, mostMemory)
		if e.Maxmemory > room && !f.has("maxmemory") && !f.has("memory") {
			f.add("maxmemory", "%s does not fit into the %s that --memory leaves for data: give less, or more --memory", e.Maxmemory, room)
		}
	case OnDisk(engine) && e.Maxmemory != 0:
		f.add("maxmemory", "is for --engine memory: a node on disk takes --memory, and --max-disk bounds its data")
	}
	f.within("maxmemory-samples", e.MaxmemorySamples, 1, eviction.MostSamples)
	f.within("lfu-log-factor", e.LfuLogFactor, 0, eviction.MostLFU)
	f.within("lfu-decay-time", e.LfuDecayTime, 0, eviction.MostLFU)
}

// Evicts are the settings as an engine takes them.
func (e *Eviction) Evicts() eviction.Settings {
	policy, _ := eviction.ParsePolicy(e.MaxmemoryPolicy) // it has been validated
	return eviction.Settings{Policy: policy, Samples: e.MaxmemorySamples, LogFactor: e.LfuLogFactor, DecayTime: e.LfuDecayTime}
}
