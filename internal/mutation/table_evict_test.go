package mutation

// evictionRules: what is evicted was chosen, as it is, and may go.
var evictionRules = []mutation{
	{name: "evict-any", rule: "Eviction", effect: "a key is evicted though it was written since it was chosen",
		caught: search("evict", 300), edits: []edit{
			{"node/register/key.go", `expired, !r.cmd.Of.IsZero() && r.cmd.Of != ks.head.Version`, `expired, false`},
		}},
	{name: "evict-written", rule: "Eviction", effect: "the node's home evicts a key though it was written since it was chosen",
		caught: scenario(node, "TestWhatWasWrittenSinceStays", `written since`), edits: []edit{
			{"node/replica/background.go", `case req.Stale || !st.Live():`, `case !st.Live():`},
		}},
	{name: "evict-lasting", rule: "Eviction", effect: "a volatile policy evicts a key that does not expire",
		caught: scenario("internal/eviction", "TestWhatMayGo", `(?s)expected: false.*actual  : true`), edits: []edit{
			{"internal/eviction/usage.go", `(expireAt != 0 || !p.Volatile())`, `(expireAt != 0 || p.Volatile() || !p.Volatile())`},
		}},
	{name: "evict-never", rule: "Eviction", effect: "noeviction evicts what expires",
		caught: scenario("internal/eviction", "TestWhatMayGo", `(?s)expected: false.*actual  : true`), edits: []edit{
			{"internal/eviction/usage.go", `return p != NoEviction && (`, `return (`},
		}},
	{name: "evict-own", rule: "Eviction", effect: "Quoll's own keys are evicted",
		caught: scenario("node/engine/memory", "TestSample", `own`), edits: []edit{
			{"node/engine/memory/evict.go", `key = ref.AppendKey(key[:0]); database.Own(key) {`, `key = ref.AppendKey(key[:0]); false && database.Own(key) {`},
		}},
}
