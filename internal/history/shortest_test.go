package history

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// point is a command with the moment at which it took effect, in milliseconds.
type point struct {
	op     Operation
	effect int64
}

// drawHistory draws what some clients did to a register that is right: operations
// that overlap, some of them of unknown outcome, and expiries.
func drawHistory(t *rapid.T) []Operation {
	kinds := []Kind{Get, Get, Get, Set, Incr, Append, SetNX, GetSet, Del, PSetEX, PExpire, Persist, GetEX, GetDel}
	var points []point
	for client := range rapid.IntRange(1, 4).Draw(t, "clients") {
		now := int64(0)
		for range rapid.IntRange(0, 8).Draw(t, "operations") {
			call := now + rapid.Int64Range(1, 30).Draw(t, "pause")
			effect := call + rapid.Int64Range(0, 20).Draw(t, "effect")
			now = effect + rapid.Int64Range(0, 20).Draw(t, "return")
			c := Command{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Key: "k"}
			switch c.Kind {
			case Set, SetNX, GetSet, Append, PSetEX:
				c.Arg = fmt.Sprint(len(points)*10 + 1)
			}
			switch c.Kind {
			case PSetEX, PExpire, GetEX:
				c.TTL = rapid.Int64Range(1, 60).Draw(t, "ttl")
			}
			o := Operation{Client: client + 1, Command: c, Call: call * 1e6, Return: now * 1e6, CallAt: call, ReturnAt: now}
			points = append(points, point{o, effect})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.effect, b.effect) })
	return execute(t, points)
}

// execute gives the operations the replies of a right register.
func execute(t *rapid.T, points []point) []Operation {
	var ops []Operation
	var s state
	for _, p := range points {
		if s.latest != 0 && p.effect >= s.latest {
			s = state{}
		}
		exact := p.op // a command that took effect at one moment, for an expiry at one
		exact.CallAt, exact.ReturnAt = p.effect, p.effect
		after, reply := apply(s, &exact)
		switch rapid.IntRange(0, 9).Draw(t, "outcome") {
		case 0: // unknown, and it took effect
			s, p.op = after, p.op.opened()
		case 1: // unknown, and it did not
			p.op = p.op.opened()
		default:
			s, p.op.Reply = after, reply
		}
		if p.op.Kind != Get || !p.op.Unknown {
			ops = append(ops, p.op)
		}
	}
	return ops
}

func TestWhatARegisterDoesIsLinearizable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := drawHistory(t)
		require.Equal(t, porcupine.Ok, decide(register, ops, time.Minute), show(ops))
	})
}

// TestShortest breaks right histories by one wrong reply and checks what becomes of
// them: the history stays wrong, was right a moment before, and every read is needed.
func TestShortest(t *testing.T) {
	broken := 0
	rapid.Check(t, func(t *rapid.T) {
		ops := drawHistory(t)
		if len(ops) == 0 {
			return
		}
		i := rapid.IntRange(0, len(ops)-1).Draw(t, "lie")
		if ops[i].Unknown {
			return
		}
		ops[i].Reply = rapid.SampledFrom([]string{Nil, "0", "1", "11", "OK"}).Draw(t, "reply")
		if decide(register, ops, time.Minute) != porcupine.Illegal {
			return // it happens to be right
		}
		broken++
		short := shortest(register, ops, time.Minute)
		requireWrong(t, short)
		requireParts(t, short, ops)
		requireEarliest(t, short, ops)
		for i := range short {
			if short[i].noEffect() {
				require.Equal(t, porcupine.Ok, decide(register, slices.Delete(slices.Clone(short), i, i+1), time.Minute), "%d is not needed:\n%s", i, show(short))
			}
		}
	})
	require.NotZero(t, broken)
}

func requireWrong(t *rapid.T, ops []Operation) {
	require.Equal(t, porcupine.Illegal, decide(register, ops, time.Minute), show(ops))
}

// requireParts checks that nothing was invented: every operation is one of the
// original's, or one of them while it was under way.
func requireParts(t *rapid.T, short, ops []Operation) {
	require.True(t, slices.IsSortedFunc(short, func(a, b Operation) int { return cmp.Compare(a.Call, b.Call) }))
	for _, o := range short {
		require.True(t, slices.ContainsFunc(ops, func(original Operation) bool { return o == original || o == original.opened() }), show(short))
	}
}

// requireEarliest checks that the whole history was right until the last return that
// the short one has.
func requireEarliest(t *rapid.T, short, ops []Operation) {
	last := int64(0)
	for _, o := range short {
		if o.Return != Never {
			last = max(last, o.Return)
		}
	}
	require.Equal(t, porcupine.Ok, decide(register, until(ops, last-1), time.Minute), "it was wrong before:\n%s", show(ops))
}

func TestShortestLeavesOnlyWhatMatters(t *testing.T) {
	r := NewRecorder()
	for i := range 10 {
		record(r, do(Get), Nil, with(SetNX, "a"), "1", do(Get), "a", do(Del), "1", do(Del), "0")
		if i == 4 {
			record(r, do(Get), "a") // a deleted value
		}
	}
	require.Regexp(t, `^key k, the shortest wrong history \(11 of 51 operations\):`, violationOf(t, r).String())
	for _, o := range violationOf(t, r).Shortest[:10] {
		require.NotEqual(t, Get, o.Kind)
	}
}
