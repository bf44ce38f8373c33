package mutation

// oneRules: batches of one key.
var oneRules = []mutation{
	{name: "one-passes", rule: "Batches of one key", effect: "a batch of one key is evaluated on what one of a record that is being put together was evaluated on",
		caught: scenario(register, "TestABatchOfALargeKeyWaitsForOneOfSeveralKeys", `Not equal`), edits: []edit{
			{"node/register/batchone.go", `case ks.queue[0] != &one.marker:`, `case ks.queue[0] == nil:`}}},
	{name: "one-uncertain", rule: "Batches of one key", effect: "a batch of one key is evaluated on a head that is in flight",
		caught: scenario(register, "TestABatchOfOneKeyWaits", `not chosen yet`), edits: []edit{
			{"node/register/batchone.go", `if !h.certain(one, g) ||`, `if !h.certain(one, g) && ks.head.Version.Ballot != h.ballot ||`}}},
	{name: "one-doubt", rule: "Batches of one key", effect: "a batch of one key is looked for at the record",
		caught: scenario(register, "TestABatchOfOneKeyInDoubt", `batch|Not equal`), edits: []edit{
			{"node/register/batchone.go", `r.key, t.needSeq = r.keys[0], h.seq+1`, `t.needSeq = h.seq + 1`}}},
	{name: "one-recorded", rule: "Batches of one key", effect: "a batch that was tried at its key goes through the record",
		caught: scenario(register, "TestABatchOfOneKeyThatWasTriedStaysWhereItWas", `Not equal`), edits: []edit{
			{"node/register/batchone.go", `		return r.ofOneKey()
`, `		return len(r.key) == 0 && r.ofOneKey()
`}}},
	{name: "one-unrecorded", rule: "Batches of one key", effect: "a batch that was tried at the record is written to its key",
		caught: scenario(register, "TestARecordedBatchOfOneKeyStaysWhereItWas", `Not equal`), edits: []edit{
			{"node/register/batchone.go", `		return r.ofOneKey()
`, `		return r.ofOneKey() || len(r.key) > 0
`}}},
	{name: "one-delta", rule: "Batches of one key", effect: "what replaces an expired value is sent as a delta of that",
		caught: scenario(register, "TestABatchOfOneKeyIsADelta", `should have 1 item`), edits: []edit{
			{"node/register/batchrun.go", `effects[0].Kind == record.Changed && held[0].State.Live() {`, `effects[0].Kind == record.Changed {`}}},
	{name: "one-large", rule: "Batches of one key", effect: "a large object is sent whole when several batches wait for it",
		caught: scenario(register, "TestBatchesOfALargeKeyAreDeltas", `Not equal`), edits: []edit{
			{"node/register/batchone.go", ` || ks.head.State.Object != nil) &&`, `) &&`}}},
	{name: "one-census", rule: "Batches of one key", effect: "a key appears between the evaluation of a batch that has read all keys and its record",
		caught: scenario(register, "TestNoBatchOfOneKeyComesBetweenACensusAndItsRecord", `is not less than`), edits: []edit{
			{"node/register/batchrecord.go", `if len(g.batches) > 0 && g.batches[0].request.whole != nil {`, `if len(g.batches) > groupKeys {`}}},
	{name: "one-fate", rule: "Batches of one key", effect: "a batch of one key that only reads does not share the fate of the write behind it",
		caught: scenario(register, "TestABatchOfOneKeyThatReadsSharesTheFateOfTheWriteBehindIt", `batch`), edits: []edit{
			{"node/register/resolve.go", ` && (r.run == nil || r.ofOneKey()) {`, ` && r.run == nil {`}}},
	{name: "one-not-begun", rule: "Batches of one key", effect: "a batch of one key is written to it before the term has begun its record",
		caught: scenario(register, "TestARecordedBatchOfOneKeyStaysWhereItWas", `Not equal`), edits: []edit{
			{"node/register/batchone.go", ` && !h.excluded(ks)
}`, `
}`},
			{"node/register/batchone.go", `case h.excluded(ks):`, `case r == nil:`}}},
}
