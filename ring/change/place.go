package change

import (
	"fmt"

	"github.com/quolldb/quoll/internal/database"
)

// Place changes how the keys of a database are placed. That takes two entries: the first closes the database, so that nobody reads or writes its keys. When every member knows that,
// and none has a key of it, the second one says how they are placed from now on. A key would else be out of sight under its former name, and who has not heard of the change
// would read and write it.
type Place struct {
	Database int `json:"database"`
	// Close closes the database, which stays as it is placed. Without it the database is opened again.
	Close bool `json:"close,omitempty"`
	// Together is how it is placed when it is opened: all its keys are in one slot.
	Together bool `json:"together,omitempty"`
}

func (p *Place) apply(e *edit) error {
	switch {
	case p.Database < 0 || p.Database >= database.Count || p.Close && p.Together:
		return fmt.Errorf("%w: database %d", ErrImpossible, p.Database)
	case p.Close == !e.Placements.Open(p.Database):
		return ErrNothing
	case p.Close:
		e.Placements = e.Placements.Close(p.Database)
		e.note("closes database %d, to place its keys anew", p.Database)
		return nil
	}
	e.Placements = e.Placements.Place(p.Database, p.Together)
	e.note("opens database %d, with its keys %s", p.Database, PlacementName(p.Together))
	return nil
}

// PlacementName is how operators say that the keys of a database are placed together in one slot, or spread over all.
func PlacementName(together bool) string {
	if together {
		return "together"
	}
	return "spread"
}
