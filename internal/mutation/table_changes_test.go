package mutation

// changeRules: how a durable replica keeps no more of a write than its delta.
var changeRules = []mutation{
	{name: "change-ahead", rule: "Changes on disk", effect: "changes are repeated that the store has already",
		caught: scenario(disk, "TestChangesAreRepeated", `has in another version`), edits: []edit{
			{"node/engine/disk/replay.go", `	case found && !held.Version.Less(rec.Version):
		return nil
`, ""},
		}},
	{name: "change-any-base", rule: "Changes on disk", effect: "a change is repeated on whatever record is there",
		caught: scenario(disk, "TestAChangeOfAnotherVersionIsLoss", `a change was applied to another version`), edits: []edit{
			{"node/engine/disk/replay.go", `case !found || held.Version != base:`, `case !found:`},
		}},
	{name: "change-unreadable", rule: "Changes on disk", effect: "a replica votes that has lost a change, since it could not read what was changed",
		caught: scenario(disk, "TestAChangeOfWhatCannotBeRead", `the slot votes without what was changed`), edits: []edit{
			{"node/engine/disk/replay.go", `			meta.Rebuilding = true
`, ""},
		}},
	{name: "change-unsettled", rule: "Changes on disk", effect: "a deletion does not make good what could not be repeated before it",
		caught: scenario(disk, "TestADeletionSettlesChanges", `has in another version`), edits: []edit{
			{"node/engine/disk/operation.go", `		e.unresolved.settle(s, d.rest)
`, ""},
		}},
	{name: "change-no-record", rule: "Changes on disk", effect: "a change of what a clear has left is given to the store as one of a record",
		caught: search("repair", 100), edits: []edit{
			{"node/register/acceptor.go", `if m.IsDelta && !present {`, `if false {`},
		}},
}
