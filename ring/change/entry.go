package change

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quolldb/quoll/ring"
)

// Entry is one entry of the log: one change of the document, and who wants it. One
// field besides By is set. It is JSON in the log.
type Entry struct {
	// By says who: an operator's name, or a node's.
	By string `json:"by,omitempty"`

	Join     *Join       `json:"join,omitempty"`
	Forget   *Forget     `json:"forget,omitempty"`
	Rejoin   *Rejoin     `json:"rejoin,omitempty"`
	Stage    *Staged     `json:"stage,omitempty"`
	Unstage  *Unstage    `json:"unstage,omitempty"`
	Commit   *Commit     `json:"commit,omitempty"`
	Abort    *Abort      `json:"abort,omitempty"`
	Pause    *Pause      `json:"pause,omitempty"`
	Rate     *Rate       `json:"rate,omitempty"`
	Begin    *Begin      `json:"begin,omitempty"`
	Complete *Complete   `json:"complete,omitempty"`
	Accept   *AcceptLoss `json:"accept_loss,omitempty"`
	Place    *Place      `json:"place,omitempty"`
	Users    *Users      `json:"users,omitempty"`
	// Parameters are those of CONFIG.
	Parameters *Parameters `json:"parameters,omitempty"`
}

// command is what an entry does.
type command interface{ apply(e *edit) error }

func (e Entry) command() (command, error) {
	var found command
	n := 0
	for _, c := range []struct {
		set bool
		command
	}{
		{e.Join != nil, e.Join}, {e.Forget != nil, e.Forget}, {e.Rejoin != nil, e.Rejoin}, {e.Stage != nil, e.Stage}, {e.Unstage != nil, e.Unstage},
		{e.Commit != nil, e.Commit}, {e.Abort != nil, e.Abort}, {e.Pause != nil, e.Pause}, {e.Rate != nil, e.Rate}, {e.Begin != nil, e.Begin},
		{e.Complete != nil, e.Complete}, {e.Accept != nil, e.Accept}, {e.Place != nil, e.Place}, {e.Users != nil, e.Users},
		{e.Parameters != nil, e.Parameters},
	} {
		if c.set {
			found, n = c.command, n+1
		}
	}
	if n != 1 || len(e.By) > ring.MaxName {
		return nil, ErrEntry
	}
	return found, nil
}

// Apply returns the document after an entry, of the next version; now is the time in
// milliseconds since 1970, for the history. An entry that can't be applied changes
// nothing and gives an error with a reason, which wraps one of this package's. The
// document given has to be valid; it stays as it is. Apply is deterministic: whoever
// applies the same entries has the same document.
func Apply(d Document, entry Entry, now int64) (Document, error) {
	c, err := entry.command()
	if err != nil {
		return d, err
	}
	if d.Version == math.MaxUint64 {
		return d, ErrFull // not in this universe, but in a fuzzer's
	}
	e := &edit{Document: d, by: entry.By, now: now}
	e.Version++
	if err := c.apply(e); err != nil {
		return d, err
	}
	e.finish()
	return e.Document, nil
}

// edit is a document that is being changed. Its methods copy what they change.
type edit struct {
	Document
	by  string
	now int64

	ownSlots, ownMembers bool
}

// note adds a line to the history, or goes on with this version's.
func (e *edit) note(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	events := slices.Clone(e.History)
	if last := len(events) - 1; last >= 0 && events[last].Version == e.Version {
		what = events[last].What + "; " + what
		events = events[:last]
	}
	if len(what) > maxText {
		what = strings.ToValidUTF8(what[:maxText-3], "") + "..."
	}
	events = append(events, Event{Version: e.Version, At: e.now, By: e.by, What: what})
	e.History = events[max(0, len(events)-MaxHistory):]
}

// slot returns a slot to be changed; its epoch is that of this version.
func (e *edit) slot(slot uint16) *ring.Assignment {
	if !e.ownSlots {
		e.Slots, e.ownSlots = slices.Clone(e.Slots), true
	}
	a := &e.Slots[slot]
	a.Epoch = e.Version
	return a
}

// members returns the members to be changed.
func (e *edit) members() []Life {
	if !e.ownMembers {
		e.Members, e.ownMembers = slices.Clone(e.Members), true
	}
	e.MembersAt = e.Version
	return e.Members
}

// plan returns the plan to be changed, but for its moves.
func (e *edit) plan() *Plan {
	p := *e.Plan
	e.Plan = &p
	return e.Plan
}

// stage replaces what is staged.
func (e *edit) stage(staged []Staged) { e.Staged, e.StagedAt = staged, e.Version }
