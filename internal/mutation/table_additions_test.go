package mutation

// additions: what the product adds.
var additions = []mutation{
	{name: "clear-unpromised", rule: "Slot-wide clear", effect: "a clear does not promise",
		caught: scenario(register, "TestClear", `an acceptance is a promise`), edits: []edit{
			{"node/register/acceptor.go", `		if a.meta.Promised.Less(m.Ballot) {
			a.meta.Promised = m.Ballot
		}
`, ""},
		}},
	{name: "clear-stale", rule: "Slot-wide clear", effect: "a clear below the promise is taken",
		caught: search("flush", 300), edits: []edit{
			{"node/register/acceptor.go", `if m.Ballot.Less(a.meta.Promised) || m.Ballot.Less(a.meta.Cleared.Ballot) {`, `if false {`},
		}},
	{name: "clear-record-check", rule: "Slot-wide clear", effect: "a clear of a higher ballot does not refuse an older one; the promise that came with it refuses before",
		caught: scenario(register, "TestClear/below_a_clear_of_a_higher_ballot", `(?s)expected: 0x2.*actual  : 0x0`), edits: []edit{
			{"node/register/acceptor.go", `if m.Ballot.Less(a.meta.Promised) || m.Ballot.Less(a.meta.Cleared.Ballot) {`, `if m.Ballot.Less(a.meta.Promised) {`},
		}},
	{name: "clear-back", rule: "Slot-wide clear", effect: "an older clear replaces a newer one",
		caught: scenario(register, "TestClear", `a later clear contains an earlier one`), edits: []edit{
			{"node/register/acceptor.go", `if a.meta.Cleared.Less(m.Version) {`, `if true {`},
		}},
	{name: "clear-invisible", rule: "Slot-wide clear", effect: "what a clear left is not seen: a missing key is absent",
		caught: search("flush", 300), edits: []edit{
			{"node/register/acceptor.go", `return record.Record{Version: a.meta.Cleared}, false, nil`, `return record.Record{}, false, nil`},
		}},
	{name: "clear-early", rule: "Slot-wide clear", effect: "a clear is answered before a quorum holds it",
		caught: search("flush", 300), edits: []edit{
			{"node/register/clear.go", `if c.held(h.config, w.needSeq) {`, `if true {`},
		}},
	{name: "clear-heads", rule: "Slot-wide clear", effect: "a clear is not the newest write of the keys that the home knows",
		caught: search("flush", 300), edits: []edit{
			{"node/register/clear.go", `ks.known, ks.agreed, ks.present, ks.reading, ks.exact = true, false, false, nil, 0
		ks.head = record.Record{Version: c.version}`, `_ = ks`},
		}},
	{name: "clear-doubt", rule: "Slot-wide clear", effect: "a clear does not wait for requests in doubt, whose fate nobody can tell after it",
		caught: scenario(register, "TestAClearWaitsForRequestsInDoubt", `(?s)expected: 1.*actual  : 0`), edits: []edit{
			{"node/register/clear.go", `len(h.clear.queue) > 0 && h.doubt == 0 {`, `len(h.clear.queue) > 0 {`},
			{"node/register/key.go", `if !ks.known && (len(ks.doubt) > 0 || !ks.queue[0].blind) {`, `if len(ks.doubt) > 0 || !ks.known && !ks.queue[0].blind {`},
		}},
	{name: "clear-retry", rule: "Slot-wide clear", effect: "a clear that was sent is NotDone when the term is lost",
		caught: search("flush", 300), edits: []edit{
			{"node/register/resolve.go", `h.answer(w.request, Answer{Outcome: Unknown, Reason: LostTerm})
	}
	parked`, `h.answer(w.request, Answer{Outcome: NotDone, Reason: LostTerm})
	}
	parked`},
		}},
	{name: "resolve-clear-floor", rule: "Slot-wide clear", effect: "R11, case 3, does not take for absent what a clear left",
		caught: scenario(register, "TestR11PurgedAfterAClear", `applied again after it was deleted and purged`), edits: []edit{
			{"node/register/resolve.go", `purged := !ks.present && found`, `purged := found.IsZero() && found`},
		}},
	{name: "clear-newer", rule: "Slot-wide clear", effect: "a clear deletes records that are newer",
		caught: scenario(memory, "TestConformance/Clear", `no record`), edits: []edit{
			{"node/engine/memory/slot.go", `if meta.Cleared.Less(s.newest) {`, `if false {`},
		}},
	{name: "purge-inexact", rule: "Purge is driven by the home", effect: "acknowledgements of other versions count",
		caught: scenario(register, "TestR13PurgeNeedsAllMembers/not_what_was_before_it", `Should be zero`), edits: []edit{
			{"node/register/replies.go", `if m.Held == ks.head.Version && ks.present {`, `if ks.present {`},
		}},
	{name: "stale-sync-read", rule: "Sync-reads of one attempt", effect: "replies to an earlier sync-read count",
		caught: scenario(register, "TestStaleSyncReadRepliesDoNotCount", `one fresh reply and a stale one are no quorum`), edits: []edit{
			{"node/register/replies.go", `ks.reading == nil || m.Round < ks.reading.round {`, `ks.reading == nil {`},
		}},
	{name: "drop-unheld", rule: "Forgetting keys", effect: "a key is forgotten though no quorum holds its head",
		caught: scenario(register, "TestAKeyIsNotForgottenBeforeAQuorumHoldsIt", `read a value that only one member holds`), edits: []edit{
			{"node/register/key.go", `return !ks.known || ks.agreed || ks.head.Version.Ballot != h.ballot || h.holds(ks, ks.head.Version.Seq)`, `return true`},
		}},
	{name: "recall-foreign", rule: "Forgetting keys", effect: "recall takes a record of another ballot",
		caught: search("purge", 300), edits: []edit{
			{"node/register/key.go", `	if rec.Version.Ballot != h.ballot {
		return
	}
`, ""},
		}},
	{name: "clear-agreed", rule: "Forgetting keys", effect: "recall takes a clear that no quorum holds for agreed",
		caught: scenario(register, "TestAReadWaitsForTheClear", `answered already: get cold`), edits: []edit{
			{"node/register/key.go", `ks.agreed = present || h.clear.held(h.config, rec.Version.Seq)`, `ks.agreed = true`},
		}},
	{name: "own-refusal", rule: "Forgetting keys", effect: "the own replica's refusal does not end the term; that it has promised a rival is noticed before",
		caught: scenario(register, "TestTheOwnReplicasRefusalEndsTheTerm/a_message_that_was_underway", `Should be false`), edits: []edit{
			{"node/register/home.go", `case reply.Result != OK && h.phase != idle:`, `case false:`},
		}},
	{name: "lost-term", rule: "Forgetting keys", effect: "the own replica's promise to a rival does not end the term; its refusal does, a moment later",
		caught: scenario(register, "TestTheOwnReplicasRefusalEndsTheTerm", `set k v`), edits: []edit{
			{"node/register/key.go", `if h.lostTerm() {`, `if false {`},
		}},
	{name: "own-refusal+lost-term", rule: "Forgetting keys", effect: "both: a home goes on though its own replica does not follow",
		caught: scenario(register, "TestAHomeIsNotMisledByItsOwnReplica", `a stale read`), edits: []edit{
			{"node/register/home.go", `case reply.Result != OK && h.phase != idle:`, `case false:`},
			{"node/register/key.go", `if h.lostTerm() {`, `if false {`},
		}},
	{name: "overtake", rule: "Hints and hand-back", effect: "a request is taken right after others were turned away",
		caught: scenario(register, "TestR11ReadsAndBlindWritesBehindADoubt", `set k later`), edits: []edit{
			{"node/register/home.go", `case h.phase == idle && h.env.Mono() < h.notBefore:`, `case false:`},
		}},
	{name: "handback-busy", rule: "Hints and hand-back", effect: "the slot is handed back with something in flight",
		caught: scenario(register, "TestHandBack/when_nothing_is_in_flight", `answered already: append k w`), edits: []edit{
			{"node/register/home.go", `func (h *Home) drained() bool {`, `func (h *Home) drained() bool {
	if h.phase == leading {
		return true
	}`},
		}},
	{name: "handback-never", rule: "Hints and hand-back", effect: "a slot is handed back without waiting for Stable",
		caught: scenario(register, "TestHandBack/not_to_one_that_has_just_come_back", `get warm`), edits: []edit{
			{"node/register/home.go", ` || !h.env.Stable(preferred) {`, ` {`},
		}},
	{name: "nohint", rule: "Hints and hand-back", effect: "nobody is turned away",
		caught: scenario(register, "TestTurnedAwayWhileAnotherLeads", `get warm`), edits: []edit{
			{"node/register/home.go", `if force {
		return 0`, `if true {
		return 0`},
		}},
	{name: "noresend", rule: "Time limits", effect: "nothing is sent again",
		caught: scenario(register, "TestWhatIsLostIsSentAgain", `set k v`), edits: []edit{
			{"node/register/tick.go", `case h.phase == leading:
		h.resend(now)`, `case h.phase == leading:`},
		}},
	{name: "noexpire", rule: "Time limits", effect: "requests are kept for ever",
		caught: scenario(register, "TestRequestsExpire", `append k v`), edits: []edit{
			{"node/register/resolve.go", `return h.env.Mono()-r.Born > h.timing.Request`, `return false`},
		}},
	{name: "frame-age", rule: "Time limits", effect: "a node executes what has waited beyond the time-out",
		caught: scenario(node, "TestTooOldFramesAreNotExecuted", `(?s)expected: 0x3.*actual  : 0x0`), edits: []edit{
			{"node/serve.go", `case age > n.opt.OperationTimeout:`, `case false:`},
		}},
	{name: "maybe-over", rule: "A term that may be over", effect: "a home whose term was refused by a minority stays in it, though no quorum answers",
		caught: scenario(register, "TestATermThatCannotBeConfirmedIsGivenUp", `Should be false`), edits: []edit{
			{"node/register/tick.go", `if h.refused != 0 {
			h.stepDown()
			return
		}
		ks.sent = now`, `ks.sent = now`},
		}},
	{name: "nofail", rule: "A store that fails", effect: "a home goes on when its store has failed",
		caught: scenario(register, "TestAFailedStoreEndsTheHome", `Expected error with "broken"`), edits: []edit{
			{"node/register/home.go", `h.failed = err
	h.abandon(StorageFailed)`, `_ = err`},
		}},
	{name: "store-votes", rule: "A store that fails", effect: "a node whose store failed goes on voting",
		caught: scenario(node, "TestAFailedStoreStopsTheVoting", `no result`), edits: []edit{
			{"node/node.go", `if n.failed.CompareAndSwap(false, true) {`, `if err != nil {`},
		}},
}
