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
			{"proxy/session/local_wait.go", `held == all {
			s.unheld = unheld{}`, `held <= all {
			s.unheld = unheld{}`}}},
	{name: "wait-transaction", rule: "What WAIT says", effect: "what a transaction has written is not waited for",
		caught: scenario(sessions, "TestWaitAwaitsAllReplicas", `a transaction writes`), edits: []edit{
			{"proxy/session/exec.go", `s.executeBatch(&batch)`, `s.conn.Execute(&batch)`}}},
}
