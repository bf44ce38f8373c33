package admin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// Where the keys of a database are: spread over all slots, or together in one.
//
//	GET  /v1/ring/keyspace                                     []Keyspace, of all databases
//	POST /v1/ring/keyspace?database=N&placement=together       places the keys of a database that has none; []Keyspace

// Keyspace is a database, and how its keys are placed.
type Keyspace struct {
	Database int `json:"database"`
	// Placement is spread or together.
	Placement string `json:"placement"`
	// Slot is that of all keys, if these are together.
	Slot *uint16 `json:"slot,omitempty"`
	// Closed: the placement is about to change, and nobody reads or writes keys meanwhile.
	Closed bool `json:"closed,omitempty"`
}

// KeyFinder is a RingChanger that can look for keys of a database.
type KeyFinder interface {
	RingChanger
	// FindKey asks every member, as it works by a version of the ring or a later one, for a key of a database, as that is placed. An error says that a member has not
	// answered, or not heard of the version yet.
	FindKey(ctx context.Context, id database.ID, version uint64) (key []byte, found bool, err error)
}

// keyspaces are all databases.
func (v RingView) keyspaces() []Keyspace {
	all := make([]Keyspace, database.Count)
	for number := range all {
		id := v.Document.Placements.ID(number)
		all[number] = Keyspace{Database: number, Placement: change.PlacementName(id.Together()), Closed: !v.Document.Placements.Open(number)}
		if id.Together() {
			slot := ring.SlotOfDatabase(id)
			all[number].Slot = &slot
		}
	}
	return all
}

// ParsePlacement reads placement=together or placement=spread.
func ParsePlacement(text string) (together bool, err error) {
	switch text {
	case change.PlacementName(true):
		return true, nil
	case change.PlacementName(false):
		return false, nil
	}
	return false, fmt.Errorf("%q is neither together nor spread", text)
}

// databaseOf returns the number that database= gives, 0 without.
func databaseOf(query url.Values) (int, error) {
	text := query.Get("database")
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 || number >= database.Count {
		return 0, BadRequest(fmt.Sprintf("database: %q is not a number from 0 to %d", text, database.Count-1))
	}
	return number, nil
}

// closedTime is how long the members of the ring have to hear that a database is closed.
const closedTime = 2 * time.Second

// placeRing places the keys of a database that has none.
func placeRing(ctx context.Context, c *ringCall) (any, error) {
	number, err := databaseOf(c.query)
	if err != nil {
		return nil, err
	}
	together, err := ParsePlacement(c.query.Get("placement"))
	if err != nil {
		return nil, BadRequest("placement: " + err.Error())
	}
	finder, ok := c.source.(KeyFinder)
	if !ok {
		return nil, errNoPart
	}
	placed := c.view.Document.Placements
	if placed.Open(number) && placed.ID(number).Together() == together {
		return nil, Conflict(fmt.Sprintf("database %d: %v", number, change.ErrNothing))
	}
	p := placing{ringCall: c, finder: finder, number: number, before: placed.ID(number)}
	if err := p.empty(ctx); err != nil {
		return nil, Conflict(err.Error())
	}
	if placed.Open(number) {
		if err := c.do(ctx, change.Entry{Place: &change.Place{Database: number, Close: true}}); err != nil {
			return nil, err
		}
	}
	if !c.dryRun {
		if err := p.closed(ctx); err != nil {
			return nil, p.giveUp(ctx, err)
		}
	}
	if err := c.do(ctx, change.Entry{Place: &change.Place{Database: number, Together: together}}); err != nil {
		return nil, err
	}
	return c.view.keyspaces(), nil
}

// placing is a change of how a database is placed.
type placing struct {
	*ringCall
	finder KeyFinder
	number int
	before database.ID
}

// empty says why a database is not, or may not be.
func (p *placing) empty(ctx context.Context) error {
	key, found, err := p.finder.FindKey(ctx, p.before, p.view.Document.Version)
	switch {
	case err != nil:
		return fmt.Errorf("database %d: every member of the ring has to answer, and say that it has no key of it: %w. Nothing was changed", p.number, err)
	case found:
		return fmt.Errorf("database %d has keys, such as %q: how the keys of a database are placed can only be changed while it has none. Delete them (FLUSHDB), or export them first (quoll export). Nothing was changed", p.number, key)
	}
	return nil
}

// closed waits until every member knows that the database is closed, and says why it may have keys.
func (p *placing) closed(ctx context.Context) (err error) {
	waits, cancel := context.WithTimeout(ctx, closedTime)
	defer cancel()
	for {
		key, found, failed := p.finder.FindKey(ctx, p.before, p.view.Document.Version)
		switch {
		case failed == nil && found:
			return fmt.Errorf("database %d: a client has written the key %q meanwhile. Nothing was changed; try again when nobody writes", p.number, key)
		case failed == nil:
			return nil
		}
		if !clock.Sleep(waits, 20*time.Millisecond) {
			return fmt.Errorf("database %d: not every member of the ring has heard in time that its placement is to change: %w. Nothing was changed", p.number, failed)
		}
	}
}

// giveUp opens a database again as it was.
func (p *placing) giveUp(ctx context.Context, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if err := p.do(ctx, change.Entry{Place: &change.Place{Database: p.number, Together: p.before.Together()}}); err != nil {
		return errors.Join(why, fmt.Errorf("and it could not be opened again: %w. Repeat the command: until then clients get TRYAGAIN in that database", err))
	}
	return Conflict(why.Error())
}

// Keyspaces returns how the keys of each database are placed.
func (c *Client) Keyspaces(ctx context.Context) ([]Keyspace, error) {
	var all []Keyspace
	return all, c.ask(ctx, "/v1/ring/keyspace", &all)
}

// PlaceRing places the keys of a database that has none: all in one slot, or spread over all slots.
func (c *Client) PlaceRing(ctx context.Context, number int, together bool, opt RingOption) ([]Keyspace, error) {
	var all []Keyspace
	query := url.Values{"database": {strconv.Itoa(number)}, "placement": {change.PlacementName(together)}}
	return all, c.post(ctx, "keyspace", opt, query, &all)
}
