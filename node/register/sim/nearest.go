package sim

import "github.com/quolldb/quoll/internal/record"

// Reads of one replica. In each quorum read the replica that is asked for the reply is taken for one that was asked alone, too: if a majority was seen to agree on the version that it
// has, by whoever read before, it would be answered. A proxy knows the slot and the version of what was agreed on, and no key: so that has to say which key it is, and in which state.

// chosenName is what a proxy remembers of what a majority agreed on.
type chosenName struct {
	slot    uint16
	version record.Version
}

// shown is what a version was shown as.
type shown struct{ key, state string }

// agreed notes what a majority agreed on.
func (s *Sim) agreed(c cmd, rec record.Record) {
	if !rec.Version.IsZero() {
		s.chosen[chosenName{c.Slot, rec.Version}] = shownAs(c, rec)
	}
}

// askedAlone checks what a replica would be answered with, if it were asked alone.
func (s *Sim) askedAlone(c cmd, rec record.Record) {
	was, known := s.chosen[chosenName{c.Slot, rec.Version}]
	if !known && !rec.Version.IsZero() {
		return
	}
	s.count("nearest-read", 1)
	now := shownAs(c, rec)
	switch {
	case !known && now.state != nothing:
		s.violated("slot %d, key %s: version zero is %s", c.Slot, now.key, shorten.Replace(now.state))
	case known && now.state != was.state, known && now.key != was.key && now.state != nothing: // a clear names no key
		s.violated("slot %d: version %v was chosen as %s of key %s, and is %s of key %s", c.Slot, rec.Version, shorten.Replace(was.state), was.key, shorten.Replace(now.state), now.key)
	}
}

func shownAs(c cmd, rec record.Record) shown { return shown{c.Key, identity(rec.State)} }
