package mutation

// deletionRules: expiry (R12) and the purge of what was deleted (R13 and R14).
var deletionRules = []mutation{
	{name: "ttl-read", rule: "R12", effect: "an expired key is answered as absent without a write",
		caught: scenario(register, "TestR12ExpiryIsAWrite", `prepare sync-read accept`), edits: []edit{
			{"node/register/key.go", `case expired: // (R12) the deletion is written before nil is answered
		effect`, `case false:
		effect`},
		}},
	{name: "ttl-early", rule: "R12", effect: "the answer does not wait for the tombstone",
		caught: scenario(register, "TestR12ExpiryIsAWrite", `answered already: get k`), edits: []edit{
			{"node/register/key.go", `case expired: // (R12) the deletion is written before nil is answered`, `case expired:
		defer func(n int) { ks.waiting[n].needSeq = 0 }(len(ks.waiting))`},
		}},
	{name: "expired-delta", rule: "R12", effect: "a change of an expired key, which the home sees as absent, travels as a delta on what it was",
		caught: search("chaos", 300), edits: []edit{
			{"node/register/key.go", `		if expired {
			effect.Kind`, `		if false {
			effect.Kind`},
		}},
	{name: "node-expired", rule: "R12", effect: "a replica answers nil for what has expired",
		caught: scenario(node, "TestExpiredStatesGoToTheHome", `(?s)expected: 0x5.*actual  : 0x4`), edits: []edit{
			{"node/exec/read.go", `if rec.State.Live() && rec.State.Expired(now) {`, `if false {`},
		}},
	{name: "proxy-expired", rule: "R12", effect: "a proxy does not ask the home for what a replica found expired",
		caught: scenario(proxyQuorum, "TestExpiredStateGoesToTheHome", `(?s)expected: 0x2.*actual  : 0x0`), edits: []edit{
			{"proxy/quorum/quorum.go", `	v.expired = true
`, ""},
		}},
	{name: "nofloor", rule: "R13", effect: "an accept below the floor is taken",
		caught: scenario(register, "TestR13APurgedKeyStaysAway/at_once", `get k`), edits: []edit{
			{"node/register/acceptor.go", `case !present && !a.meta.Floor.Less(m.Version):`, `case !present && false:`},
		}},
	{name: "floor-unraised", rule: "R13", effect: "a purge does not raise the floor",
		caught: scenario(register, "TestR13APurgedKeyStaysAway/at_once", `get k`), edits: []edit{
			{"node/register/purge.go", `	meta.Floor = record.Max(meta.Floor, m.Version)
`, `	_ = record.Max(meta.Floor, m.Version)
`},
		}},
	{name: "floor-volatile", rule: "R13", effect: "the floor is not written",
		caught: scenario(register, "TestR13APurgedKeyStaysAway/after_a_restart", `get k`), edits: []edit{
			{"node/register/purge.go", `	meta := a.change(w)
	meta.Floor`, `	meta := &a.meta
	meta.Floor`},
		}},
	{name: "floor-sinks", rule: "R13", effect: "the floor is that of the last purge, not the highest",
		caught: scenario(register, "TestR13APurgedKeyStaysAway/after_the_purge_of_an_older_tombstone", `get k`), edits: []edit{
			{"node/register/purge.go", `meta.Floor = record.Max(meta.Floor, m.Version)`, `meta.Floor = record.Max(record.Version{}, m.Version)`},
		}},
	{name: "purge-any", rule: "R13", effect: "a purge drops whatever record there is",
		caught: scenario(register, "TestR13PurgeDropsExactlyTheTombstone/a_newer_tombstone", `(?s)expected: true.*actual  : false`), edits: []edit{
			{"node/register/purge.go", ` || !present || rec.Version != m.Version || rec.State.Live() {`, ` || !present || rec.State.Live() {`},
		}},
	{name: "purge-majority", rule: "R13", effect: "a majority holds the tombstone",
		caught: search("purge", 300), edits: []edit{
			{"node/register/purge.go", `!h.config.all(ks.exact)`, `!h.config.quorum(ks.exact)`},
		}},
	{name: "purge-before", rule: "R13", effect: "acknowledgements of the version before count",
		caught: scenario(register, "TestR13AnAcknowledgementBeforeTheDeletionDoesNotPurge", `get k`), edits: []edit{
			{"node/register/key.go", `ks.known, ks.agreed, ks.present, ks.exact, ks.settled = true, false, true, 0, 0`, `ks.known, ks.agreed, ks.present, ks.settled = true, false, true, 0`},
		}},
	{name: "purge-joint", rule: "R13", effect: "tombstones are purged in a joint epoch",
		caught: scenario(register, "TestR13PurgeNeedsAllMembers/not_in_a_joint_epoch", `Should be zero`), edits: []edit{
			{"node/register/purge.go", `ks.head.State.Live() || h.config.Joint() || !h.config.all`, `ks.head.State.Live() || !h.config.all`},
		}},
	{name: "floor-ack", rule: "R14", effect: "below the floor counts as acknowledged",
		caught: scenario(register, "TestR14BelowFloorIsNoAcknowledgement", `answered already: set k v`), edits: []edit{
			{"node/register/replies.go", `case BelowFloor: // (R14) same state, new version`, `case BelowFloor: // (R14) same state, new version
		if ks != nil {
			ks.held[i] = ks.head.Version.Seq
			return
		}`},
		}},
	{name: "floor-ignored", rule: "R14", effect: "below the floor is not answered with a new version",
		caught: scenario(register, "TestR14BelowFloorIsNoAcknowledgement", `(?s)expected: 1.*actual  : 0`), edits: []edit{
			{"node/register/replies.go", `!m.Floor.Less(ks.head.Version) {`, `false {`},
		}},
}
