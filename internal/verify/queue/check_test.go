package queue

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWhatIsRightIsNeverBlamed, whatever is unknown.
func TestWhatIsRightIsNeverBlamed(t *testing.T) {
	for _, d := range []Discipline{Popped, Moved, Grouped} {
		rapid.Check(t, func(t *rapid.T) {
			ops := newWorld(t, d, true).live()
			require.Empty(t, Check(d, ops).Violations, "%d: %+v", d, ops)
		})
	}
}

// history is a right one in which all outcomes are known.
func history(t *rapid.T) (Discipline, []Op) {
	d := rapid.SampledFrom([]Discipline{Popped, Moved, Grouped}).Draw(t, "discipline")
	return d, newWorld(t, d, false).live()
}

// pick returns one of those operations that are so, and skips histories that have none.
func pick(t *rapid.T, ops []Op, is func(Op) bool) *Op {
	var all []int
	for i, op := range ops {
		if is(op) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		t.Skip("there is none")
	}
	return &ops[rapid.SampledFrom(all).Draw(t, "op")]
}

func isPush(op Op) bool { return op.Kind == Push }

// end is a time after all.
func end(ops []Op) int64 { return ops[len(ops)-1].End }

func TestWhatVanishesIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, ops := history(t)
		element := pick(t, ops, isPush).Elements[0]
		ops = slices.DeleteFunc(ops, func(op Op) bool { return op.Kind == Done && op.Elements[0] == element })
		for i := range ops {
			if op := &ops[i]; op.Kind != Push {
				op.Elements = slices.DeleteFunc(op.Elements, func(one string) bool { return one == element })
			}
		}
		result := Check(d, ops)
		require.True(t, result.Has(Lost), "%+v", result)
	})
}

// TestWhatVanishesFromItsWorkerIsFound: it was handed out, the worker was lost, and nobody sees it again.
func TestWhatVanishesFromItsWorkerIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, ops := history(t)
		if d == Popped {
			t.Skip("it is nobody's")
		}
		element := pick(t, ops, func(op Op) bool { return op.Kind == Take && len(op.Elements) > 0 }).Elements[0]
		ops = slices.DeleteFunc(ops, func(op Op) bool { return op.Kind == Done && op.Elements[0] == element })
		for i := range ops {
			if op := &ops[i]; op.Kind == Left {
				op.Elements = slices.DeleteFunc(op.Elements, func(one string) bool { return one == element })
			}
		}
		require.True(t, Check(d, ops).Has(Lost))
	})
}

func TestWhatIsHandedOutAgainIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, ops := history(t)
		again := pick(t, ops, func(op Op) bool {
			return (op.Kind == Take && d != Moved || op.Kind == Done && !op.None) && len(op.Elements) > 0
		})
		element, queue := again.Elements[0], again.Queues[0]
		kind := rapid.SampledFrom([]Kind{Take, Left}).Draw(t, "kind")
		if d == Grouped && again.Kind == Take {
			kind = Take // what is pending is there
		}
		ops = append(ops, Op{Kind: kind, Queues: []string{queue}, Elements: []string{element}, Begin: end(ops) + 1, End: end(ops) + 2})
		result := Check(d, ops)
		require.True(t, result.Has(Twice), "%+v", result)
	})
}

func TestWhatNobodyPushedIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, ops := history(t)
		at := end(ops)
		refused := Op{Kind: Push, Outcome: Refused, Queues: []string{"a"}, Elements: []string{"refused"}, Begin: at + 1, End: at + 2}
		ghost := rapid.SampledFrom([]string{"refused", "ghost"}).Draw(t, "ghost")
		kind := rapid.SampledFrom([]Kind{Take, Left}).Draw(t, "kind")
		result := Check(d, append(ops, refused, Op{Kind: kind, Queues: []string{"a"}, Elements: []string{ghost}, Begin: at + 3, End: at + 4}))
		require.True(t, result.Has(Invented), "%+v", result)
	})
}

// TestWhatIsOutOfOrderIsFound: two Takes have each what the other one should have.
func TestWhatIsOutOfOrderIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, ops := history(t)
		pushed := map[string]Op{}
		takes := map[string]int{}
		moved := map[string]bool{}
		for i, op := range ops {
			for _, element := range op.Elements {
				switch op.Kind {
				case Push:
					pushed[element] = op
				case Take:
					moved[element] = moved[element] || takes[element] > 0
					takes[element] = i
				case Return, Claim, Left:
					moved[element] = true // of which it is not known what order they have
				}
			}
		}
		taken := slices.Sorted(maps.Keys(takes))
		for _, x := range taken {
			for _, y := range taken {
				i, j := takes[x], takes[y]
				px, py := pushed[x], pushed[y]
				if len(ops[i].Elements) != 1 || len(ops[j].Elements) != 1 || moved[x] || moved[y] ||
					px.Queues[0] != py.Queues[0] || !px.before(&py) || !ops[i].before(&ops[j]) {
					continue
				}
				ops[i].Elements, ops[j].Elements = []string{y}, []string{x}
				ops = slices.DeleteFunc(ops, func(op Op) bool { return op.Kind == Done }) // they are others' now
				result := Check(d, ops)
				require.True(t, result.Has(Disorder) || result.Has(Unseen) || result.Has(Invented), "%s %s: %+v", x, y, result)
				return
			}
		}
		t.Skip("no two are in order")
	})
}

// TestWhatIsNotSeenIsFound: there was something all the time, and a Take was answered that there is nothing.
func TestWhatIsNotSeenIsFound(t *testing.T) {
	ops := []Op{
		{Kind: Push, Queues: []string{"a"}, Elements: []string{"x"}, Begin: 1, End: 2},
		{Kind: Take, Queues: []string{"b", "a"}, Begin: 3, End: 4},
		{Kind: Take, Queues: []string{"a"}, Elements: []string{"x"}, Begin: 5, End: 6},
	}
	for _, d := range []Discipline{Popped, Moved, Grouped} {
		require.True(t, Check(d, ops).Has(Unseen))
	}
	ops[1].End = 7
	require.False(t, Check(Popped, ops).Has(Unseen), "it may have been taken before")
}

// TestFates are those that depend on what is unknown.
func TestFates(t *testing.T) {
	queue := []string{"q"}
	push := func(element string, at int64) Op {
		return Op{Kind: Push, Queues: queue, Elements: []string{element}, Begin: at, End: at + 1}
	}
	op := func(kind Kind, worker string, at int64, elements ...string) Op {
		return Op{Kind: kind, Queues: queue, Worker: worker, Elements: elements, Begin: at, End: at + 1}
	}
	unknown := func(op Op) Op { op.Outcome = Unknown; return op }
	none := func(op Op) Op { op.None = true; return op }
	most := func(n int, op Op) Op { op.Most = n; return op }
	for name, tc := range map[string]struct {
		d    Discipline
		ops  []Op
		want []Fault
	}{
		"an unknown Take has it":                  {Popped, []Op{push("x", 1), unknown(op(Take, "", 3))}, nil},
		"an unknown Take has one, not two":        {Popped, []Op{push("x", 1), push("y", 3), unknown(op(Take, "", 5))}, []Fault{Lost}},
		"an unknown Take of several has two":      {Popped, []Op{push("x", 1), push("y", 3), most(2, unknown(op(Take, "", 5)))}, nil},
		"a refused Take has nothing":              {Popped, []Op{push("x", 1), {Kind: Take, Outcome: Refused, Queues: queue, Begin: 3, End: 4}}, []Fault{Lost}},
		"an unknown Take of another queue":        {Popped, []Op{push("x", 1), {Kind: Take, Outcome: Unknown, Queues: []string{"r"}, Begin: 3, End: 4}}, []Fault{Lost}},
		"an unknown Take of two queues":           {Popped, []Op{push("x", 1), {Kind: Take, Outcome: Unknown, Queues: []string{"r", "q"}, Begin: 3, End: 4}}, nil},
		"an unknown push is there":                {Popped, []Op{unknown(push("x", 1)), op(Take, "", 3, "x")}, nil},
		"an unknown push is there twice":          {Popped, []Op{unknown(push("x", 1)), op(Take, "", 3, "x"), op(Take, "", 5, "x")}, []Fault{Twice}},
		"an unknown push is not there":            {Popped, []Op{unknown(push("x", 1))}, nil},
		"an unknown BLMOVE leaves it in the list": {Moved, []Op{push("x", 1), unknown(op(Take, "w", 3)), op(Left, "w", 5, "x")}, nil},
		"and never loses it":                      {Moved, []Op{push("x", 1), unknown(op(Take, "w", 3))}, []Fault{Lost}},
		"it is in a list to which it did not go":  {Moved, []Op{push("x", 1), unknown(op(Take, "w", 3)), op(Left, "v", 5, "x")}, []Fault{Invented}},
		"two are in the list of one unknown Take": {Moved, []Op{push("x", 1), push("y", 3), unknown(op(Take, "w", 5)), op(Left, "w", 7, "x", "y")}, []Fault{Invented}},
		"handed out again, and not returned":      {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Take, "v", 5, "x"), op(Done, "v", 7, "x")}, []Fault{Twice}},
		"handed out again, and returned":          {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Return, "w", 5, "x"), op(Take, "v", 7, "x"), op(Done, "v", 9, "x")}, nil},
		"handed out again, perhaps returned":      {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), unknown(op(Return, "w", 5)), op(Take, "v", 7, "x"), op(Done, "v", 9, "x")}, nil},
		"returned after it was done":              {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Done, "w", 5, "x"), op(Return, "w", 7, "x")}, []Fault{Twice}},
		"returned after it was perhaps done":      {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), unknown(op(Done, "w", 5, "x")), op(Return, "w", 7, "x"), op(Left, "", 9, "x")}, nil},
		"its worker does not find it":             {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), none(op(Done, "w", 5, "x")), op(Left, "", 7, "x")}, []Fault{Lost}},
		"its worker was taken for lost":           {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Return, "w", 5, "x"), none(op(Done, "w", 7, "x")), op(Left, "", 9, "x")}, nil},
		"done twice":                              {Moved, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Done, "w", 5, "x"), op(Done, "w", 7, "x")}, []Fault{Twice}},
		"returned, and in front again":            {Moved, []Op{push("x", 1), push("y", 3), op(Take, "w", 5, "x"), op(Take, "v", 7, "y"), op(Return, "w", 9, "x"), op(Take, "v", 11, "x"), op(Done, "v", 13, "x"), op(Done, "v", 15, "y")}, nil},
		"passed":                                  {Moved, []Op{push("x", 1), push("y", 3), op(Take, "v", 5, "y"), op(Done, "v", 7, "y"), op(Left, "", 9, "x")}, []Fault{Disorder}},
		"handed out as new twice":                 {Grouped, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Take, "v", 5, "x"), op(Done, "v", 7, "x")}, []Fault{Twice}},
		"claimed":                                 {Grouped, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Claim, "v", 5, "x"), op(Done, "v", 7, "x"), none(op(Done, "w", 9, "x"))}, nil},
		"claimed after it was done":               {Grouped, []Op{push("x", 1), op(Take, "w", 3, "x"), op(Done, "w", 5, "x"), op(Claim, "v", 7, "x")}, []Fault{Twice}},
		"claimed after it was perhaps done":       {Grouped, []Op{push("x", 1), op(Take, "w", 3, "x"), unknown(op(Done, "w", 5, "x")), op(Claim, "v", 7, "x")}, nil},
		"claimed, and was never new":              {Grouped, []Op{push("x", 1), op(Claim, "v", 3, "x"), op(Done, "v", 5, "x")}, []Fault{Invented}},
		"claimed, and its new one is unknown":     {Grouped, []Op{push("x", 1), unknown(op(Take, "w", 3)), op(Claim, "v", 5, "x"), op(Done, "v", 7, "x")}, nil},
		"not pending any more":                    {Grouped, []Op{push("x", 1), op(Take, "w", 3, "x"), none(op(Done, "w", 5, "x"))}, []Fault{Lost}},
		"of another queue":                        {Popped, []Op{push("x", 1), {Kind: Take, Queues: []string{"r"}, Elements: []string{"x"}, Begin: 3, End: 4}}, []Fault{Invented, Lost}},
		"before it was pushed":                    {Popped, []Op{op(Take, "", 1, "x"), push("x", 3)}, []Fault{Invented, Lost}},
		"within an answer":                        {Popped, []Op{push("x", 1), push("y", 3), most(2, op(Take, "", 5, "y", "x"))}, []Fault{Disorder}},
		"twice in an answer":                      {Popped, []Op{push("x", 1), most(2, op(Take, "", 5, "x", "x"))}, []Fault{Twice}},
	} {
		t.Run(name, func(t *testing.T) {
			result := Check(tc.d, tc.ops)
			var got []Fault
			for _, v := range result.Violations {
				got = append(got, v.Fault)
				require.NotEmpty(t, v.Queue)
				require.NotEmpty(t, v.Text)
			}
			slices.Sort(got)
			require.Equal(t, tc.want, slices.Compact(got), "%+v", result)
		})
	}
}

// TestAnExcuseIsMovedWhereItIsNeeded: what two explain is explained by the one that nothing else needs.
func TestAnExcuseIsMovedWhereItIsNeeded(t *testing.T) {
	take := func(queues ...string) Op {
		return Op{Kind: Take, Outcome: Unknown, Queues: queues, Begin: 5, End: 6}
	}
	push := func(queue, element string) Op {
		return Op{Kind: Push, Queues: []string{queue}, Elements: []string{element}, Begin: 1, End: 2}
	}
	result := Check(Popped, []Op{push("a", "1"), push("b", "2"), take("a", "b"), take("a")})
	require.Empty(t, result.Violations)
	require.Equal(t, 2, result.Excused)
	result = Check(Popped, []Op{push("b", "1"), push("b", "2"), take("a", "b"), take("a")})
	require.Len(t, result.Violations, 1)
}
