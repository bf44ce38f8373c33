package datadir

import (
	"os"
	"strings"
)

// session says how the last life of the directory went. It is written at the beginning
// of every life.
type session struct {
	Format int `json:"format"`
	// Clean: it ended in order, with everything on disk.
	Clean bool `json:"clean"`
	// Boot is the boot of the machine on which it ran, "" if that is not known.
	Boot string `json:"boot"`
	// Fsync is how it synced.
	Fsync string `json:"fsync"`
	// Data: the engine's files must exist.
	Data bool `json:"data"`
	// Ring: ring.json must exist.
	Ring bool `json:"ring"`
	// Log is the generation that has begun a log of changes of the ring, which must exist, 0 if none has.
	Log uint64 `json:"log,omitempty"`
	// Lost is why the generation is another than the ring's.
	Lost string `json:"lost,omitempty"`
}

func (s session) valid() bool { return s.Fsync == FsyncAlways || s.Fsync == FsyncInterval }

// unsynced reports whether something that was acknowledged may not have been on disk when
// the life ended.
func (s session) unsynced() bool { return !s.Clean && s.Fsync == FsyncInterval }

const (
	lostNow     = "it ran with --fsync interval, was not stopped in order, and the machine has been restarted since: writes of its last moments may be missing"
	lostUnknown = "it ran with --fsync interval and was not stopped in order, and this system does not tell whether the machine has been restarted since: writes of its last moments may be missing"
	lostBefore  = "its data directory lost state in an earlier life: the ring names another generation of this node"
)

// judge finds out whether the state of the former life is lost, and if it is now, takes a
// new generation. That is on disk before the session says anything else: whatever happens in between,
// the ring names another generation, which is how a lost directory is known.
func (d *Dir) judge(former session) error {
	if d.ring == nil {
		return nil // it has never voted
	}
	me, member := d.ring.ByName(d.identity.Node)
	if !member {
		return nil // it has left the ring, and holds nothing
	}
	if me.Generation != d.identity.Generation {
		d.session.Lost = former.Lost
		if d.session.Lost == "" {
			d.session.Lost = lostBefore
		}
		return nil
	}
	if !former.unsynced() || d.boot != "" && d.boot == former.Boot {
		return nil
	}
	d.session.Lost = lostNow
	if d.boot == "" || former.Boot == "" {
		d.session.Lost = lostUnknown
	}
	old := d.identity.Generation
	for d.identity.Generation == old {
		d.identity.Generation = newGeneration()
	}
	d.log.Error("this data directory has lost state; the node gets a new generation and will not vote", "reason", d.session.Lost)
	return d.write(nodeFile, d.identity)
}

// systemBoot returns what identifies the boot of this machine, "" where the system does
// not tell.
func systemBoot() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
