package database

// Placements says of each database how its keys are placed. It is part of the ring. The zero Placements has all of them spread.
type Placements struct {
	// Together has a bit for each database, by its number, of which all keys are in one slot.
	Together uint16 `json:"together,omitempty"`
	// Closed has a bit for each whose placement is about to change: nobody reads or writes its keys until that is done. Together says how they were placed.
	Closed uint16 `json:"closed,omitempty"`
}

// ID returns the ID of a database as it is placed.
func (p Placements) ID(number int) ID { return IDOf(number, p.Together>>number&1 == 1) }

// Open reports whether the keys of a database may be read and written.
func (p Placements) Open(number int) bool { return p.Closed>>number&1 == 0 }

// Admits reports whether a key, by the name under which it is kept, may be read and written. Those of Quoll's own always are.
func (p Placements) Admits(name []byte) bool {
	if Own(name) {
		return true
	}
	id, _ := Split(name)
	return p.Open(id.Number()) && p.ID(id.Number()) == id
}

// Close returns the placements with a database closed.
func (p Placements) Close(number int) Placements {
	p.Closed |= 1 << number
	return p
}

// Place returns the placements with a database open, and placed together or spread.
func (p Placements) Place(number int, together bool) Placements {
	p.Closed &^= 1 << number
	p.Together &^= 1 << number
	if together {
		p.Together |= 1 << number
	}
	return p
}
