package verify

import (
	"context"
	"errors"
	"math/rand/v2"
)

// ways are those in which transfers go, in turns. A way does one through an address, or finds that there was nothing to do.
var ways = [...]struct {
	name string
	move func(b *bank, ctx context.Context, address int, g *group) (moved bool, err error)
}{
	{"MULTI", (*bank).byMulti},
	{"WATCH", (*bank).byWatch},
	{"RENAME", (*bank).byRename},
	{"SMOVE", (*bank).bySMove},
	{"LMOVE", (*bank).byLMove},
	{"EVAL", (*bank).byScript},
}

// numbered does the next transfer of a series. What does it returns the number of the series that it found there, and whether it was done. An error means that it was
// not, unless it wraps errUnknown.
func (b *bank) numbered(g *group, do func(number string, n int64, t transfer) (before answer, done bool, err error)) (moved bool, err error) {
	which, n, ok := g.begin()
	if !ok {
		return false, nil
	}
	before, done, err := do(g.numbers[which], n, nth(which, n))
	switch {
	case errors.Is(err, errUnknown):
		if g.doubt(which) {
			b.replace(g, false)
		}
		return false, err
	case err != nil || !done:
		b.blame(g, g.refuse(which, n))
		return false, err
	}
	b.blame(g, g.acknowledge(which, n, before))
	return true, nil
}

// byMulti adds to one account and takes from another one. Of two transactions one moves tokens, too.
func (b *bank) byMulti(ctx context.Context, address int, g *group) (moved bool, err error) {
	return b.numbered(g, func(number string, n int64, t transfer) (answer, bool, error) {
		commands := [][]any{{"GET", number}, {"INCRBY", g.accounts[t.to], t.amount}}
		if rand.IntN(2) == 0 {
			commands = append(commands, g.moveAny(sets), g.moveAny(lists))
		}
		commands = append(commands, []any{"DECRBY", g.accounts[t.from], t.amount}, []any{"SET", number, n})
		answers, err := b.transact(ctx, address, commands...)
		return b.first(g, commands, answers, err)
	})
}

// tries is how often a transfer begins again whose watched keys have changed.
const tries = 5

// byWatch reads two accounts and writes what they hold then, if nobody else has written meanwhile.
func (b *bank) byWatch(ctx context.Context, address int, g *group) (moved bool, err error) {
	return b.numbered(g, func(number string, n int64, t transfer) (answer, bool, error) {
		s, err := b.run.hold(ctx, address)
		if err != nil {
			return answer{}, false, err
		}
		defer s.end()
		for range tries {
			commands, err := b.watch(ctx, s, g, t)
			if err != nil || len(commands) == 0 {
				return answer{}, false, err
			}
			commands = append([][]any{{"GET", number}}, append(commands, []any{"SET", number, n})...)
			if answers, err := s.exec(ctx, commands...); err != nil || answers != nil {
				return b.first(g, commands, answers, err)
			}
		}
		return answer{}, false, nil
	})
}

// watch watches two accounts and a seat, reads them, and returns what is to be done if they do not change: none if they hold no amounts. If the token is at that
// seat it goes to the next one. An error means that nothing is done.
func (b *bank) watch(ctx context.Context, s *talk, g *group, t transfer) (commands [][]any, err error) {
	seat := rand.IntN(len(g.cells[seats]))
	keys := []string{g.accounts[t.from], g.accounts[t.to], g.cells[seats][seat]}
	if _, err := s.do(ctx, command("WATCH", keys)...); err != nil {
		return nil, notDone(err)
	}
	var found [3]answer
	for i, key := range keys {
		if found[i], err = s.do(ctx, "GET", key); err != nil {
			return nil, notDone(err)
		}
	}
	from, errFrom := numberOf(found[0])
	to, errTo := numberOf(found[1])
	if errFrom == nil && errTo == nil && from > 0 && to > 0 { // others who read all of them find what is wrong
		commands = [][]any{{"SET", keys[0], from - t.amount}, {"SET", keys[1], to + t.amount}}
	}
	if len(commands) > 0 && !found[2].null {
		commands = append(commands, g.move(seats, seat, (seat+1)%len(g.cells[seats]), ""))
	}
	return commands, nil
}

// notDone is an error of what came before a transaction, of which nothing is done whatever became of that.
func notDone(err error) error {
	if errors.Is(err, errUnknown) {
		return errors.New(err.Error())
	}
	return err
}

// first is the answer to the first command of a transaction. A transaction that is answered null, without WATCH, or not for each command is wrong.
func (b *bank) first(g *group, commands [][]any, answers []answer, err error) (answer, bool, error) {
	if err == nil && len(answers) != len(commands) {
		b.blame(g, g.wrong("EXEC of %d commands was answered with %d values", len(commands), len(answers)))
		err = errUnknown
	}
	if err != nil {
		return answer{}, false, err
	}
	return answers[0], true, nil
}
