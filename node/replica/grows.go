package replica

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// Grows reports whether a change makes the data of its key longer, as this replica has it. One that does not fit what it has does not: the answer to it is that the whole state is needed. The slot is locked.
func (sl *Slot) Grows(c *record.Change) (bool, error) {
	held, _, err := sl.Read(c.Key)
	if err != nil {
		return false, err
	}
	next := c.State
	if c.IsDelta {
		applied, err := datatype.Apply(held.State, c.Delta)
		if fits := err == nil && c.Base == held.Version; !fits {
			return false, nil
		}
		next = applied
	}
	return next.Live() && (!held.State.Live() || next.Size() > held.State.Size()), nil
}
