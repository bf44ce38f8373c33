package mutation

const elements = "Lists, sets and sorted sets"

// elementRules: what lists, sets, sorted sets and HyperLogLogs are to the register, and what their commands decide at the home. What they share with hashes (deltas of fields, which
// are those of members, parts, positions) is in hashRules.
var elementRules = []mutation{
	{name: "elements-blind", rule: elements, effect: "an RPUSH does not look for the elements that are there",
		caught: worlds("calm", 30), edits: []edit{
			{"internal/command/blind.go", `	case OpSet:
`, `	case OpRPush:
		return true
	case OpSet:
`},
		}},
	{name: "elements-base", rule: elements, effect: "a delta is applied to whatever list, set or sorted set is there",
		caught: worlds("chaos", 60), edits: []edit{
			{"node/register/acceptor.go", `if rec.Version != m.Base {`, `if rec.Version != m.Base && rec.State.Type <= record.Hash {`},
		}},
	{name: "list-length", rule: elements, effect: "a delta of a list is applied to one of any length",
		caught: scenario(datatype, "TestADeltaOfElementsFits", `a list of another length`), edits: []edit{
			{"node/datatype/list_edit.go", `if number(elements) != elements {`, `if number(1<<20) < 0 {`},
		}},
	{name: "list-empty", rule: elements, effect: "a list without elements lives",
		caught: scenario(datatype, "TestADeltaLeavesSomeElement", `LPOP k|LTRIM k 1 0`), edits: []edit{
			{"node/datatype/list_edit.go", `	if c.count(l) == 0 {
		return dst, deleted()
	}
`, ``},
		}},
	{name: "list-empty-delta", rule: elements, effect: "a delta may leave a list without elements",
		caught: scenario(datatype, "TestADeltaLeavesSomeElement", `An error is expected|Expected error with`), edits: []edit{
			{"node/datatype/list_edit.go", `if c.count(l) <= 0 {`, `if c.count(l) < 0 {`},
		}},
	{name: "list-ranks", rule: elements, effect: "the ranks in a delta are counted from the beginning of the list, and read as from the cut before",
		caught: scenario(datatype, "TestDeltasOfElementsLeaveTheExpiry", `does not fit|Should be true`), edits: []edit{
			{"node/datatype/list_edit.go", `		delta = binary.AppendUvarint(delta, uint64(cut.from-last))
`, `		delta = binary.AppendUvarint(delta, uint64(cut.from+0*last))
`},
		}},
	{name: "list-pop", rule: elements, effect: "LPOP with a count replies one end and takes the other",
		caught: scenario(datatype, "TestListCommands", `LPOP k 2`), edits: []edit{
			{"node/datatype/list_pop.go", `	from := end(l, left, n)
	change := [1]cut{{from: from, to: from + n}}
	return cuts(change[:]).run(dst, start, st, req)
}

// isEnd`, `	from := end(l, !left, n)
	change := [1]cut{{from: from, to: from + n}}
	return cuts(change[:]).run(dst, start, st, req)
}

// isEnd`},
		}},
	{name: "list-turn", rule: elements, effect: "LMOVE replicates the element that comes, and not the one that goes",
		caught: scenario(datatype, "TestListCommands", `LMOVE k k LEFT RIGHT`), edits: []edit{
			{"node/datatype/list_pop.go", `{{from: 0, to: 1}, {from: n, to: n, with: with[:]}}`, `{{from: 0, to: 0}, {from: n, to: n, with: with[:]}}`},
		}},
	{name: "list-trim", rule: elements, effect: "LTRIM replicates what it takes from the beginning only",
		caught: scenario(datatype, "TestListCommands", `bad elements for a list of 3`), edits: []edit{
			{"node/datatype/list_write.go", `	if to < n {
		c = append(c, cut{from: to, to: n})
	}
`, ``},
		}},
	{name: "list-expiry", rule: elements, effect: "a replica forgets the expiry of a list when a delta changes it",
		caught: scenario(datatype, "TestDeltasOfElementsLeaveTheExpiry", `Should be true`), edits: []edit{
			{"node/datatype/list_edit.go", `	return next.state(st.ExpireAt), nil
`, `	return next.state(0), nil
`},
		}},
	{name: "list-form", rule: elements, effect: "the home keeps a list in parts until it is much shorter than one that is sent whole would have to be",
		caught: scenario(datatype, "TestAReplicaHasTheFormOfTheHomeOfElements", `replica since`), edits: []edit{
			{"node/datatype/list.go", `	if isPackedList(l.count(), l.size()) {
		return l.pack()
`, `	if isPackedList(l.count(), l.size()) && (l.parts == nil || l.count() <= packedElements/2) {
		return l.pack()
`},
		}},
	{name: "set-choice", rule: elements, effect: "SPOP hands out one member, and what is replicated takes another, the replica's own choice",
		caught: scenario(datatype, "TestSPopTakesWhatItSays", `was not there any more|Not equal`), edits: []edit{
			{"node/datatype/members_write.go", `	gone := [1]fieldChange{{field: member, remove: true}}
`, `	other, _ := m.at(d.below(m.count()))
	gone := [1]fieldChange{{field: other, remove: true}}
`},
		}},
	{name: "set-choices", rule: elements, effect: "SPOP with a count replies that many members, and takes one fewer",
		caught: scenario(datatype, "TestSPopTakesWhatItSays", `was not there any more|Not equal`), edits: []edit{
			{"node/datatype/members_write.go", `	if missing == m.count() {
		return dst, deleted()
	}
`, `	if missing == m.count() {
		return dst, deleted()
	}
	e.list = e.list[:max(1, len(e.list)-1)]
`},
		}},
	{name: "set-empty-delta", rule: elements, effect: "a delta may leave a set without members",
		caught: scenario(datatype, "TestADeltaLeavesSomeElement", `An error is expected|Expected error with`), edits: []edit{
			{"node/datatype/members_edit.go", `if next.count() == 0 || next.size() > MaxCollectionLen {`, `if next.size() > MaxCollectionLen {`},
		}},
	{name: "set-values", rule: elements, effect: "a delta makes a hash of a set: its members have values",
		caught: scenario(datatype, "TestADeltaOfElementsFits", `members that have values`), edits: []edit{
			{"node/datatype/members_edit.go", `if !ok || slices.ContainsFunc(e.list, func(c fieldChange) bool { return len(c.value) > 0 }) {`,
				`if slices.Reverse(e.list[:0]); !ok {`},
		}},
	{name: "set-integers", rule: elements, effect: "a set of integers stays one, whatever else is added, if it comes alone",
		caught: scenario(datatype, "TestSets", `SADD`), edits: []edit{
			{"node/datatype/members_edit.go", `		if _, ok := parseInt(e.list[i].field); !ok && !e.list[i].remove {
			return nil, 0, false
		}
`, `		if _, ok := parseInt(e.list[i].field); !ok && !e.list[i].remove && len(e.list) > 1 {
			return nil, 0, false
		}
`},
		}},
	{name: "zset-increment", rule: elements, effect: "ZINCRBY replicates the increment, not the score that came of it",
		caught: scenario(datatype, "TestDeltasOfElementsLeaveTheExpiry", `Should be true`), edits: []edit{
			{"node/datatype/zset_edit.go", `			dst = appendCode(dst, c.score)
`, `			dst = appendCode(dst, c.score-c.was.score)
`},
		}},
	{name: "zset-pop", rule: elements, effect: "ZPOPMAX replies the last members and takes the first",
		caught: scenario(datatype, "TestSortedSets", `ZPOPMAX`), edits: []edit{
			{"node/datatype/zset_remove.go", `return z.remove(reply, st, from, from+n)`, `return z.remove(reply, st, 0, n)`},
		}},
	{name: "zset-ranks", rule: elements, effect: "a delta takes the ranks from the other end",
		caught: scenario(datatype, "TestDeltasOfElementsLeaveTheExpiry", `Should be true`), edits: []edit{
			{"node/datatype/zset_edit.go", `next = z.withoutRanks(int(from), int(from+n), s)`, `next = z.withoutRanks(int(count-from-n), int(count-from), s)`},
		}},
	{name: "zset-ranks-bound", rule: elements, effect: "a delta takes ranks that are not there",
		caught: scenario(datatype, "TestADeltaOfElementsFits", `panic|behind the sorted set`), edits: []edit{
			{"node/datatype/zset_edit.go", `from <= count && n <= count-from; ok {`, `from <= count; ok {`},
		}},
	{name: "zset-empty-delta", rule: elements, effect: "a delta may leave a sorted set without members",
		caught: scenario(datatype, "TestADeltaLeavesSomeElement", `An error is expected|Expected error with`), edits: []edit{
			{"node/datatype/zset_edit.go", `if !ok || next.count() == 0 || next.size()`, `if !ok || next.size()`},
		}},
	{name: "zset-patch", rule: elements, effect: "a new score is written over the old one, wherever the member belongs then",
		caught: scenario(datatype, "TestAChangeOfASortedSetIsADelta", `member1`), edits: []edit{
			{"node/datatype/zset_write.go", `rank != c.was.rank && rank != c.was.rank+1 {`, `rank < 0 {`},
		}},
	{name: "zset-form", rule: elements, effect: "the home keeps a sorted set in parts until it is much smaller than one that is sent whole would have to be",
		caught: scenario(datatype, "TestAReplicaHasTheFormOfTheHomeOfASortedSet", `replica since|Not equal`), edits: []edit{
			{"node/datatype/zset.go", `	case small && z.board != nil:
`, `	case small && z.board != nil && z.count() > packedMembers/2:
		return z
	case small && z.board != nil:
`},
		}},
	{name: "sketch-registers", rule: elements, effect: "a delta says which registers grew, but not how far",
		caught: scenario(datatype, "TestAnElementIsASmallDelta", `Should be true`), edits: []edit{
			{"node/datatype/hyperloglog.go", `uint64(r.Index)<<8|uint64(r.Value))`, `uint64(r.Index)<<8|1)`},
		}},
	{name: "sketch-estimate", rule: elements, effect: "at a replica the estimate stays true when registers grow",
		caught: scenario(datatype, "TestAnElementIsASmallDelta", `Should be true`), edits: []edit{
			{"node/datatype/hyperloglog.go", `	next, _, err := hyperloglog.Add(value, changes)
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrDelta, err)
	}
`, `	next, _, err := hyperloglog.Add(value, changes)
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrDelta, err)
	}
	if n, valid := hyperloglog.Estimate(value); valid {
		next, _, _ = hyperloglog.WithEstimate(next, n)
	}
`},
		}},
}
