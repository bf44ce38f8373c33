package mutation

// additions: what the product adds.
var additions = []mutation{
	{name: "slot-epoch-unchecked", rule: "Epochs of slots", effect: "a node executes what a proxy asks that does not know who holds the slot now",
		caught: scenario(node, "TestASlotChangesItsHomeAlone", `the proxy does not know who holds the slot`), edits: []edit{
			{"node/exec/batch.go", `!v.Knows(version, op.Slot)`, `version > v.Table.Version()`},
		}},
	{name: "slot-version-unchecked", rule: "Epochs of slots", effect: "a node executes what a proxy asks that knows a later version of the ring",
		caught: scenario(node, "TestASlotChangesItsHomeAlone", `the node does not know that version`), edits: []edit{
			{"node/exec/refuse.go", `case version > v.Table.Version():`, `case version == 0:`},
		}},
	{name: "slot-unlearned", rule: "Epochs of slots", effect: "a home does not hear that its slot has another epoch",
		caught: scenario(node, "TestAStaleHomeIsRefused", `Condition never satisfied|Not equal`), edits: []edit{
			{"node/replica/learn.go", `	s.step(number, sl, register.Learned)`, `	_ = register.Learned`},
		}},
	{name: "proxy-asks-behind", rule: "Epochs of slots", effect: "a proxy asks a node that has not heard who holds the slot now",
		caught: scenario(proxyRoute, "TestWhoIsBehindIsNotAskedOfWhatHasChanged", `should not contain`), edits: []edit{
			{"proxy/route/link.go", `return version >= view.table.Version() || view.table.Epoch(slot) <= version`, `return version > 0`},
		}},
	{name: "proxy-joint-majority", rule: "Epochs of slots", effect: "a joint slot is read from a majority of its old members",
		caught: scenario(proxyRoute, "TestAJointSlotIsReadAtItsHome", `1:execute`), edits: []edit{
			{"proxy/route/read.go", `if view.table.Next(st.slot) != nil {`, `if false {`},
		}},
	{name: "proxy-two-epochs", rule: "Epochs of slots", effect: "a late vote of one epoch of a slot is counted with those of another",
		caught: scenario(proxyRoute, "TestVotesOfTwoEpochsAreNotCountedTogether", `Not equal`), edits: []edit{
			{"proxy/route/op.go", `			st.viaHome = true`, `			st.viaHome = st.viaHome || false`},
		}},
	{name: "epoch-unknown", rule: "Epochs of slots", effect: "a replica takes part in an epoch whose members it does not know",
		caught: scenario(node, "TestAStaleHomeIsRefused", `it does not know who the members are|Condition never satisfied`), edits: []edit{
			{"node/replica/learn.go", `return epoch > sl.acceptor.Epoch() && epoch > h.view.Load().Table.Epoch(number)`, `return false`},
		}},
	{name: "slot-kept-open", rule: "Epochs of slots", effect: "who does not hold a slot any more answers for it",
		caught: scenario(node, "TestASlotThatIsNotHeldAnyMore", `Not equal`), edits: []edit{
			{"node/replica/learn.go", `if again || !v.Table.Contains(number, v.Self) {`, `if again {`},
		}},
	{name: "slot-ballot-again", rule: "Epochs of slots", effect: "a home that is opened again uses the incarnation of the one that was closed",
		caught: scenario(replicas, "TestWhatIsOpenedAgainUsesOtherBallots", `Should not be`), edits: []edit{
			{"node/replica/learn.go", `s.host.closed.Add(1)`, `_ = s.host`},
		}},
	{name: "slot-half-a-quorum", rule: "Epochs of slots", effect: "a home proposes though a joint slot has no majority of those that it moves to",
		caught: scenario(node, "TestAJointSlotNeedsTwoMajorities", `Condition never satisfied`), edits: []edit{
			{"node/replica/quorum.go", `if !config.Quorum(func(id uint16) bool { return h.alive(id, self) }) {`, `if false {`},
		}},
	{name: "scan-epoch-unchecked", rule: "Epochs of slots", effect: "a node lists what it holds to a proxy that does not know who holds the slots now",
		caught: scenario(node, "TestNothingIsToldOfASlotThatHasChanged", `Not equal|should have`), edits: []edit{
			{"node/scan.go", `	if !v.Knows(version, number) {`, `	if false {`},
		}},
	{name: "former-cut", rule: "Epochs of slots", effect: "the link to a member that has left is closed though it has something",
		caught: scenario(proxyRoute, "TestWhoLeftAnswersWhatItHas", `Should be false|Not equal`), edits: []edit{
			{"proxy/route/former.go", `for c.waitsFor(l) {`, `for false {`},
		}},
	{name: "refused-insists", rule: "Epochs of slots", effect: "a proxy that has not heard of a change has a home take a slot from the one that leads it",
		caught: scenario(proxyRoute, "TestANodeThatKnowsMoreIsAskedAgain", `Should be zero`), edits: []edit{
			{"proxy/route/results.go", `if r.Reason == answer.EpochChanged {`, `if false {`},
		}},
	{name: "compare-joint", rule: "Epochs of slots", effect: "what who comes to a slot has yet to collect is taken for missed",
		caught: scenario(repairs, "TestSlotsThatChangeAreNotCompared/joint", `Should be zero|Should be empty`), edits: []edit{
			{"node/repair/compare.go", `return c.table.Contains(number, c.self) && c.table.Next(number) == nil`, `return c.table.Contains(number, c.self)`},
		}},
	{name: "compare-epochs", rule: "Epochs of slots", effect: "what two nodes hold in two epochs of a slot is compared",
		caught: scenario(repairs, "TestSlotsThatChangeAreNotCompared/the_peer_knows_more", `Should be zero|Should be empty`), edits: []edit{
			{"node/repair/answer.go", `	case table.Epoch(slot) > version:`, `	case false:`},
		}},
	{name: "change-all-begin", rule: "Loss accepted", effect: "all new members begin at once with whatever they hold, where all old ones are gone",
		caught: scenario(change, "TestAllAreGone", `one begins`), edits: []edit{
			{"ring/change/loss.go", `left = goal[:1:1]`, `left = goal`},
		}},
	{name: "change-refound-keeps-epochs", rule: "Those who decide are lost", effect: "slots stay in epochs of which those that are gone may know later ones",
		caught: scenario(change, "TestRefound", `Not equal`), edits: []edit{
			{"ring/change/refound.go", `		e.slot(slot)
`, `		_ = slot
`},
		}},
	{name: "clear-unpromised", rule: "Slot-wide clear", effect: "a clear does not promise",
		caught: scenario(register, "TestClear", `an acceptance is a promise`), edits: []edit{
			{"node/register/acceptor.go", `		a.promise(m.Ballot, w)
		a.change(w).Cleared`, `		a.change(w).Cleared`},
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
		ks.lend(record.Record{Version: c.version})`, `_ = ks`},
		}},
	{name: "clear-doubt", rule: "Slot-wide clear", effect: "a clear does not wait for requests in doubt, whose fate nobody can tell after it",
		caught: scenario(register, "TestAClearWaitsForRequestsInDoubt", `(?s)expected: 1.*actual  : 0`), edits: []edit{
			{"node/register/clear.go", `len(h.clear.queue) > 0 && h.doubt == 0 &&`, `len(h.clear.queue) > 0 &&`},
			{"node/register/key.go", `if !ks.known && (len(ks.doubt) > 0 || !ks.queue[0].blind) {`, `if len(ks.doubt) > 0 || !ks.known && !ks.queue[0].blind {`},
		}},
	{name: "clear-retry", rule: "Slot-wide clear", effect: "a clear that was sent is NotDone when the term is lost",
		caught: search("flush", 6000), edits: []edit{
			{"node/register/resolve.go", `h.answer(w.request, Answer{Outcome: Unknown, Reason: LostTerm})
	}
	parked`, `h.answer(w.request, Answer{Outcome: NotDone, Reason: LostTerm})
	}
	parked`},
		}},
	{name: "resolve-clear-floor", rule: "Slot-wide clear", effect: "R11, case 3, does not take for absent what a clear left",
		caught: scenario(register, "TestR11PurgedAfterAClear", `applied again after it was deleted and purged`), edits: []edit{
			{"node/register/resolve.go", `purged := !present && found`, `purged := found.IsZero() && found`},
		}},
	{name: "clear-newer", rule: "Slot-wide clear", effect: "a clear deletes records that are newer",
		caught: scenario(memory, "TestConformance/Clear", `no record`), edits: []edit{
			{"node/engine/memory/slot.go", `if meta.Cleared.Less(s.newest) {`, `if false {`},
		}},
	{name: "purge-inexact", rule: "Purge is driven by the home", effect: "acknowledgements of other versions count",
		caught: scenario(register, "TestR13PurgeNeedsAllMembers/not_what_was_before_it", `Should be zero`), edits: []edit{
			{"node/register/replies.go", `if m.Held == ks.head.Version && ks.present {`, `if ks.present {`},
		}},
	{name: "unnoted", rule: "Noting what was missed", effect: "nobody is told what a member missed",
		caught: scenario(register, "TestWhatAMemberMissedIsNoted/when_a_key_is_forgotten", `(?s)Not equal.*3 k`), edits: []edit{
			{"node/register/missed.go", `h.out.Missed = append(h.out.Missed, Missed{h.slot, id, h.out.keep(ks.key)})`, `continue`},
		}},
	{name: "stale-sync-read", rule: "Sync-reads of one attempt", effect: "replies to an earlier sync-read count",
		caught: scenario(register, "TestStaleSyncReadRepliesDoNotCount", `one fresh reply and a stale one are no quorum`), edits: []edit{
			{"node/register/replies.go", `ks.reading == nil || m.Round < ks.reading.round {`, `ks.reading == nil {`},
		}},
	{name: "drop-unheld", rule: "Forgetting keys", effect: "a key is forgotten though no quorum holds its head",
		caught: scenario(register, "TestAKeyIsNotForgottenBeforeAQuorumHoldsIt", `read a value that only one member holds`), edits: []edit{
			{"node/register/waiting.go", `return !ks.known || ks.agreed || ks.head.Version.Ballot != h.ballot || h.holds(ks, ks.head.Version.Seq)`, `return true`},
		}},
	{name: "recall-foreign", rule: "Forgetting keys", effect: "recall takes a record of another ballot",
		caught: search("purge", 300), edits: []edit{
			{"node/register/key.go", `	if rec.Version.Ballot != h.ballot {
		return
	}
`, ""},
		}},
	{name: "recall-uncleared", rule: "Forgetting keys", effect: "recall takes what the own replica holds for newer than a clear that it is about to execute",
		caught: scenario(register, "TestWhatFollowsAClearInOneStep", `append warm x`), edits: []edit{
			{"node/register/key.go", `if rec.Version.Less(h.clear.version) {`, `if false {`},
		}},
	{name: "clear-agreed", rule: "Forgetting keys", effect: "recall takes a clear that no quorum holds for agreed",
		caught: scenario(register, "TestAReadWaitsForTheClear", `answered already: get cold`), edits: []edit{
			{"node/register/key.go", `ks.agreed = present || h.clear.held(h.config, rec.Version.Seq)`, `ks.agreed = true`},
		}},
	{name: "own-refusal", rule: "Forgetting keys", effect: "the own replica's refusal does not end the term; that it has promised a rival is noticed before",
		caught: scenario(register, "TestTheOwnReplicasRefusalEndsTheTerm/a_message_that_was_underway", `Should be false`), edits: []edit{
			{"node/register/own.go", `case reply.Result != OK && h.phase != idle:`, `case false:`},
		}},
	{name: "lost-term", rule: "Forgetting keys", effect: "the own replica's promise to a rival does not end the term; its refusal does, a moment later",
		caught: scenario(register, "TestTheOwnReplicasRefusalEndsTheTerm", `set k v`), edits: []edit{
			{"node/register/key.go", `if h.lostTerm() {`, `if false {`},
		}},
	{name: "own-refusal+lost-term", rule: "Forgetting keys", effect: "both: a home goes on though its own replica does not follow",
		caught: scenario(register, "TestAHomeIsNotMisledByItsOwnReplica", `(?s)Outcome:0x1, Reason:0x4, Hint:0x2.*Outcome:0x0`), edits: []edit{
			{"node/register/own.go", `case reply.Result != OK && h.phase != idle:`, `case false:`},
			{"node/register/key.go", `if h.lostTerm() {`, `if false {`},
		}},
	{name: "overtake", rule: "Hints and hand-back", effect: "a request is taken right after others were turned away",
		caught: scenario(register, "TestR11ReadsAndBlindWritesBehindADoubt", `set k later`), edits: []edit{
			{"node/register/home.go", `case h.phase == idle && h.in.Mono < h.notBefore:`, `case false:`},
		}},
	{name: "handback-busy", rule: "Hints and hand-back", effect: "the slot is handed back with something in flight",
		caught: scenario(register, "TestHandBack/when_nothing_is_in_flight", `answered already: append k w`), edits: []edit{
			{"node/register/leader.go", `func (h *Home) drained() bool {`, `func (h *Home) drained() bool {
	if h.phase == leading {
		return true
	}`},
		}},
	{name: "handback-never", rule: "Hints and hand-back", effect: "a slot is handed back without waiting for Stable",
		caught: scenario(register, "TestHandBack/not_to_one_that_has_just_come_back", `get warm`), edits: []edit{
			{"node/register/leader.go", ` && h.env.Stable(preferred) &&`, ` &&`},
		}},
	{name: "leaving-stays", rule: "Hints and hand-back", effect: "a process that is ending goes on beginning writes",
		caught: scenario(register, "TestLeaving", `append k w`), edits: []edit{
			{"node/register/leader.go", `func (h *Home) successor(except uint16) uint16 {
	if h.leaves(h.self) {`, `func (h *Home) successor(except uint16) uint16 {
	if false {`},
		}},
	{name: "moving-stays", rule: "Hints and hand-back", effect: "a home that will not hold its slot any more keeps it until it has moved",
		caught: scenario(register, "TestAHomeThatLeavesHandsOver", `Should be false`), edits: []edit{
			{"node/register/leader.go", `return h.config.Leaves(member) || h.env.Leaving(member)`, `return h.env.Leaving(member)`},
			{"node/register/replies.go", `h.handing == 0 && h.refused == 0 && !h.config.Leaves(h.self) ||`, `h.handing == 0 && h.refused == 0 ||`},
		}},
	{name: "moving-waits", rule: "Hints and hand-back", effect: "it keeps it until somebody asks for something",
		caught: scenario(register, "TestAHomeThatLeavesHandsOver", `nobody has to ask for that`), edits: []edit{
			{"node/register/replies.go", `h.handing == 0 && h.refused == 0 && !h.config.Leaves(h.self) ||`, `h.handing == 0 && h.refused == 0 ||`},
		}},
	{name: "standin-ignored", rule: "Hints and hand-back", effect: "a process that comes back takes slots from who stands in",
		caught: scenario(register, "TestStandIn", `get k`), edits: []edit{
			{"node/register/leader.go", `return h.env.StandIn(h.slot, except)`, `return h.self`},
		}},
	{name: "nohint", rule: "Hints and hand-back", effect: "nobody is turned away",
		caught: scenario(register, "TestTurnedAwayWhileAnotherLeads", `get warm`), edits: []edit{
			{"node/register/leader.go", `case except == AllOthers ||`, `case true ||`},
		}},
	{name: "noresend", rule: "Time limits", effect: "nothing is sent again",
		caught: scenario(register, "TestWhatIsLostIsSentAgain", `set k v`), edits: []edit{
			{"node/register/tick.go", `case h.phase == leading:
		h.resend(now)`, `case h.phase == leading:`},
		}},
	{name: "late-promise", rule: "Time limits", effect: "a promise that comes in the pause before the next term does not count",
		caught: scenario(register, "TestALatePromiseCounts", `set k v`), edits: []edit{
			{"node/register/tick.go", `if pausing && (h.in.Mono >= h.notBefore || h.lostTerm()) {`, `if pausing && h.phase == acquiring {`},
		}},
	{name: "late-promise-rival", rule: "Time limits", effect: "a home whose replica has promised a rival keeps requests in the pause before the next term",
		caught: scenario(register, "TestALatePromiseDoesNotCountOnceARivalHasCome", `get k|expected: 0`), edits: []edit{
			{"node/register/tick.go", ` || h.lostTerm()) {`, `) {`},
		}},
	{name: "own-again", rule: "Time limits", effect: "a home whose own disk takes longer than an acquisition begins again and again",
		caught: scenario(register, "TestTheOwnReplicaIsWaitedFor", `set k w`), edits: []edit{
			{"node/register/tick.go", `return !answered.has(own) && h.config.quorum(with)`, `return false`},
		}},
	{name: "own-refused", rule: "Time limits", effect: "a home waits for its own promise though with it there is no quorum",
		caught: scenario(register, "TestTheOwnPromiseIsNotWaitedForInVain", `Should be true`), edits: []edit{
			{"node/register/tick.go", `answered&^h.refused`, `answered`},
		}},
	{name: "noexpire", rule: "Time limits", effect: "requests are kept for ever",
		caught: scenario(register, "TestRequestsExpire", `append k v`), edits: []edit{
			{"node/register/resolve.go", `return age > h.timing.Request && (age > h.timing.Slow || !h.hopeful(h.in.Mono))`, `return age < 0`},
		}},
	{name: "frame-age", rule: "Time limits", effect: "a node executes what has waited beyond the time-out",
		caught: scenario(execution, "TestTooOldFramesAreNotExecuted", `(?s)expected: 0x3.*actual  : 0x0`), edits: []edit{
			{"node/exec/refuse.go", `case e.overdue(age):`, `case false:`},
		}},
	{name: "slow-forever", rule: "Slow is not lost", effect: "a request is kept though no quorum is alive that could answer it",
		caught: scenario(register, "TestASlowRequestIsKept", `set k w`), edits: []edit{
			{"node/register/resolve.go", `(age > h.timing.Slow || !h.hopeful(h.in.Mono))`, `age > h.timing.Slow`},
		}},
	{name: "slow-moment", rule: "Slow is not lost", effect: "a request is given up since a quorum is silent for a moment",
		caught: scenario(register, "TestASlowRequestIsKept", `set k w`), edits: []edit{
			{"node/register/resolve.go", `(age > h.timing.Slow || !h.hopeful(h.in.Mono))`, `(age > h.timing.Slow || !h.reachesQuorum())`},
		}},
	{name: "resend-behind", rule: "Slow is not lost", effect: "a member that is behind is sent everything again",
		caught: scenario(register, "TestWhoIsBehindIsSentNothingAgain", `Should be empty`), edits: []edit{
			{"node/register/tick.go", `return !behind`, `return !behind || true`},
		}},
	{name: "resend-others", rule: "Slow is not lost", effect: "what another member lost is not sent again while one is behind",
		caught: scenario(register, "TestWhatIsLostIsSentAgainThoughAMemberIsBehind/by_another_member", `set k v`), edits: []edit{
			{"node/register/tick.go", `case id != h.self && h.env.Alive(id):`, `case false:`},
		}},
	{name: "resend-connection", rule: "Slow is not lost", effect: "what was lost with a connection is not sent again while the member is behind",
		caught: scenario(node, "TestWhoIsBehindHasWhatItsConnectionBrought", `Should be false`), edits: []edit{
			{"node/replica/env.go", `p.ConnectedAt() < since && `, ``},
		}},
	{name: "resend-answered", rule: "Slow is not lost", effect: "a member that is behind is sent everything again because of one that has answered",
		caught: scenario(register, "TestWhoHasAnsweredIsNotWaitedFor", `Should be empty`), edits: []edit{
			{"node/register/tick.go", `case answered.has(i):`, `case answered.has(i) && false:`},
		}},
	{name: "maybe-over", rule: "A term that may be over", effect: "a home whose term was refused by a minority stays in it, though no quorum answers",
		caught: scenario(register, "TestATermThatCannotBeConfirmedIsGivenUp", `Should be false`), edits: []edit{
			{"node/register/tick.go", `if h.refused != 0 {
			h.stepDown()
			return
		}
		if !h.overdue(ks.sent, h.timing.Resend, h.heard(ks)) {`, `if !h.overdue(ks.sent, h.timing.Resend, h.heard(ks)) {`},
		}},
	{name: "nofail", rule: "A store that fails", effect: "a home goes on when its store has failed",
		caught: scenario(register, "TestAFailedStoreEndsTheHome", `Expected error with "broken"`), edits: []edit{
			{"node/register/home.go", `h.failed = err
	h.abandon(StorageFailed)`, `_ = err`},
		}},
	{name: "store-votes", rule: "A store that fails", effect: "a node whose store failed goes on voting",
		caught: scenario(node, "TestAFailedStoreStopsTheVoting", `the connection is not closed|Condition never satisfied`), edits: []edit{
			{"node/replica/damage.go", `		h.failed.Store(true)
`, ``},
		}},
	{name: "store-alive", rule: "A store that fails", effect: "peers take a node whose store failed for alive",
		caught: scenario(node, "TestAFailedStoreStopsTheVoting", `Condition never satisfied`), edits: []edit{
			{"node/ring.go", ` && !h.Failed`, ``},
		}},
	{name: "damage-absent", rule: "A store that fails", effect: "a replica goes on though data of the slot is damaged",
		caught: scenario(node, "TestWhatCannotBeReadIsNeverAbsent", `expected: 0x8`), edits: []edit{
			{"node/replica/damage.go", `	case sl.err == nil:
		sl.err = err
`, `	case sl.err == nil:
`},
		}},
	{name: "full-memory", rule: "A full store", effect: "a promise that there was no room for is there in memory",
		caught: scenario(register, "TestWhatIsNotWrittenIsNotPromised", `Promised`), edits: []edit{
			{"node/register/acceptor.go", `	if err == nil && w.SetsMeta {`, `	if w.SetsMeta {`},
			{"node/register/acceptor.go", `	a.meta = meta
	return err
`, `	_ = meta
	return err
`},
		}},
	{name: "unpersisted-promise", rule: "A full store", effect: "a replica goes on with the state of the slot that it had, though another one has been written already",
		caught: scenario(register, "TestReplayOfAReplica", `the replica is what its store holds`), edits: []edit{
			{"node/register/acceptor.go", `	a.meta = meta
	return err
`, `	_ = meta
	return err
`},
		}},
	{name: "full-term", rule: "A full store", effect: "a home keeps the term though its own replica does not hold what it proposed last",
		caught: scenario(register, "TestAHomeThatBecomesFullWithoutKnowing", `its replica does not show what it proposed last`), edits: []edit{
			{"node/register/own.go", `	case errors.Is(err, ErrNoRoom):
		out.unvote()
		if h.phase != idle {`, `	case errors.Is(err, ErrNoRoom):
		out.unvote()
		if false {`},
		}},
	{name: "full-proposes", rule: "A full store", effect: "a home proposes though it knows that its own replica is full",
		caught: scenario(register, "TestAFullHomeRefusesWhatItWouldHaveToWrite", `k w`), edits: []edit{
			{"node/register/key.go", `	if h.in.Full {
		h.noRoom(r)
		return
	}
	w.needSeq`, `	w.needSeq`},
		}},
	{name: "full-deposed", rule: "A full store", effect: "a home does not notice that it lost the term while its replica was full",
		caught: scenario(register, "TestAFullHomeRefusesWhatItWouldHaveToWrite/and_knows_that_it_lost_the_term", `append k x`), edits: []edit{
			{"node/register/acceptor.go", `	if a.heard.Less(b) {`, `	if false {`},
		}},
	{name: "full-rival", rule: "A full store", effect: "a full home takes the term from one that has room, again and again",
		caught: scenario(register, "TestAHomeThatBecomesFullWithoutKnowing", `no term is taken`), edits: []edit{
			{"node/register/home.go", ` && h.hasWork() && !h.in.Full {`, ` && h.hasWork() {`},
		}},
	{name: "full-forever", rule: "A full store", effect: "a peer that was full once is taken for full until this process ends",
		caught: scenario(peers, "TestWhatAPeerSaysIsBelievedForAWhile/full", `Should be false`), edits: []edit{
			{"node/peer/said.go", `return until != 0 && until > p.mono()`, `return until != 0`},
		}},
	{name: "crowded-grows", rule: "A store without room for more data", effect: "a node whose memory is full leads writes that make its data grow",
		caught: scenario(node, "TestAHomeWhoseMemoryIsFull", `no result|1 MiB have no room for them`), edits: []edit{
			{"node/replica/quorum.go", `if grows && h.Space.Crowded() {`, `if false {`},
		}},
	{name: "brimful-takes", rule: "A store without room for more data", effect: "a replica takes what other homes write without end",
		caught: scenario("node/replicate", "TestABrimfulNodeTakesNothingThatGrows", `actual  : true`), edits: []edit{
			{"node/replicate/requests.go", `return err == nil && grows`, `return err == nil && grows && false`},
		}},
	{name: "brimful-hangs", rule: "A store without room for more data", effect: "a replica does not take what is to be done although nobody has room",
		caught: scenario("node/replicate", "TestABrimfulNodeTakesWhatGrows", `should have 1 item`), edits: []edit{
			{"node/replicate/requests.go", `!m.State.Live() || !r.host.Spared(sl) {`, `!m.State.Live() {`},
		}},
	{name: "ahead-torn", rule: "Large objects go ahead", effect: "a write whose object did not come whole is executed without it",
		caught: scenario(node, "TestAWriteWithoutItsObjectIsLost", `it has an effect`), edits: []edit{
			{"node/replicate/requests.go", `		if d.Missing() {
			r.metrics.ObjectsLost.Inc()
			continue
		}
`, ``},
		}},
	{name: "ahead-shown", rule: "Large objects go ahead", effect: "an answer whose object did not come whole shows a deletion",
		caught: scenario(node, "TestAnAnswerWithoutItsObjectIsLost", `it counts`), edits: []edit{
			{"node/replicate/replies.go", `		if d.Missing() {
			r.replicator.metrics.ObjectsLost.Inc()
			continue
		}
`, ``},
		}},
	{name: "ahead-order", rule: "Large objects go ahead", effect: "pieces are taken in any order, and some may be missing",
		caught: scenario(transfer, "TestWhatDidNotComeWholeHasNoEffect/string", `it is executed`), edits: []edit{
			{"node/transfer/incoming.go", ` || p.Offset != in.have || `, ` || `},
		}},
	{name: "ahead-other", rule: "Large objects go ahead", effect: "pieces of another object are taken for those of this one",
		caught: scenario(transfer, "TestWhatDidNotComeWholeHasNoEffect/string", `one is of another: it is executed`), edits: []edit{
			{"node/transfer/incoming.go", `c := &in.coming; p.ID != c.ID || `, `c := &in.coming; `},
		}},
	{name: "ahead-bound", rule: "Large objects go ahead", effect: "objects on their way take any memory",
		caught: scenario(transfer, "TestObjectsOnTheirWayAreBounded", `in chain|An error is expected`), edits: []edit{
			{"node/transfer/incoming.go", `if r.used.Add(int64(bytes)) > r.Limit || r.Full`, `if r.used.Add(int64(bytes)); r.Full`},
		}},
	{name: "ahead-overtaken", rule: "Large objects go ahead", effect: "deltas overtake the object that they are made on",
		caught: scenario(transfer, "TestDeltasFollowTheirObject", `Should be true`), edits: []edit{
			{"node/transfer/lane.go", `	s.follow(m)
	return true
`, `	return false
`},
		}},
	{name: "ahead-repeated", rule: "Large objects go ahead", effect: "an object that is on its way is sent again",
		caught: scenario(transfer, "TestOneObjectOfAKey", `it begins anew`), edits: []edit{
			{"node/transfer/lane.go", `	case !s.newest.Less(m.Version): // it is on its way
		return true
`, ``},
		}},
	{name: "same-unlike", rule: "What the home has is not shown", effect: "a replica does not show a state that the home has not",
		caught: scenario(register, "TestWhatTheHomeHasIsNotShown", `Should be false`), edits: []edit{
			{"node/register/acceptor.go", `reply.Same = present && rec.Version == m.Base; !reply.Same`, `reply.Same = present; !reply.Same`},
		}},
	{name: "same-trusted", rule: "What the home has is not shown", effect: "a home takes whatever its own replica holds for what was not shown",
		caught: scenario(register, "TestWhatIsNotShownMustBeHere", `what is here is taken for it`), edits: []edit{
			{"node/register/replies.go", `return present && rec.Version == m.Held`, `return present`},
		}},
	{name: "large-resent", rule: "A large head is asked for first", effect: "a large state is sent again to who is only late",
		caught: scenario(register, "TestALargeHeadIsAskedForFirst", `it is sent again whole`), edits: []edit{
			{"node/register/replies.go", `if asks && h.large(state.Size()) {`, `if false {`},
		}},
	{name: "large-based", rule: "A large head is asked for first", effect: "who holds nothing of a key is asked with a delta that can be applied",
		caught: scenario(register, "TestALargeHeadIsAskedForFirst/it_is_lost", `index out of range`), edits: []edit{
			{"node/register/replies.go", `x.IsDelta, x.Base, x.State = true, x.Version, record.State{}`, `x.IsDelta, x.State = true, record.State{}`},
		}},
	{name: "repair-blind", rule: "Repair", effect: "a repair does not look for the state that it writes again",
		caught: search("repair", 300), edits: []edit{
			{"node/register/request.go", `r.key, r.blind = args[1], command.Blind(&r.cmd)`, `r.key, r.blind = args[1], command.Blind(&r.cmd) || r.cmd.Op >= 1<<15`},
		}},
	{name: "repair-empty", rule: "Repair", effect: "a repair deletes",
		caught: scenario(node, "TestAReplicaThatMissedWritesCatchesUp", `expected: int\(500\)`), edits: []edit{
			{"node/replica/env.go", `return dst, datatype.WriteAgain(st)`, `return dst, record.Effect{Kind: record.Replaced}`},
		}},
	{name: "repair-nothing", rule: "Repair", effect: "a repair writes nothing",
		caught: scenario(node, "TestAReplicaThatMissedWritesCatchesUp", `Condition never satisfied`), edits: []edit{
			{"node/replica/env.go", `return dst, datatype.WriteAgain(st)`, `return dst, record.Effect{}`},
		}},
	{name: "rebuild-unfenced", rule: "Rebuilding a damaged replica", effect: "members show their records without a promise",
		caught: scenario(register, "TestWhatWasShownIsFinal", `the client read what is gone`), edits: []edit{
			{"node/register/rebuild.go", `	a.promise(b, w)
`, ``},
		}},
	{name: "rebuild-low", rule: "Rebuilding a damaged replica", effect: "the ballot of a rebuild is not above what the replica has promised",
		caught: scenario(register, "TestWhatWasShownIsFinal", `the client read what is gone`), edits: []edit{
			{"node/register/rebuild.go", `	meta.Promised = record.Ballot{Counter: h.counter, Incarnation: h.incarnation}
`, ``},
		}},
	{name: "rebuild-quorum", rule: "Rebuilding a damaged replica", effect: "a quorum of the other members shows its records",
		caught: scenario(register, "TestARebuildNeedsAllMembers", `in chain|Expected error with`), edits: []edit{
			{"node/register/rebuild.go", `if !r.current() || !r.config.all(r.copied) {`, `if !r.current() || !r.config.quorum(r.copied&^(1<<r.config.index(r.home.self))) {`},
		}},
	{name: "rebuild-self", rule: "Rebuilding a damaged replica", effect: "the replica counts itself: a quorum with it shows its records",
		caught: search("rot", 600), edits: []edit{
			{"node/register/rebuild.go", `if !r.current() || !r.config.all(r.copied) {`, `if !r.current() || !r.config.quorum(r.copied) {`},
		}},
	{name: "rebuild-before", rule: "Rebuilding a damaged replica", effect: "records are copied before all members have promised",
		caught: scenario(register, "TestARebuiltReplicaHoldsWhatItAcknowledged", `not all have promised`), edits: []edit{
			{"node/register/rebuild.go", `if !r.current() || !r.emptied {`, `if !r.current() {`},
		}},
	{name: "rebuild-older", rule: "Rebuilding a damaged replica", effect: "what was shown last is copied, not what is highest",
		caught: search("rot", 300), edits: []edit{
			{"node/register/rebuild.go", `!record.Max(held.Version, r.meta.Cleared).Less(rec.Version)`, `held.Version == rec.Version || !r.meta.Cleared.Less(rec.Version)`},
		}},
	{name: "rebuild-cleared", rule: "Rebuilding a damaged replica", effect: "what the slot's clear has removed is copied",
		caught: scenario(register, "TestARebuildKeepsClears/its_own", `(?s)expected: "".*actual  : "v"`), edits: []edit{
			{"node/register/rebuild.go", `!record.Max(held.Version, r.meta.Cleared).Less(rec.Version)`, `!held.Version.Less(rec.Version)`},
		}},
	{name: "rebuild-clear", rule: "Rebuilding a damaged replica", effect: "a clear that another member has is not taken over",
		caught: scenario(register, "TestARebuildKeepsClears/one_that_a_member_has", `(?s)expected: "".*actual  : "v"`), edits: []edit{
			{"node/register/rebuild.go", `	r.meta.Cleared = record.Max(r.meta.Cleared, cleared)
`, ``},
		}},
	{name: "rebuild-late-clear", rule: "Rebuilding a damaged replica", effect: "a clear that came in between removes nothing that was copied",
		caught: scenario(register, "TestARebuildKeepsClears/one_that_comes_in_between", `Should be false`), edits: []edit{
			{"node/register/rebuild.go", `kind = WriteClear`, ``},
		}},
	{name: "rebuild-floor", rule: "Rebuilding a damaged replica", effect: "the floor is not taken over; a promise refuses what is below it, and others report it",
		caught: scenario(register, "TestARebuildTakesTheFloor", `(?s)expected: .*actual  : `), edits: []edit{
			{"node/register/rebuild.go", `	r.meta.Floor = record.Max(r.meta.Floor, floor)
`, ``},
		}},
	{name: "rebuild-unpromised", rule: "Rebuilding a damaged replica", effect: "a copied record is no promise; its ballot refuses an older one itself",
		caught: scenario(register, "TestACopyIsAPromise", `(?s)expected: 0x2.*actual  : 0x0`), edits: []edit{
			{"node/register/rebuild.go", `	r.raise(rec.Version.Ballot)
`, ``},
		}},
	{name: "rebuild-unmarked", rule: "Rebuilding a damaged replica", effect: "a crash in the middle leaves a replica that votes without its records",
		caught: search("rot", 2000), edits: []edit{
			{"node/register/rebuild.go", `meta.Epoch, meta.Rebuilding = h.config.epoch, true`, `meta.Epoch = h.config.epoch`},
			{"node/register/rebuild.go", ` && r.home.local.meta.Rebuilding &&`, ` &&`},
		}},
	{name: "rebuild-votes", rule: "Rebuilding a damaged replica", effect: "a replica votes while it is rebuilt",
		caught: scenario(register, "TestARebuildThatWasCutDoesNotVote", `Expected error with|An error is expected|in chain`), edits: []edit{
			{"node/register/acceptor.go", `	if a.meta.Rebuilding {
		return ErrRebuilding
	}
	*reply`, `	*reply`},
		}},
	{name: "rebuild-shows", rule: "Rebuilding a damaged replica", effect: "a replica that is rebuilt helps to rebuild another one",
		caught: scenario(register, "TestARebuildThatWasCutDoesNotVote", `nor does it help another replica`), edits: []edit{
			{"node/register/rebuild.go", `	if a.meta.Rebuilding {
		return false, ErrRebuilding
	}
`, ``},
		}},
	{name: "reform-epoch", rule: "Forming again", effect: "a cluster that forms again has the epoch of the ring that was given up",
		caught: scenario(node, "TestAClusterThatLostAllFormsAgain", `whoever knows the old ring only is refused`), edits: []edit{
			{"node/membership/formation.go", `cluster.Epoch = after + 1`, `cluster.Epoch = max(after, 1)`},
		}},
	{name: "reform-voter", rule: "Forming again", effect: "a node that votes gives up its state without being told that this is a loss",
		caught: scenario(node, "TestWhoVotesIsNotGivenUpByTheWay", `whoever asks`), edits: []edit{
			{"node/membership/reform.go", `case s.Voting && !r.AcceptLoss:`, `case false:`},
		}},
	{name: "reform-other-life", rule: "Forming again", effect: "an order to give up the state of one life is obeyed by the next one",
		caught: scenario(node, "TestWhoVotesIsNotGivenUpByTheWay", `it was restarted meanwhile`), edits: []edit{
			{"node/membership/reform.go", `case s.Generation != r.Generation:`, `case false:`},
		}},
}
