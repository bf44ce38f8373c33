package mutation

// partsRules: how the store of a durable replica keeps large objects.
var partsRules = []mutation{
	{name: "parts-after-head", rule: "Parts on disk", effect: "the head is written before the parts that it names",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a crash leaves`), edits: []edit{
			{"node/engine/disk/revise.go", `		return err
	}
	return w.flush()
}

// end`, `		return err
	}
	return nil
}

// end`},
		}},
	{name: "parts-removed-first", rule: "Parts on disk", effect: "what the new head does not name is removed before it is written",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a crash leaves`), edits: []edit{
			{"node/engine/disk/revise.go", `		return err
	}
	return w.flush()
}

// end`, `		return err
	}
	for _, key := range v.end() {
		_ = w.remove(key)
	}
	return w.flush()
}

// end`},
		}},
	{name: "parts-numbers-again", rule: "Parts on disk", effect: "parts are written under numbers that others have",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a crash leaves`), edits: []edit{
			{"node/engine/disk/revise.go", `	v.first = v.head.next
`, `	v.head.next = 1
	v.first = v.head.next
`},
		}},
	{name: "parts-believed", rule: "Parts on disk", effect: "the head names parts that the one before did not, since they say that they are there",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a crash leaves`), edits: []edit{
			{"node/engine/disk/revise.go", `			if !there {
`, `			if !there && number == 0 {
`},
		}},
	{name: "parts-left", rule: "Parts on disk", effect: "what a crash has left of a flush stays for ever",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a part is left that no record has`), edits: []edit{
			{"node/engine/disk/strays.go", `return !c.damaged && !c.unclear[p.Object] && !c.named[p] }`, `return false }`},
		}},
	{name: "parts-unclear", rule: "Parts on disk", effect: "what is below a part that cannot be read is taken for what nobody needs",
		caught: scenario(disk, "TestAPartThatCannotBeRead", `what is below a damaged part is removed`), edits: []edit{
			{"node/engine/disk/strays.go", `		c.unclear[p.Object] = true
`, ""},
		}},
	{name: "parts-unchecked", rule: "Parts on disk", effect: "the checksum of a part is not looked at",
		caught: scenario(disk, "TestAPartThatCannotBeRead", `a part that cannot be read is taken for a value`), edits: []edit{
			{"node/engine/disk/parts.go", `len(value) < 4 || binary.LittleEndian.Uint32(value) != partSum(key, value[4:])`, `len(value) < 4`},
		}},
	{name: "parts-held", rule: "Parts on disk", effect: "what is obsolete is removed though an older version may need it",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part of it is not there`), edits: []edit{
			{"node/engine/disk/strays.go", `err != nil || e.sources.held(objectIn(key)) ||`, `err != nil || len(key) < partKeyLen && e.sources.held(objectIn(key)) ||`},
		}},
	{name: "parts-held-ended", rule: "Parts on disk", effect: "an object that has ended is removed though a version of it may need it",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part of it is not there`), edits: []edit{
			{"node/engine/disk/strays.go", `err != nil || e.sources.held(objectIn(key)) ||`, `err != nil || len(key) == partKeyLen && e.sources.held(objectIn(key)) ||`},
		}},
	{name: "parts-held-forgotten", rule: "Parts on disk", effect: "what could not be removed because somebody may need it is forgotten",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part is left that no record has`), edits: []edit{
			{"node/engine/disk/strays.go", `			left = append(left, key)
`, `			continue
`},
		}},
	{name: "parts-held-stray", rule: "Parts on disk", effect: "the sweep removes what no head names though an older version may need it",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part of it is not there`), edits: []edit{
			{"node/engine/disk/strays.go", `c.stray(p) && !e.sources.held(p.Object)`, `c.stray(p)`},
		}},
	{name: "parts-held-cleared", rule: "Parts on disk", effect: "what a slot had before it was cleared is removed though a version of it may need it",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part of it is not there`), edits: []edit{
			{"node/engine/disk/sweep.go", `!garbage || e.sources.heldBefore(s.number, generation)`, `!garbage`},
		}},
	{name: "parts-held-for-ever", rule: "Parts on disk", effect: "what is in use holds what the head does not name any more",
		caught: scenario(disk, "TestOneFieldReadsLittle", `what is obsolete stays though nobody has it`), edits: []edit{
			{"node/engine/disk/source.go", `return !q.inTable()`, `return true`},
		}},
	{name: "parts-foreign", rule: "Parts on disk", effect: "a key is given an object that reads another reading's parts, which the head does not name",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part of it is not there|a part is left that no record has`), edits: []edit{
			{"node/engine/disk/slot.go", `q := sourceOf(rec.State); q != nil && q != sourceIn(ref) {
		if rec`, `q := sourceOf(rec.State); q != nil && q == sourceIn(ref) && false {
		if rec`},
		}},
	{name: "parts-foreign-change", rule: "Parts on disk", effect: "a key is given what a change has made of an earlier reading",
		caught: scenario(disk, "TestAChangeOfAnEarlierReading", `the key has an object of an earlier reading`), edits: []edit{
			{"node/engine/disk/slot.go", `q != nil && q != sourceIn(ref) { // the home`, `q != nil && q == sourceIn(ref) { // the home`},
		}},
	{name: "parts-survivor", rule: "Parts on disk", effect: "what a clear has left reads parts of before the clear, which stay",
		caught: scenario(disk, "TestAFormerVersionIsThere", `a part is left that no record has`), edits: []edit{
			{"node/engine/disk/slot.go", `rec.State = rec.State.Keep(); sourceOf(rec.State) != nil {`, `rec.State = rec.State.Keep(); false {`},
		}},
	{name: "parts-not-shared", rule: "Parts on disk", effect: "versions do not share what one of them reads",
		caught: scenario(parts, "TestWhatTheStoreHasOfTheNewestVersion", `no part at`), edits: []edit{
			{"node/datatype/parts/unread.go", `if !stays && read.page() && `, `if !stays && `},
		}},
	{name: "parts-absent", rule: "Parts on disk", effect: "a part that cannot be read when it is needed is taken for an empty one",
		caught: scenario(parts, "TestAPartThatCannotBeRead", `An error is expected but got nil`), edits: []edit{
			{"node/datatype/parts/unread.go", `		panic(record.Unreadable{Err: err})
`, `		return &node{}
`},
		}},
	{name: "parts-unreported", rule: "Parts on disk", effect: "nobody is told of a part that could not be read",
		caught: scenario(disk, "TestAPartThatCannotBeReadLater", `is not reported`), edits: []edit{
			{"node/engine/disk/source.go", `	q.engine.doubts.add(doubt{q.slot, q.generation, err})
`, ""},
		}},
	{name: "parts-uncounted", rule: "Parts on disk", effect: "what was read of an object is not counted as memory",
		caught: scenario(disk, "TestOneFieldReadsLittle", `what is read is not counted`), edits: []edit{
			{"node/engine/disk/source.go", `	if q.table {
		q.engine.grow(int64(n))
	}
`, ""},
		}},
	{name: "parts-counted-on", rule: "Parts on disk", effect: "what was read of an object counts as memory after it has left it",
		caught: scenario(disk, "TestOneFieldReadsLittle", `what has left memory is counted`), edits: []edit{
			{"node/engine/disk/source.go", `		q.engine.grow(-q.kept)
`, `		q.engine.grow(0)
`},
		}},
	{name: "parts-half-replayed", rule: "Parts on disk", effect: "a change that needs a part that cannot be read ends the start",
		caught: scenario(disk, "TestAChangeOfWhatCannotBeReadIsRepeated", `journal: a change of a record in slot`), edits: []edit{
			{"node/engine/disk/replay.go", `errors.Is(err, engine.ErrCorrupt) { // a part of it`, `errors.Is(err, engine.ErrClosed) { // a part of it`},
		}},
	{name: "parts-reason-lost", rule: "Parts on disk", effect: "what follows a change that needs a part that cannot be read is taken for a lost file",
		caught: scenario(disk, "TestAChangeOfWhatCannotBeReadIsRepeated", `files of one of them are lost`), edits: []edit{
			{"node/engine/disk/replay.go", `if u[s][string(key)] == nil { // else`, `if reason == nil || u[s][string(key)] == nil { // else`},
		}},
}
