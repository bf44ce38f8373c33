package verify

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
)

// The kinds of cells: keys of a group in which tokens are. Each token is in one of them, however often it moves.
const (
	seats = iota // strings: the key that is there is the token
	steps
	sets
	lists
	lanes
	kinds
)

// tokens says how many cells of a kind a group has, which tokens are there, and which command puts them there; for strings that is MSET.
var tokens = [kinds]struct {
	name   string
	cells  int
	tokens []string
	add    string
}{
	seats: {"seat", 4, []string{"token"}, ""},
	steps: {"step", 4, []string{walking}, ""},
	sets:  {"set", 3, []string{"red", "green", "blue", walking}, "SADD"},
	lists: {"list", 3, []string{"first", "second", "third"}, "RPUSH"},
	lanes: {"lane", 2, []string{walking}, "RPUSH"},
}

// walking is the token that one client at a time moves, so that it is known where it is.
const walking = "walker"

// walker says where it is. After an unknown outcome nobody knows, and it stays there.
type walker struct {
	at    int
	moves int // that were sent
	busy  bool
	ended bool
}

// move is the command that moves a token.
func (g *group) move(kind, from, to int, token string) []any {
	cells := g.cells[kind]
	switch kind {
	case sets:
		return []any{"SMOVE", cells[from], cells[to], token}
	case lists, lanes:
		ends := []string{"LEFT", "RIGHT"}
		return []any{"LMOVE", cells[from], cells[to], ends[rand.IntN(2)], ends[rand.IntN(2)]}
	}
	return []any{"RENAME", cells[from], cells[to]}
}

// moveAny is a command that moves some token, if it is where this looks for it. Nobody else moves the walkers.
func (g *group) moveAny(kind int) []any {
	k := tokens[kind]
	from := rand.IntN(k.cells)
	contended := slices.DeleteFunc(slices.Clone(k.tokens), func(token string) bool { return token == walking })
	return g.move(kind, from, (from+1+rand.IntN(k.cells-1))%k.cells, contended[rand.IntN(len(contended))])
}

func (b *bank) byRename(ctx context.Context, address int, g *group) (moved bool, err error) {
	return b.moveToken(ctx, address, g, seats, steps)
}

func (b *bank) bySMove(ctx context.Context, address int, g *group) (moved bool, err error) {
	return b.moveToken(ctx, address, g, sets, sets)
}

func (b *bank) byLMove(ctx context.Context, address int, g *group) (moved bool, err error) {
	return b.moveToken(ctx, address, g, lists, lanes)
}

// moveToken moves some token or a walker.
func (b *bank) moveToken(ctx context.Context, address int, g *group, contended, walked int) (moved bool, err error) {
	if from, ok := g.setOut(walked); ok && rand.IntN(2) == 0 {
		return b.walk(ctx, address, g, walked, from)
	} else if ok {
		g.stay(walked)
	}
	reply, err := b.run.do(ctx, address, g.moveAny(contended)...)
	return b.hasMoved(g, contended, reply, err), notReply(err)
}

// notReply is the error, if it is none that is as good as an answer.
func notReply(err error) error {
	if asReply(err) != "" {
		return nil
	}
	return err
}

// hasMoved judges what a move was answered.
func (b *bank) hasMoved(g *group, kind int, reply answer, err error) bool {
	switch {
	case err != nil || reply.null || kind == sets && reply.text == "0":
		return false
	case (kind == lists || kind == lanes) && !slices.Contains(tokens[kind].tokens, reply.text):
		b.blame(g, g.wrong("LMOVE moved %s, which is not there", reply))
	}
	return true
}

// walk moves a walker, which has to be where it is known to be.
func (b *bank) walk(ctx context.Context, address int, g *group, kind, from int) (moved bool, err error) {
	to := (from + 1) % tokens[kind].cells
	command := g.move(kind, from, to, walking)
	reply, err := b.run.do(ctx, address, command...)
	moved, err = b.hasMoved(g, kind, reply, err), notReply(err)
	switch {
	case errors.Is(err, errUnknown):
		g.lose(kind)
	case moved:
		g.arrive(kind, to)
	case err == nil:
		b.blame(g, g.finding(Lost, "%s %v %v did not find the walker there to which an acknowledged command had moved it", command...))
	}
	if err != nil && !errors.Is(err, errUnknown) {
		g.stay(kind)
	}
	return moved, err
}

// setOut returns where a walker is, if it is free to move.
func (g *group) setOut(kind int) (from int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := &g.walkers[kind]
	if w.busy || w.ended {
		return 0, false
	}
	w.busy = true
	w.moves++
	return w.at, true
}

// stay notes that a walker did not move, arrive that it has, and lose that nobody knows.
func (g *group) stay(kind int) { g.arrive(kind, g.walkers[kind].at) }

func (g *group) arrive(kind, at int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.walkers[kind].at, g.walkers[kind].busy = at, false
}

func (g *group) lose(kind int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.walkers[kind].busy, g.walkers[kind].ended = false, true
}

// strays returns the kinds of the walkers that did not move since a reading began, and that it found elsewhere. The lock is held.
func (g *group) strays(at floors, r reading) (kinds []int) {
	for kind, w := range g.walkers {
		if w.busy || w.ended || at.walkers[kind] != w || r.cells[kind] == nil || !slices.Contains(tokens[kind].tokens, walking) {
			continue
		}
		if !slices.Contains(strings.Fields(r.cells[kind][w.at]), walking) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
