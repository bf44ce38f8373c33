package mutation

// batchRules: several keys at once.
var batchRules = []mutation{
	{name: "batch-early", rule: "Batches", effect: "the keys of a batch are written before its record is chosen",
		caught: scenario(register, "TestABatch", `nothing but the record`), edits: []edit{
			{"node/register/batches.go", `return h.recordHeld() && h.applyBatches()`, `return h.applyBatches()`}}},
	{name: "batch-uncertain", rule: "Batches", effect: "a batch is evaluated on heads that are in flight",
		caught: scenario(register, "TestABatchWaitsForWhatIsInFlight", `should not contain`), edits: []edit{
			{"node/register/batchrun.go", `if ks.agreed || inTerm && h.holds(ks, ks.head.Version.Seq) {`, `if ks.agreed || inTerm {`}}},
	{name: "batch-passed", rule: "Batches", effect: "its keys do not wait for the record of a batch",
		caught: scenario(register, "TestABatch", `nothing but the record`), edits: []edit{
			{"node/register/batchrecord.go", `	h.opened(next, g.batches)
	b.remember(g)`, `	h.opened(next, nil)
	b.remember(g)
	for _, one := range g.batches {
		h.dequeue(one)
		h.lift(one)
	}`}}},
	{name: "batch-read-set", rule: "Batches", effect: "the record does not name keys that were only read",
		caught: scenario(register, "TestABatchIsDropped", `get b`), edits: []edit{
			{"node/register/batchgroup.go", `		case k == nil:
`, `		case k == nil && keys[i].seq == 0:
		case k == nil:
`}}},
	{name: "batch-group-stale", rule: "Batches", effect: "batches of one record are all evaluated on the heads",
		caught: scenario(register, "TestBatchesShareARecord", `Not equal`), edits: []edit{
			{"node/register/batchrun.go", `if k := g.find(ks); k != nil && k.seq != 0 {`, `if k := g.find(ks); k != nil && k.seq != 0 && h.phase != leading {`}}},
	{name: "batch-group-read", rule: "Batches", effect: "a read of what others of the record write does not wait for the record",
		caught: scenario(register, "TestAReadBehindABatchWaitsForIt", `answered already`), edits: []edit{
			{"node/register/batchrun.go", `case !t.writes && t.reads:`, `case !t.writes && (t.reads || !t.reads):`}}},
	{name: "batch-absent", rule: "Batches", effect: "a key that came and went is as if it had never been there",
		caught: scenario(register, "TestWhatCameAndWentShows", `its tombstone is there`), edits: []edit{
			{"node/register/batchrun.go", `return h.local.meta.Floor`, `return record.Version{}`}}},
	{name: "batch-group-outcome", rule: "Batches", effect: "a batch that writes is said not to be done though its record may be chosen",
		caught: scenario(register, "TestTheOutcomeOfAReadIsNeverUnknown", `expected`), edits: []edit{
			{"node/register/waiting.go", `	if changes {`, `	if changes && w.start < 0 {`}}},
	{name: "batch-group-order", rule: "Batches", effect: "a batch overtakes a command between it and those of its record",
		caught: scenario(register, "TestBatchesShareARecord", `Not equal`), edits: []edit{
			{"node/register/batches.go", `if r.batch == nil || !r.batch.grouped {`, `if r.batch != nil && !r.batch.grouped {`}}},
	{name: "batch-group-version", rule: "Batches", effect: "a batch that needs the versions of its keys shares the record of one that writes them",
		caught: scenario(register, "TestABatchThatIsAlone", `is not less than`), edits: []edit{
			{"node/register/batchrun.go", ` || one.request.alone && g.writes(ks) {`, ` || one.request.alone && !g.writes(ks) && g.writes(ks) {`}}},
	{name: "batch-away-stale", rule: "Batches", effect: "what came of a batch elsewhere counts though one of its keys was written meanwhile",
		caught: scenario(register, "TestALongBatchIsEvaluatedAgainIfAKeyWasWritten", `answered already`), edits: []edit{
			{"node/register/away.go", `ks.head.Version != e.bases[i]`, `i < 0`},
		}},
	{name: "batch-away-term", rule: "Batches", effect: "what came of a batch elsewhere is taken for what comes of a later one",
		caught: scenario(register, "TestALongBatchOfALostTermIsDropped", `answered already`), edits: []edit{
			{"node/register/away.go", `if one.away == e {`, `if one.away != nil {`},
		}},
	{name: "batch-away-group", rule: "Batches", effect: "a batch is evaluated elsewhere on what others of its record write, which is not there yet, so for nothing",
		caught: scenario(register, "TestALongBatchDoesNotJoinWhatItReads", `batch`), edits: []edit{
			{"node/register/away.go", `			if reads {`, `			if r != nil {`},
		}},
	{name: "batch-away-store", rule: "Batches", effect: "a home ends since what was evaluated elsewhere was written over by a rival",
		caught: scenario(register, "TestALongBatchThatCannotBeRead", `a part is not there`), edits: []edit{
			{"node/register/away.go", `case err != nil && h.lostTerm(): // the own replica may have written over what was being read
		h.stepDown()
	case`, `case`},
		}},
	{name: "batch-quorum-read", rule: "Batches", effect: "a replica answers quorum reads of the keys of an open batch",
		caught: scenario(register, "TestAnOpenBatchIsNoAnswer", `Not equal`), edits: []edit{
			{"node/register/batch.go", `return err == nil && b != nil && b.names(key), err`, `return err == nil && b == nil && key == nil, err`}}},
	{name: "batch-vote", rule: "Batches", effect: "a node votes in quorum reads of the keys of an open batch",
		caught: scenario(node, "TestAnOpenBatchIsNoVote", `never satisfied`), edits: []edit{
			{"node/exec/read.go", `return rec, !batched && (`, `return rec, (batched || !batched) && (`}}},
	{name: "batch-silent", rule: "Batches", effect: "a promise does not say that a batch is open",
		caught: scenario(register, "TestABatchIsCompleted", `get b`), edits: []edit{
			{"node/register/acceptor.go", `reply.Present = open != nil`, `reply.Present = open != nil && m.IsDelta`}}},
	{name: "batch-not-awaited", rule: "Batches", effect: "keys are changed before it is known whether they are of an open batch",
		caught: scenario(register, "TestKeysWaitForAnOpenBatch", `Not equal`), edits: []edit{
			{"node/register/batchterm.go", `		return !own
`, `		return false
`}}},
	{name: "batch-kept", rule: "Batches", effect: "a batch is completed though a later term has written one of its keys",
		caught: scenario(register, "TestABatchIsDropped", `get b`), edits: []edit{
			{"node/register/batchterm.go", `return b.found.version.Ballot.Less(ks.head.Version.Ballot) })`, `return b.found.version.Ballot.Less(ks.head.Version.Ballot) && ks.pinned && !ks.pinned })`}}},
	{name: "batch-floor", rule: "Batches", effect: "a batch is completed though a later term has purged a key",
		caught: scenario(register, "TestABatchIsDropped", `get b`), edits: []edit{
			{"node/register/batchterm.go", `if b.found.version.Ballot.Less(b.floor.Ballot) ||`, `if b.found.version.Ballot.Less(b.floor.Ballot) && b.found == nil ||`}}},
	{name: "batch-overwrites", rule: "Batches", effect: "a batch that is completed overwrites what was written after it",
		caught: scenario(register, "TestABatchIsNotDoneTwice", `get a`), edits: []edit{
			{"node/register/batchterm.go", `v.Seq >= k.seq; has {`, `v.Seq >= k.seq && ks.barred; has {`}}},
	{name: "batch-record-repaired", rule: "Batches", effect: "the record of a former term is written again as it is, under another ballot",
		caught: scenario(register, "TestARecordIsNotWrittenAgainAsItIs", `Not equal`), edits: []edit{
			{"node/register/batchterm.go", `		return own
`, `		return false
`}}},
	{name: "batch-closed-early", rule: "Batches", effect: "the record is closed before its keys have been written",
		caught: scenario(register, "TestARecordStaysOpen", `closed too early`), edits: []edit{
			{"node/register/batches.go", `k.seq != 0 && !h.holds(h.keyNamed(k.name), k.seq) {`, `k.seq != 0 && !h.holds(h.keyNamed(k.name), k.seq) && len(b.record.keys) == 0 {`}}},
	{name: "batch-purge", rule: "Batches", effect: "keys are purged while a batch is open",
		caught: scenario(register, "TestNothingIsPurgedWhileABatchIsOpen", `should not contain`), edits: []edit{
			{"node/register/purge.go", `h.config.all(ks.exact) && !h.batching() {`, `h.config.all(ks.exact) {`},
			{"node/register/purge.go", `|| h.in.Full || h.batching() {`, `|| h.in.Full {`}}},
	{name: "batch-below-floor", rule: "Batches", effect: "a key that waits for its batch is written again",
		caught: scenario(register, "TestAKeyIsNotWrittenAgainBeforeItsBatch", `Not equal`), edits: []edit{
			{"node/register/replies.go", `ks.present && !ks.barred &&`, `ks.present &&`}}},
	{name: "batch-doubt", rule: "Batches", effect: "a request in doubt is decided on before the batch that its key is of",
		caught: scenario(register, "TestDoubtsWaitForABatch", `Not equal`), edits: []edit{
			{"node/register/replies.go", `if !h.undecided(ks) {`, `if !h.undecided(ks) || true {`}}},
	{name: "batch-base", rule: "Batches", effect: "a request is taken for included that the batch knows nothing of",
		caught: scenario(register, "TestWhatABatchDoesNotKnowOfHasNoEffect", `append a 0`), edits: []edit{
			{"node/register/batchrecord.go", `h.decide(ks, k.seq, false, b.floor, k.base)`, `h.decide(ks, k.seq, false, b.floor, ks.head.Version)`}}},
	{name: "batch-dropped-included", rule: "Batches", effect: "a batch that was dropped is taken for done",
		caught: scenario(register, "TestABatchThatWasDroppedIsDoneAgain", `batch`), edits: []edit{
			{"node/register/batchterm.go", `	before.Seq--
`, ``}}},
	{name: "batch-dropped-repaired", rule: "Batches", effect: "a batch that was dropped is taken for done, if its record was repaired",
		caught: scenario(register, "TestABatchThatWasDroppedIsDoneAgainThoughItsRecordWasRepaired", `Not equal`), edits: []edit{
			{"node/register/batchterm.go", `before := b.found.written()`, `before := b.found.version`}}},
	{name: "batch-expired", rule: "Batches", effect: "a batch takes an expired key for absent without a write",
		caught: scenario(register, "TestABatchDeletesWhatHasExpired", `answered already|Should be false`), edits: []edit{
			{"node/register/batchrun.go", `			keys[i].seq, t.writes = unnumbered, true
			held[i]`, `			held[i]`}}},
	{name: "batch-promise-wire", rule: "Batches", effect: "the wire does not carry that a batch is open",
		caught: scenario("internal/protocol", "TestRepliesComeBack", `Not equal`), edits: []edit{
			{"internal/protocol/replicate.go", `		m.Present = d.Bool()
`, `		d.Bool()
`}}},
}
