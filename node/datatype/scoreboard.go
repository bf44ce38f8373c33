package datatype

import (
	"errors"
	"fmt"
	"io"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// scoreboard is a large sorted set: a tree that finds scores by members, and one of the elements of the packed form in their order, that finds ranks. Both change together,
// and never for whoever has a scoreboard. As it is sent and stored it is what the second one is: the packed form.
type scoreboard struct {
	scores *parts.Map // appendCode's bytes by member
	order  *parts.Sequence
	root   scoreboardRoot
}

func newScoreboard(scores *parts.Map, order *parts.Sequence) *scoreboard {
	b := &scoreboard{scores: scores, order: order}
	b.root.of = b
	return b
}

// errScores says that elements are no sorted set.
var errScores = errors.New("datatype: members are out of order, there twice, or have no scores")

// scoreboardOf makes a scoreboard of its elements in their order, which may come from elsewhere.
func scoreboardOf(order *parts.Sequence) (*scoreboard, error) {
	scores, last, first := new(parts.Map), scored{}, true
	for element := range order.From(0) {
		score, size, ok := checkedScore(element)
		if !ok {
			return nil, errScores
		}
		next := scored{score, element[size:]}
		if !first && last.compare(next) >= 0 {
			return nil, errScores
		}
		var twice bool
		if scores, twice = scores.Set(next.member, element[:size]); twice {
			return nil, errScores
		}
		last, first = next, false
	}
	return newScoreboard(scores, order), nil
}

// Size implements record.Object.
func (b *scoreboard) Size() int { return b.order.Size() }

// AppendTo implements record.Object.
func (b *scoreboard) AppendTo(dst []byte) []byte { return b.order.AppendTo(dst) }

// Reader implements record.Object.
func (b *scoreboard) Reader() io.Reader { return b.order.Reader() }

// Memory implements record.Object.
func (b *scoreboard) Memory() int { return b.scores.Memory() + b.order.Memory() }

// Root implements record.Parted.
func (b *scoreboard) Root() record.Part {
	b.scores.Root() // before other versions are made of it
	return &b.root
}

// Source implements record.Parted.
func (b *scoreboard) Source() record.Source {
	if from := b.scores.Source(); from != nil {
		return from
	}
	return b.order.Source()
}

// search returns the rank of the first member that is not before one.
func search(order *parts.Sequence, s scored) int {
	return order.Search(func(element []byte) bool { return scoredOf(element).compare(s) < 0 })
}

// with returns a scoreboard with changes, which may have no members then.
func (b *scoreboard) with(changes []scoreChange) *scoreboard {
	scores, order := b.scores, b.order.Edit()
	for i := range changes {
		c := &changes[i]
		from, to := 0, 0
		if c.was.found {
			from = search(order.Sequence(), scored{c.was.score, c.member})
			to = from + 1
		}
		if c.remove {
			scores, _ = scores.Remove(c.member)
			order.Splice(from, to)
			continue
		}
		scores, _ = scores.Set(c.member, appendCode(nil, c.score))
		element := append(appendCode(make([]byte, 0, scoreSize(c.score)+len(c.member)), c.score), c.member...)
		switch at := search(order.Sequence(), c.scored); {
		case c.was.found && (at == from || at == to): // it keeps its place
			order.Splice(from, to, element)
		case at > from && c.was.found:
			order.Splice(at, at, element)
			order.Splice(from, to)
		default:
			order.Splice(from, to)
			order.Splice(at, at, element)
		}
	}
	return newScoreboard(scores, order.Sequence())
}

// without returns a scoreboard without the members of ranks from one on, up to another one, all of which it has.
func (b *scoreboard) without(from, to int) *scoreboard {
	scores, left := b.scores, to-from
	for element := range b.order.From(from) {
		if left == 0 {
			break
		}
		scores, _ = scores.Remove(scoredOf(element).member)
		left--
	}
	return newScoreboard(scores, b.order.Splice(from, to))
}

// scoreboardRoot is the part above the two trees.
type scoreboardRoot struct {
	of     *scoreboard
	stored record.Place
}

// kindScoreboard is what the part says of itself: nothing but that it is one. Those of package parts begin with other bytes.
const kindScoreboard = 16

// Parts implements record.Part.
func (r *scoreboardRoot) Parts() int { return 2 }

// Part implements record.Part.
func (r *scoreboardRoot) Part(i int) record.Part {
	if i == 0 {
		return r.of.scores.Root()
	}
	return r.of.order.Root()
}

// AppendPart implements record.Part.
func (r *scoreboardRoot) AppendPart(dst []byte) []byte { return append(dst, kindScoreboard) }

// Stored implements record.Part.
func (r *scoreboardRoot) Stored() *record.Place { return &r.stored }

// assembleScoreboard makes the scoreboard whose root a store keeps at a place. See parts.AssembleMap.
func assembleScoreboard(root record.Place, from record.Source) (record.Object, error) {
	var trees []record.Place
	err := from.Read(root, func(content []byte, below []record.Place) error {
		if len(content) != 1 || content[0] != kindScoreboard || len(below) != 2 {
			return fmt.Errorf("%w: the part above the trees is none", errScores)
		}
		trees = append(trees, below...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	scores, err := parts.AssembleMap(trees[0], from)
	if err != nil {
		return nil, err
	}
	order, err := parts.AssembleSequence(trees[1], from)
	if err != nil {
		return nil, err
	}
	if scores.Len() != order.Len() {
		return nil, fmt.Errorf("%w: %d members, and %d in order", errScores, scores.Len(), order.Len())
	}
	b := newScoreboard(scores, order)
	b.root.stored = root
	return b, nil
}

// scoreboardBuilder builds a sorted set that is in parts.
type scoreboardBuilder struct{ *parts.SequenceBuilder }

// State implements record.Builder.
func (b scoreboardBuilder) State() (record.State, error) {
	order, err := b.Sequence()
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	board, err := scoreboardOf(order)
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if isSmallZset(order.Len(), order.Size()) {
		return record.State{}, fmt.Errorf("%w: a sorted set of %d members and %d bytes is packed", ErrBuild, order.Len(), order.Size())
	}
	return record.State{Type: record.SortedSet, Object: board}, nil
}
