package mutation

// highestIsAgreed is R18 as it was first: of what a majority shows the highest version is copied.
var highestIsAgreed = edit{"node/register/collect.go", `		if majority(same, p.config.old) {
			return v, true
		}
	}
	return record.Version{}, false
`, `		best = record.Max(best, v)
	}
	return best, true
`}

// highestToBegin goes with it.
var highestToBegin = edit{"node/register/collect.go", `	for i := range p.metas {
		v, sure := of(i)
`, `	var best record.Version
	for i := range p.metas {
		v, sure := of(i)
`}

// epochRules: changes of the members (R15 to R18).
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
	{name: "join-full", rule: "R17", effect: "who comes to a slot again keeps what it held",
		caught: scenario(simulator, "TestWhoComesAgainIsEmpty", `a deleted value is back`), edits: []edit{
			{"node/register/acceptor.go", `	if joins && epoch > a.meta.Epoch {`, `	if false {`},
		}},
	{name: "join-full-dropped", rule: "R17", effect: "so does who took part in a change that was given up",
		caught: scenario(simulator, "TestWhoWasToJoinIsEmpty", `a deleted value is back`), edits: []edit{
			{"node/register/acceptor.go", `	if joins && epoch > a.meta.Epoch {`, `	if false {`},
		}},
	{name: "join-full-opened", rule: "R17", effect: "a node opens a slot that it comes to with what it held before",
		caught: scenario(replicas, "TestWhoComesToASlotIsEmpty", `Not equal|Should be`), edits: []edit{
			{"node/replica/learn.go", `	joins := v.Joins(number)
`, `	joins := false
`},
		}},
	{name: "join-full-open", rule: "R17", effect: "a slot that is open stays as it is when the node comes to it again",
		caught: scenario(replicas, "TestADamagedSlotThatIsComeToAgainIsSound", `it is a test`), edits: []edit{
			{"node/replica/learn.go", `again := v.Joins(number) && sl.acceptor.Epoch() < epoch`, `again := false`},
		}},
	{name: "join-unseen", rule: "R17", effect: "what a node held of a slot is listed before anybody uses the slot",
		caught: scenario(replicas, "TestWhatIsLeftIsShownToNobody", `Should be zero|not zero|Should be`), edits: []edit{
			{"node/replica/learn.go", `	if v.Table.Joint() == 0 {`, `	if v.Table.Joint() >= 0 {`},
			{"node/replica/damage.go", `v != nil && v.Joins(number)`, `v != nil && false`},
		}},
	{name: "join-blind", rule: "R17", effect: "a member acts in an epoch before it knows that it joins with it",
		caught: scenario(simulator, "TestWhoComesAgainIsEmpty", `a deleted value is back`), edits: []edit{
			{"node/register/sim/node.go", `	if !n.meet(m.Slot, m.Epoch) {`, `	if false {`},
		}},
	{name: "number-again", rule: "R17", effect: "one with the number of a former member begins in no epoch",
		caught: scenario(simulator, "TestANumberIsUsedAgain", `Not equal`), edits: []edit{
			{"node/register/sim/sim.go", `		n.adopt(slot, n.epochs[slot].number)
`, `		_ = slot
`},
		}},
	{name: "transfer-highest", rule: "R18", effect: "the highest version that was shown is copied, though no majority holds it",
		caught: scenario(simulator, "TestATransferCopiesNothingThatIsNotAgreed", `knows nothing of it`), edits: []edit{highestToBegin, highestIsAgreed}},
	{name: "transfer-highest-early", rule: "R18", effect: "the same, to a member that a later term has asked for it before",
		caught: scenario(simulator, "TestATransferCopiesNothingPastASyncRead", `knows nothing of it`), edits: []edit{highestToBegin, highestIsAgreed}},
	{name: "transfer-minority", rule: "R18", effect: "one old member that shows a page is enough",
		caught: scenario(simulator, "TestATransferTakesAMajority", `which was acknowledged`), edits: []edit{
			{"node/register/collect.go", `		if majority(same, p.config.old) {`, `		if same != 0 {`},
			{"node/register/collect.go", `return majority(p.shown, p.config.old)`, `return p.shown != 0`},
		}},
	{name: "transfer-unfenced", rule: "R18", effect: "a member shows what it holds without adopting the joint epoch",
		caught: scenario(simulator, "TestWhatIsShownIsFenced", `v is acknowledged`), edits: []edit{
			{"node/register/sim/collect.go", ` || !n.meet(e.slot, e.number) || !n.adopt(e.slot, e.number) {
			return
		}
		shown`, ` {
			return
		}
		shown`},
		}},
	{name: "transfer-unagreed", rule: "R18", effect: "what is not agreed is not written again",
		caught: scenario(simulator, "TestWhatIsNotAgreedIsWrittenAgain", `which was acknowledged`), edits: []edit{
			{"node/register/collect.go", `case !agreed && (r.held != 0 || stays && present):
			again = append(again, r.key)`, `case !agreed && (r.held != 0 || stays && present):`},
		}},
	{name: "transfer-newer-value", rule: "R18", effect: "a value is copied that is newer than what is agreed",
		caught: scenario(simulator, "TestANewerValueIsNotCopied", `v is copied`), edits: []edit{
			{"node/register/collect.go", `	if rec.Version != agreed.Version {
`, `	if agreed.Version = rec.Version; agreed.Version != rec.Version {
`},
		}},
	{name: "transfer-newer-value-lost", rule: "R18", effect: "nor is the key written again then",
		caught: scenario(simulator, "TestANewerValueIsNotCopied", `should have 1 item`), edits: []edit{
			{"node/register/sim/collect.go", `			n.sim.count("value-newer", 1)
			c.rewrite(key)
`, `			n.sim.count("value-newer", 1)
`},
		}},
	{name: "transfer-too-few", rule: "R18", effect: "those that stay do not collect, however few of those that hold what is agreed stay",
		caught: scenario(simulator, "TestWhatTooFewKeepIsCollectedByThoseThatStay", `which was acknowledged`), edits: []edit{
			{"node/register/sim/transfer.go", `	if suffices(old, next, func(id uint16) bool { return slices.Contains(who, id) }) {`, `	if len(who) > 0 {`},
			{"node/register/sim/transfer.go", `joining) && suffices(c.epoch.members, c.epoch.next, collected)`, `joining)`},
		}},
	{name: "transfer-nobody-joins", rule: "R18", effect: "nobody collects if nobody joins",
		caught: scenario(simulator, "TestNobodyJoins", `which was acknowledged`), edits: []edit{
			{"node/register/sim/transfer.go", `	if suffices(old, next, func(id uint16) bool { return slices.Contains(who, id) }) {`, `	if len(who) == 0 {`},
		}},
	{name: "transfer-stayed", rule: "R18", effect: "what a member that stays holds beyond what is agreed is not written again",
		caught: scenario(simulator, "TestWhatOnlyThoseThatStayHaveSeen", `knows nothing of it`), edits: []edit{
			{"node/register/collect.go", `case agreed && stays && present && v.Less(own.Version):`, `case agreed && stays && present && v.Less(own.Version) && false:`},
		}},
	{name: "transfer-promise", rule: "R18", effect: "what old members promised is not taken over",
		caught: scenario(simulator, "TestATransferKeepsPromises", `a majority has not promised`), edits: []edit{
			{"node/register/collect.go", `			meta.Promised = shown.Promised
`, ``},
		}},
	{name: "transfer-promise-too-few", rule: "R18", effect: "nor by those that stay",
		caught: scenario(simulator, "TestWhatTooFewKeepOfAPromise", `a majority has not promised`), edits: []edit{
			{"node/register/sim/transfer.go", `	if suffices(old, next, func(id uint16) bool { return slices.Contains(who, id) }) {`, `	if len(who) > 0 {`},
			{"node/register/sim/transfer.go", `joining) && suffices(c.epoch.members, c.epoch.next, collected)`, `joining)`},
		}},
	{name: "transfer-floor", rule: "R18", effect: "floors are not taken over",
		caught: scenario(simulator, "TestATransferKeepsFloors", `Not equal`), edits: []edit{
			{"node/register/collect.go", `record.Max(meta.Floor, record.Max(shown.Floor, shown.Cleared))`, `record.Max(meta.Floor, shown.Cleared)`},
		}},
	{name: "transfer-clear", rule: "R18", effect: "a clear is not copied",
		caught: scenario(simulator, "TestAnAgreedClearIsCopied", `Expected nil, but got`), edits: []edit{
			{"node/register/collect.go", `	case a.meta.Cleared.Less(cleared):
`, `	case a.meta.Cleared.Less(cleared) && unsure:
`},
		}},
	{name: "transfer-clear-floor", rule: "R18", effect: "a clear that is not copied does not raise the floor",
		caught: scenario(simulator, "TestAClearThatIsNotAgreed", `has to be told of the clear`), edits: []edit{
			{"node/register/collect.go", `record.Max(meta.Floor, record.Max(shown.Floor, shown.Cleared))`, `record.Max(meta.Floor, shown.Floor)`},
		}},
	{name: "transfer-clear-split", rule: "R18", effect: "a clear that is not agreed is not taken over",
		caught: scenario(simulator, "TestAClearThatIsNotAgreed", `which was acknowledged`), edits: []edit{
			{"node/register/collect.go", `	case a.meta.Cleared.Less(cleared):
`, `	case a.meta.Cleared.Less(cleared) && !unsure:
`},
		}},
	{name: "transfer-clear-joiners", rule: "R18", effect: "nor where another member that joins has copied what it removes",
		caught: scenario(simulator, "TestMembersThatJoinNeedNotSeeTheSameClear", `which was acknowledged`), edits: []edit{
			{"node/register/collect.go", `	case a.meta.Cleared.Less(cleared):
`, `	case a.meta.Cleared.Less(cleared) && !unsure:
`},
		}},
	{name: "transfer-clear-sure", rule: "R18", effect: "a clear that is not agreed counts as if it were",
		caught: scenario(simulator, "TestAClearThatIsNotAgreedIsUnsure", `knows nothing of it`), edits: []edit{
			{"node/register/collect.go", `shown.Cleared, true
`, `shown.Cleared, unsure
`},
		}},
	{name: "transfer-clear-once", rule: "R18", effect: "only the first page shows the clear",
		caught: scenario(simulator, "TestAClearBetweenPages", `the page is not collected`), edits: []edit{
			{"node/register/sim/agreement.go", `	if acceptor.TakeOver(c.shown, w); w.Wanted() {`, `	if c.page > 0 {
	} else if acceptor.TakeOver(c.shown, w); w.Wanted() {`},
		}},
	{name: "transfer-clear-last", rule: "R18", effect: "only the last page shows the clear",
		caught: scenario(simulator, "TestAClearOfAFormerPage", `which was acknowledged`), edits: []edit{
			{"node/register/sim/agreement.go", `	if acceptor.TakeOver(c.shown, w); w.Wanted() {`, `	if c.page < c.pages()-1 {
	} else if acceptor.TakeOver(c.shown, w); w.Wanted() {`},
		}},
	{name: "transfer-late", rule: "R18", effect: "a copy is taken in a later epoch",
		caught: scenario(simulator, "TestALateCopyIsNotTaken", `a deleted value is back`), edits: []edit{
			{"node/register/sim/collect.go", `		if !c.current() || !wanted {`, `		if !wanted {`},
		}},
	{name: "transfer-early", rule: "R18", effect: "the final epoch does not wait until all that collect have reported",
		caught: scenario(simulator, "TestAllThatJoinHaveACopy", `node 5 has no copy`), edits: []edit{
			{"node/register/sim/transfer.go", `	return !slices.ContainsFunc(c.collectors, joining) && suffices(c.epoch.members, c.epoch.next, collected)`,
				`	return !slices.ContainsFunc(c.collectors, joining) || len(c.done) > 0`},
		}},
	{name: "transfer-early-stay", rule: "R18", effect: "nor until enough of those that stay have",
		caught: scenario(simulator, "TestOneThatStaysIsGone", `1 is not enough`), edits: []edit{
			{"node/register/sim/transfer.go", `joining) && suffices(c.epoch.members, c.epoch.next, collected)`, `joining) && len(c.done) > 0`},
		}},
	{name: "transfer-unwritten", rule: "R18", effect: "nor do these until what has to be written again is",
		caught: scenario(simulator, "TestAChangeWaitsForWhatIsWrittenAgain", `v is not written again`), edits: []edit{
			{"node/register/sim/collect.go", `		if c.written() {
			n.hold`, `		if true {
			n.hold`},
		}},
	{name: "transfer-noted", rule: "R18", effect: "a page is noted before what has to be written again is",
		caught: scenario(simulator, "TestACollectorStartsAgain", `which was acknowledged`), edits: []edit{
			{"node/register/sim/collect.go", `		if c.written() {
			_ = n.store.note`, `		if true {
			_ = n.store.note`},
		}},
	{name: "transfer-hopeless", rule: "R18", effect: "a change is not given up though one that has to collect is gone for good",
		caught: trial{pkg: simulator, test: "TestLinearizable", says: `has not come to an end`, mode: "liveness", seeds: 400}, edits: []edit{
			{"node/register/sim/transfer.go", `	case c.hopeless():`, `	case false:`},
		}},
	{name: "unsure-agrees", rule: "R18", effect: "a home counts a clear that may not have been chosen as agreed",
		caught: scenario(register, "TestR18AClearThatIsUnsureIsNoAgreement", `Not equal`), edits: []edit{
			{"node/register/replies.go", `	if !m.Unsure {`, `	if true {`},
		}},
	{name: "unsure-unheard", rule: "R18", effect: "nor does it hear of it, if it hears of it first",
		caught: scenario(register, "TestR18OneThatKnowsOfAHigherClearIsHeard", `Not equal`), edits: []edit{
			{"node/register/replies.go", `case !sr.found || sr.best`, `case sr.at == 0 || sr.best`},
		}},
	{name: "unsure-votes", rule: "R18", effect: "a replica votes in a quorum read with a clear that may not have been chosen",
		caught: scenario(node, "TestWhatIsUnsureIsNoVote", `Not equal`), edits: []edit{
			{"node/exec/read.go", `(present || !sl.Meta().Unsure), register.ReasonNone`, `(present || sl != nil), register.ReasonNone`},
		}},
	{name: "unsure-for-ever", rule: "R18", effect: "a clear that a replica accepts leaves it unsure",
		caught: scenario(register, "TestR18AClearThatIsUnsureIsNoAgreement", `a clear that it accepted itself`), edits: []edit{
			{"node/register/acceptor.go", `		w.Meta.Unsure = false
`, ``},
		}},
}

// lifeRules: lost state (R19).
var lifeRules = []mutation{
	{name: "amnesia-votes", rule: "R19", effect: "a process that lost its state votes under its former identity",
		caught: scenario(node, "TestARestartedMemoryNodeNeverVotes", `Condition never satisfied`), edits: []edit{
			{"node/membership/document.go", `doc.LifeOf(self.Name, self.Generation)`, `doc.ByName(self.Name)`},
		}},
	{name: "amnesia-peers", rule: "R19", effect: "votes are exchanged with whoever has the name of a member",
		caught: scenario(node, "TestARestartedMemoryNodeNeverVotes", `nothing came`), edits: []edit{
			{"node/replica/view.go", `return v.lives[life{m.Name, m.Generation}]`, `known, _ := v.Cluster.ByName(m.Name)
	return known.ID`},
		}},
	{name: "copy-address", rule: "R19", effect: "a copy of a node's disk is taken for the node itself if it has the same address",
		caught: scenario(node, "TestACopyOfANodeIsRefused", `An error is expected`), edits: []edit{
			{"node/members.go", ` || other.Process != theirs.Process`, ``},
		}},
	{name: "ring-late", rule: "R19", effect: "a node votes before it has saved the ring that it votes in",
		caught: scenario(node, "TestTheRingIsSavedBeforeTheFirstVote", `Expected nil, but got: &replica.View`), edits: []edit{
			{"node/membership/document.go", `	if err := m.save(doc); err != nil {
		return err
	}
	m.enter(`, `	enter()
	if err := m.save(doc); err != nil {
		return err
	}
	m.enter(`},
		}},
	{name: "ring-unsaved", rule: "R19", effect: "a node votes though the ring cannot be saved",
		caught: scenario(node, "TestTheRingIsSavedBeforeTheFirstVote/or_there_is_no_vote", `Condition never satisfied`), edits: []edit{
			{"node/membership/document.go", `	err := id.SaveRing(doc)
`, `	err := error(nil)
	_ = id.SaveRing(doc)
`},
		}},
	{name: "version-early", rule: "R19", effect: "a node works by a version of the ring, and names it, that it may forget",
		caught: scenario(membership, "TestAVersionIsNamedWhenItIsDurable", `Not equal`), edits: []edit{
			{"node/membership/document.go", `	if err := m.save(doc); err != nil {
		return err
	}
	if life`, `	_ = m.save(doc)
	if life`},
		}},
	{name: "lost-life", rule: "R19", effect: "a life that the ring knows to be lost is a member",
		caught: scenario(replicas, "TestALifeThatIsLostIsNoMember", `Should be zero`), edits: []edit{
			{"node/replica/view.go", `			delete(v.lives, life{l.Name, l.Generation})
`, ``},
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
