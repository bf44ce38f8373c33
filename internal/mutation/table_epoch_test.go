package mutation

// epochRules: changes of the members (R15 and R16), and lost state (R19).
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
	{name: "amnesia-votes", rule: "R19", effect: "a process that lost its state votes under its former identity",
		caught: scenario(node, "TestARestartedMemoryNodeNeverVotes", `Condition never satisfied`), edits: []edit{
			{"node/formation.go", `if me.Generation == n.self.Generation {`, `if me.Generation != 0 {`},
		}},
	{name: "amnesia-peers", rule: "R19", effect: "votes are exchanged with whoever has the name of a member",
		caught: scenario(node, "TestARestartedMemoryNodeNeverVotes/nor_is_its_former_life_impersonated", `Condition never satisfied`), edits: []edit{
			{"node/view.go", `return ok && known.Generation == m.Generation`, `return ok && known.Name == m.Name`},
		}},
	{name: "ring-late", rule: "R19", effect: "a node votes before it has saved the ring that it votes in",
		caught: scenario(node, "TestTheRingIsSavedBeforeTheFirstVote", `Expected nil, but got: &node.view`), edits: []edit{
			{"node/formation.go", `	if id := n.opt.Identity; id != nil {
		if err := id.SaveRing`, `	n.view.Store(v)
	if id := n.opt.Identity; id != nil {
		if err := id.SaveRing`},
		}},
	{name: "ring-unsaved", rule: "R19", effect: "a node votes though the ring cannot be saved",
		caught: scenario(node, "TestTheRingIsSavedBeforeTheFirstVote/or_there_is_no_vote", `Condition never satisfied`), edits: []edit{
			{"node/formation.go", `		if err := id.SaveRing(cluster); err != nil {`, `		if err := id.SaveRing(cluster); err != nil && false {`},
		}},
	{name: "lost-votes", rule: "R19", effect: "a durable node that knows that its state is lost votes all the same",
		caught: scenario(node, "TestALostStateIsNotVotedFor/known_to_be_lost", `Condition never satisfied`), edits: []edit{
			{"node/identity.go", `	if lost != "" {`, `	if false {`},
		}},
	{name: "formation-unbound", rule: "R19", effect: "a ring is formed that was not proposed last",
		caught: scenario(node, "TestProposalsBindUntilTheNextOne", `not the ring that was proposed last`), edits: []edit{
			{"node/formation.go", `if n.bound != cluster.Digest() {`, `if false {`},
		}},
}
