package history

import (
	"slices"
	"strconv"

	"github.com/anishathalye/porcupine"
)

// state is a key's: absent, or something of a family, which may have an expiry.
type state struct {
	live   bool
	family family
	value  string // of a hash a Hash; see collection.go
	// earliest and latest bound the moment of expiry, in Unix milliseconds: the command
	// that set it took effect some time between call and return. latest is 0 for no expiry.
	earliest, latest int64
	// since is when the key can have got into this state by expiring. An operation that
	// finds the state did not return before.
	since int64
}

// clockSlack is by how many milliseconds clocks may seem to differ: they are read in
// whole ones, and the system may correct them a little at any time.
const clockSlack = 5

// at returns what an operation that was called and returned at these moments may
// find: the key as it is, or gone, or either.
func (s state) at(called, returned int64) (found []state) {
	switch {
	case returned < s.since:
		return nil
	case s.latest == 0:
		return []state{s}
	}
	if s.latest == Never || called <= s.latest+clockSlack {
		found = append(found, s)
	}
	if returned >= s.earliest-clockSlack {
		found = append(found, state{since: max(s.since, s.earliest-clockSlack)})
	}
	return found
}

// set returns the state with a value and no expiry.
func (s state) set(value string) state { return state{live: true, value: value, since: s.since} }

// gone returns the state after a deletion.
func (s state) gone() state { return state{since: s.since} }

// expiring returns the state with the expiry that an operation sets.
func (s state) expiring(o *Operation) state {
	s.earliest, s.latest = o.CallAt+o.TTL, int64(Never)
	if o.ReturnAt < Never-o.TTL {
		s.latest = o.ReturnAt + o.TTL
	}
	return s
}

// persisting returns the state without expiry.
func (s state) persisting() state {
	s.earliest, s.latest = 0, 0
	return s
}

// apply is what an operation's command means in a state: the state after it, and the
// reply.
func apply(s state, o *Operation) (next state, reply string) {
	wanted := o.Kind.family()
	if s.live && wanted != anything && wanted != s.family {
		return s, WrongType
	}
	switch wanted {
	case hashes:
		return applyToHash(s, o)
	case lists:
		return applyToList(s, o)
	case sets:
		return applyToSet(s, o)
	case sortedSets:
		return applyToSortedSet(s, o)
	}
	old := Nil
	if s.live {
		old = s.value
	}
	switch o.Kind {
	case Get:
		return s, old
	case Set:
		return s.set(o.Arg), "OK"
	case PSetEX:
		return s.set(o.Arg).expiring(o), "OK"
	case GetSet:
		return s.set(o.Arg), old
	case SetNX:
		if s.live {
			return s, "0"
		}
		return s.set(o.Arg), "1"
	case Append:
		s.live, s.value = true, s.value+o.Arg
		return s, strconv.Itoa(len(s.value))
	case Incr:
		return increment(s)
	case GetDel:
		return s.gone(), old
	}
	return applyToLive(s, o)
}

// applyToLive is apply for the commands that do nothing to an absent key.
func applyToLive(s state, o *Operation) (next state, reply string) {
	switch {
	case !s.live && o.Kind == GetEX:
		return s, Nil
	case !s.live, o.Kind == Persist && s.latest == 0:
		return s, "0"
	}
	switch o.Kind {
	case Del:
		return s.gone(), "1"
	case PExpire:
		return s.expiring(o), "1"
	case Persist:
		return s.persisting(), "1"
	case GetEX:
		if o.TTL == 0 {
			return s.persisting(), s.value
		}
		return s.expiring(o), s.value
	}
	panic("history: unknown command " + string(o.Kind))
}

func increment(s state) (state, string) {
	n, canonical := number(s.value)
	if s.live && !canonical {
		return s, NotInteger
	}
	s.live, s.value = true, strconv.FormatInt(n+1, 10)
	return s, s.value
}

// number reads a number, 0 if it is none as Redis writes it: it takes no others.
func number(text string) (n int64, canonical bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, false
	}
	return n, true
}

// possible is what is known of a key after some operations: the states in which it
// may be, and how far each pipeline has come.
type possible struct {
	states []state
	// evicts: the key may be deleted at any moment, and nobody says so.
	evicts bool
	// last holds the place of the last answered command of each pipeline. Which commands
	// took effect decides it, so it is not compared.
	last []position
}

type position struct{ pipeline, place int }

// step executes an operation in every possible state and keeps those in which it
// replies what it did. None is left if the operation cannot come here.
func (p *possible) step(o *Operation) *possible {
	next := &possible{last: p.last, evicts: p.evicts}
	if o.Pipeline != 0 && !o.Unknown { // one of unknown outcome may take effect yet, after the others
		i := slices.IndexFunc(p.last, func(at position) bool { return at.pipeline == o.Pipeline })
		if i >= 0 && p.last[i].place > o.Place {
			return next
		}
		next.last = slices.Clone(p.last)
		if i >= 0 {
			next.last[i].place = o.Place
		} else {
			next.last = append(next.last, position{o.Pipeline, o.Place})
		}
	}
	for _, s := range p.states {
		for _, found := range p.found(s, o) {
			for _, choice := range o.choices(found) {
				if after, reply := apply(found, choice); o.Unknown || reply == o.Reply {
					next.add(after)
				}
			}
		}
	}
	return next
}

// found returns what an operation may find, of a key in such a state.
func (p *possible) found(s state, o *Operation) []state {
	found := s.at(o.CallAt, o.ReturnAt)
	if p.evicts && s.live && len(found) > 0 {
		found = append(found, s.gone())
	}
	return found
}

// add adds a state, unless it is there with the same or a weaker condition.
func (p *possible) add(s state) {
	for i, old := range p.states {
		old.since = s.since
		if old == s {
			p.states[i].since = min(p.states[i].since, s.since)
			return
		}
	}
	p.states = append(p.states, s)
}

func (p *possible) equal(other *possible) bool {
	if len(p.states) != len(other.states) {
		return false
	}
	for _, s := range p.states { // neither holds a state twice
		if !slices.Contains(other.states, s) {
			return false
		}
	}
	return true
}

// String is for the visualization.
func (p *possible) String() string {
	text := ""
	for _, s := range p.states {
		if text != "" {
			text += " or "
		}
		switch {
		case !s.live:
			text += Nil
		case s.latest != 0:
			text += s.value + " (expires)"
		default:
			text += s.value
		}
	}
	return text
}

// register is the model of one key, and evicted that of one which may be evicted at any moment: then it is not there, and else all holds of it that does of a register.
var register, evicted = modelOf(false), modelOf(true)

// modelOf returns the model of a key. The input is the whole *Operation.
func modelOf(evicts bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return &possible{states: []state{{}}, evicts: evicts} },
		Step: func(current, input, _ any) (bool, any) {
			next := current.(*possible).step(input.(*Operation))
			return len(next.states) > 0, next
		},
		Equal: func(a, b any) bool { return a.(*possible).equal(b.(*possible)) },
		DescribeOperation: func(input, _ any) string {
			return input.(*Operation).String() + " -> " + input.(*Operation).reply()
		},
		DescribeState: func(current any) string { return current.(*possible).String() },
	}
}
