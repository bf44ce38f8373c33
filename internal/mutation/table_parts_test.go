package mutation

// partsRules: how the store of a durable replica keeps large objects.
var partsRules = []mutation{
	{name: "parts-after-head", rule: "Parts on disk", effect: "the head is written before the parts that it names",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a crash leaves`), edits: []edit{
			{"node/engine/disk/revise.go", `	v.head.deep = root.Parts() > 0
	return w.flush()
`, `	v.head.deep = root.Parts() > 0
	return nil
`},
		}},
	{name: "parts-removed-first", rule: "Parts on disk", effect: "what the new head does not name is removed before it is written",
		caught: scenario(disk, "TestEveryCrashLeavesOneVersion", `a crash leaves`), edits: []edit{
			{"node/engine/disk/revise.go", `	v.head.deep = root.Parts() > 0
	return w.flush()
`, `	v.head.deep = root.Parts() > 0
	return v.end(w)
`},
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
}
