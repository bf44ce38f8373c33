package mutation

// highestIsAgreed is R18 as it was first: of what a majority shows the highest version is copied.
var highestIsAgreed = edit{"node/register/sim/agreement.go", `	votes := map[record.Version]int{}
	for _, from := range t.shown {
		rec := of(from)
		if votes[rec.Version]++; votes[rec.Version] == quorum.Majority(len(t.old)) {
			return rec, true
		}
	}
	return record.Record{}, false
`, `	var best record.Record
	for _, from := range t.shown {
		if rec := of(from); best.Version.Less(rec.Version) {
			best = rec
		}
	}
	return best, true
`}

// epochRules: changes of the members (R15, R16 and R18), and lost state (R19).
var epochRules = []mutation{
	{name: "keep-term", rule: "R15", effect: "a term goes on in another epoch",
		caught: scenario(register, "TestR15ANewEpochEndsTheTerm", `Should be false`), edits: []edit{
			{"node/register/home.go", `if h.phase != idle {
		h.giveUp()
		return
	}
	for _, ks := range`, `for _, ks := range`},
		}},
	{name: "epoch-unseen", rule: "R15", effect: "the own replica's newer epoch does not end the term",
		caught: scenario(register, "TestR15AReplicasNewerEpochEndsTheTerm", `set k v`), edits: []edit{
			{"node/register/home.go", `h.ballot.Less(h.local.rival()) || h.config.epoch < h.local.meta.Epoch`, `h.ballot.Less(h.local.rival())`},
		}},
	{name: "nojoint", rule: "R16", effect: "a quorum of the old members is enough",
		caught: scenario(register, "TestR16AWriteNeedsBothQuorums", `answered without a quorum of the next members`), edits: []edit{
			{"node/register/config.go", `majority(s, c.old) && (c.next == 0 || majority(s, c.next))`, `majority(s, c.old)`},
		}},
	{name: "joint-all", rule: "R16", effect: "all members: the old ones",
		caught: scenario(register, "TestQuorum", `Should be false`), edits: []edit{
			{"node/register/config.go", `return s&(c.old|c.next) == c.old|c.next`, `return s&c.old == c.old`},
		}},
	{name: "transfer-highest", rule: "R18", effect: "the highest version that was shown is copied, though no majority holds it",
		caught: scenario(simulator, "TestATransferCopiesNothingThatIsNotAgreed", `knows nothing of it`), edits: []edit{highestIsAgreed}},
	{name: "transfer-highest-early", rule: "R18", effect: "the same, to a member that a later term has asked for it before",
		caught: scenario(simulator, "TestATransferCopiesNothingPastASyncRead", `knows nothing of it`), edits: []edit{highestIsAgreed}},
	{name: "transfer-minority", rule: "R18", effect: "one old member that shows what it holds is enough",
		caught: scenario(simulator, "TestATransferTakesAMajority", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `if len(t.shown) < quorum.Majority(len(t.old)) {`, `if len(t.shown) == 0 {`},
		}},
	{name: "transfer-unfenced", rule: "R18", effect: "a member shows what it holds without adopting the joint epoch",
		caught: scenario(simulator, "TestWhatIsShownIsFenced", `v is acknowledged`), edits: []edit{
			{"node/register/sim/transfer.go", `n.rotten() || !n.adoptAll(t.epoch) {
			return
		}
		var all`, `n.rotten() {
			return
		}
		var all`},
		}},
	{name: "transfer-unagreed", rule: "R18", effect: "what is not agreed is not written again",
		caught: scenario(simulator, "TestWhatIsNotAgreedIsWrittenAgain", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `if !agreed || !t.carries() {`, `if !t.carries() {`},
		}},
	{name: "transfer-too-few", rule: "R18", effect: "what is agreed is not written again, however few of those that hold it stay",
		caught: scenario(simulator, "TestWhatTooFewKeepIsWrittenAgain", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `if !agreed || !t.carries() {`, `if !agreed {`},
		}},
	{name: "transfer-no-term", rule: "R18", effect: "a slot without keys needs no term, however few of those that promised stay",
		caught: scenario(simulator, "TestWhatTooFewKeepOfAPromise", `a majority has not promised`), edits: []edit{
			{"node/register/sim/agreement.go", `if !t.carries() && len(again) == 0 {`, `if false {`},
		}},
	{name: "transfer-promise", rule: "R18", effect: "what old members promised is not taken over",
		caught: scenario(simulator, "TestATransferKeepsPromises", `a majority has not promised`), edits: []edit{
			{"node/register/sim/agreement.go", `			meta.Promised = shown.Promised
`, ``},
		}},
	{name: "transfer-floor", rule: "R18", effect: "floors are not taken over",
		caught: scenario(simulator, "TestATransferKeepsFloors", `Not equal`), edits: []edit{
			{"node/register/sim/agreement.go", `record.Max(meta.Floor, record.Max(shown.Floor, shown.Cleared))`, `record.Max(meta.Floor, shown.Cleared)`},
		}},
	{name: "transfer-clear", rule: "R18", effect: "a clear is not copied",
		caught: scenario(simulator, "TestAnAgreedClearIsCopied", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `t.merge(slot, cleared.Version)`, `t.merge(slot, record.Version{})`},
		}},
	{name: "transfer-clear-floor", rule: "R18", effect: "a clear that is not copied does not raise the floor",
		caught: scenario(simulator, "TestAClearThatIsNotAgreed", `has to be told of the clear`), edits: []edit{
			{"node/register/sim/agreement.go", `record.Max(meta.Floor, record.Max(shown.Floor, shown.Cleared))`, `record.Max(meta.Floor, shown.Floor)`},
		}},
	{name: "transfer-clear-sources", rule: "R18", effect: "a member that stays need not be asked for what a clear that is not agreed has removed elsewhere",
		caught: scenario(simulator, "TestAClearThatIsNotAgreed", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `if !(agreed && t.carries()) &&`, `if _ = agreed; !t.carries() &&`},
		}},
	{name: "transfer-clear-too-few", rule: "R18", effect: "nor if it is agreed and too few of those that hold it stay",
		caught: scenario(simulator, "TestAClearThatTooFewKeep", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `if !(agreed && t.carries()) &&`, `if !agreed &&`},
		}},
	{name: "transfer-late", rule: "R18", effect: "a copy is taken in a later epoch",
		caught: scenario(simulator, "TestALateCopyIsNotTaken", `a deleted value is back`), edits: []edit{
			{"node/register/sim/transfer.go", `n.store.full || n.rotten() || !n.adoptAll(t.epoch) {`, `n.store.full || n.rotten() {`},
		}},
	{name: "transfer-early", rule: "R18", effect: "the final epoch does not wait until all that join have their copy",
		caught: scenario(simulator, "TestAllThatJoinHaveACopy", `node 5 has no copy`), edits: []edit{
			{"node/register/sim/transfer.go", `len(t.filled) == len(t.joining) &&`, `len(t.filled) > 0 &&`},
		}},
	{name: "transfer-unwritten", rule: "R18", effect: "nor until what has to be written again is",
		caught: scenario(simulator, "TestWhatIsNotAgreedIsWrittenAgain", `which was acknowledged`), edits: []edit{
			{"node/register/sim/transfer.go", `return len(t.filled) == len(t.joining) && !slices.ContainsFunc(t.rewrites, func(w *rewrite) bool { return !w.done })`,
				`return len(t.filled) == len(t.joining)`},
		}},
	{name: "amnesia-votes", rule: "R19", effect: "a process that lost its state votes under its former identity",
		caught: scenario(node, "TestARestartedMemoryNodeNeverVotes", `Condition never satisfied`), edits: []edit{
			{"node/membership/hello.go", `if me.Generation == m.self.Generation {`, `if me.Generation != 0 {`},
		}},
	{name: "amnesia-peers", rule: "R19", effect: "votes are exchanged with whoever has the name of a member",
		caught: scenario(node, "TestARestartedMemoryNodeNeverVotes/nor_is_its_former_life_impersonated", `Condition never satisfied`), edits: []edit{
			{"node/replica/view.go", `return ok && known.Generation == m.Generation`, `return ok && known.Name == m.Name`},
		}},
	{name: "ring-late", rule: "R19", effect: "a node votes before it has saved the ring that it votes in",
		caught: scenario(node, "TestTheRingIsSavedBeforeTheFirstVote", `Expected nil, but got: &replica.View`), edits: []edit{
			{"node/membership/formation.go", `	if id := m.opt.Identity; id != nil {
		if err := id.SaveRing`, `	enter()
	if id := m.opt.Identity; id != nil {
		if err := id.SaveRing`},
		}},
	{name: "ring-unsaved", rule: "R19", effect: "a node votes though the ring cannot be saved",
		caught: scenario(node, "TestTheRingIsSavedBeforeTheFirstVote/or_there_is_no_vote", `Condition never satisfied`), edits: []edit{
			{"node/membership/formation.go", `		if err := id.SaveRing(cluster); err != nil {`, `		if err := id.SaveRing(cluster); err != nil && false {`},
		}},
	{name: "lost-votes", rule: "R19", effect: "a durable node that knows that its state is lost votes all the same",
		caught: scenario(node, "TestALostStateIsNotVotedFor/known_to_be_lost", `Condition never satisfied`), edits: []edit{
			{"node/membership/identity.go", `	if lost != "" {`, `	if false {`},
		}},
	{name: "formation-unbound", rule: "R19", effect: "a ring is formed that was not proposed last",
		caught: scenario(membership, "TestProposalsBindUntilTheNextOne", `not the ring that was proposed last`), edits: []edit{
			{"node/membership/formation.go", `if m.bound != cluster.Digest() {`, `if false {`},
		}},
}
