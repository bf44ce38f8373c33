package mutation

// waitRules: what WAIT says that replicas hold they do.
var waitRules = []mutation{
	{name: "wait-differing", rule: "What WAIT says", effect: "replicas count that hold something else",
		caught: scenario(proxyRoute, "TestEqualDigestsProve", `replicas are said to hold it`), edits: []edit{
			{"proxy/route/held.go", `			if a == b {
				n++
			}`, `			if a == b || a != b {
				n++
			}`}}},
	{name: "wait-joint", rule: "What WAIT says", effect: "replicas of a slot that moves count before they have collected it",
		caught: scenario(proxyRoute, "TestHolding", `it moves`), edits: []edit{
			{"proxy/route/held.go", `	if moves {`, `	if moves && false {`}}},
	{name: "wait-unreadable", rule: "What WAIT says", effect: "a replica counts that cannot read its records",
		caught: scenario(proxyRoute, "TestHeldAsksAllReplicas", `Not equal`), edits: []edit{
			{"proxy/route/held.go", `!digest.Unreadable && !digest.Changed`, `!digest.Changed`}}},
	{name: "wait-changed", rule: "What WAIT says", effect: "a replica counts that says nothing, as the slot has changed",
		caught: scenario(proxyRoute, "TestHeldAsksAllReplicas", `Not equal`), edits: []edit{
			{"proxy/route/held.go", `!digest.Unreadable && !digest.Changed`, `!digest.Unreadable`}}},
	{name: "wait-forgets", rule: "What WAIT says", effect: "what one replica misses is forgotten once somebody has waited for it in vain",
		caught: scenario(sessions, "TestWaitAwaitsAllReplicas", `it is still missed`), edits: []edit{
			{"proxy/session/local_wait.go", `copies == all {`, `copies <= all {`}}},
	{name: "wait-transaction", rule: "What WAIT says", effect: "what a transaction has written is not waited for",
		caught: scenario(sessions, "TestWaitAwaitsAllReplicas", `a transaction writes`), edits: []edit{
			{"proxy/session/exec.go", `s.executeBatch(&batch)`, `s.conn.Execute(&batch)`}}},
	{name: "waitaof-unsynced", rule: "What WAITAOF says", effect: "a node says what is durable before it is",
		caught: scenario(node, "TestWhatIsSaidToBeDurableIs", `it says what is not durable`), edits: []edit{
			{"node/durable.go", `keeps == protocol.OnDiskSoon {`, `keeps == protocol.InMemory {`}}},
	{name: "waitaof-silent", rule: "What WAITAOF says", effect: "replicas that do not answer are taken for ones that have no part in the majority",
		caught: scenario(proxyRoute, "TestEqualDigestsOfWhatIsDurableProve", `replicas are said to have it on their disks`), edits: []edit{
			{"proxy/route/durable.go", `max(0, majority-(replicas-len(digests)))`, `min(majority, len(digests))`}}},
	{name: "waitaof-memory", rule: "What WAITAOF says", effect: "nodes without disks count",
		caught: scenario(proxyRoute, "TestDurableAsksNodesWithDisks", `Not equal`), edits: []edit{
			{"proxy/route/held.go", ` && !said.answers[node].lost {`, ` {`}}},
	{name: "waitaof-held", rule: "What WAITAOF says", effect: "what all replicas hold is taken for being on their disks",
		caught: scenario(sessions, "TestWaitAOF", `one of them not on its disk`), edits: []edit{
			{"proxy/session/local_wait.go", `s.undurable.join(&s.unheld)`, `s.undurable.join(new(unheld))`}}},
}
