package mutation

// placementRules: the keys of a database have one place at a time.
var placementRules = []mutation{
	{name: "placement-write", rule: "Placement of databases", effect: "a home evaluates a command on a key whose database is closed, or placed in another way",
		caught: scenario(node, "TestOnlyKeysThatArePlacedAreUsed", `Not equal`), edits: []edit{
			{"node/replica/env.go", `if len(req.Args) > 1 && !s.host.view.Load()`, `if false && !s.host.view.Load()`}}},
	{name: "placement-read", rule: "Placement of databases", effect: "a quorum read counts what a replica has of such a key",
		caught: scenario(node, "TestOnlyKeysThatArePlacedAreUsed", `Not equal`), edits: []edit{
			{"node/exec/read.go", `if !sure || !v.Placements.Admits(op.Key()) {`, `if !sure {`}}},
	{name: "placement-batch", rule: "Placement of databases", effect: "a batch has effects on such keys",
		caught: scenario(node, "TestOnlyKeysThatArePlacedAreUsed", `Not equal`), edits: []edit{
			{"node/exec/together.go", `return !placed.Admits(key)`, `return placed.Admits(key) && false`}}},
	{name: "placement-unheard", rule: "Placement of databases", effect: "a member says that it has no key before it knows that the database is closed",
		caught: scenario(node, "TestEveryMemberIsAskedForKeys", `in chain`), edits: []edit{
			{"node/keyspace.go", `v.Table.Version() < request.Version`, `v.Table.Version() == 0`}}},
	{name: "placement-some", rule: "Placement of databases", effect: "members that do not answer are taken for empty",
		caught: scenario(node, "TestEveryMemberIsAskedForKeys", `in chain`), edits: []edit{
			{"node/keyspace.go", `			return nil, false, fmt.Errorf("node %s: %w", l.Name, err)`, `			continue`}}},
	{name: "placement-unasked", rule: "Placement of databases", effect: "keys that came before the database was closed are left behind",
		caught: scenario("internal/admin", "TestADatabaseIsPlacedWhileItHasNoKeys", `Not equal|error is expected`), edits: []edit{
			{"internal/admin/keyspace.go", `case failed == nil && found:`, `case failed == nil && found && false:`}}},
}
