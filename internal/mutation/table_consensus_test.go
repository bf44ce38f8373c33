package mutation

// consensusRules are those of the Raft group that decides rings: what a library of this kind leaves to others.
var consensusRules = []mutation{
	{name: "consensus-send-first", rule: "Durable before sent", effect: "messages leave before what they rest on is durable",
		caught: scenario(consensus, "TestDurableBeforeSent", `before (it was|they were) durable`), edits: []edit{
			{"node/consensus/work.go", `		if err := c.persist(&ready); err != nil {
			return fmt.Errorf("%w: %w", ErrStorage, err)
		}
		for _, m := range ready.Messages {
			if err := c.sendRaft(m); err != nil {
				return err
			}
		}`, `		for _, m := range ready.Messages {
			if err := c.sendRaft(m); err != nil {
				return err
			}
		}
		if err := c.persist(&ready); err != nil {
			return fmt.Errorf("%w: %w", ErrStorage, err)
		}`},
		}},
	{name: "consensus-no-sync", rule: "Durable before sent", effect: "what is appended is not synced",
		caught: scenario(consensus, "TestDurableBeforeSent", `before (it was|they were) durable`), edits: []edit{
			{"node/consensus/file.go", `	if err := s.file.Sync(); err != nil {
		return err
	}
	s.end += int64(len(frame))`, `	s.end += int64(len(frame))`},
		}},
	{name: "consensus-no-directory", rule: "Durable before sent", effect: "the name of a new file is not synced",
		caught: scenario(consensus, "TestPowerCuts", `is gone|does not contain`), edits: []edit{
			{"node/consensus/file.go", `	return s.fs.SyncDir()`, `	return nil`},
		}},
	{name: "consensus-damage", rule: "A torn end is no damage", effect: "what comes behind damage is cut off with it",
		caught: scenario(consensus, "TestDamageBeforeTheEndIsAnError", `byte \d+`), edits: []edit{
			{"node/consensus/file.go", `	for at := end + 1; at < len(data); at++ {`, `	for at := len(data); at < len(data); at++ {`},
		}},
	{name: "consensus-lost", rule: "An identity is one life of a storage", effect: "a log that is gone is taken for one that begins",
		caught: scenario(consensus, "TestStoragesOfOthers", `Expected error|An error is expected`), edits: []edit{
			{"node/consensus/file.go", `		return nil, nil, fmt.Errorf("%w: %w; %s", ErrLost, err, anotherLife)`, `		return nil, nil, s.replace(stored(s.id, nil, nil, nil))`},
		}},
	{name: "consensus-not-synced-yet", rule: "Durable before sent", effect: "what a killed process left counts, though it may not be durable",
		caught: scenario(consensus, "TestWhatAKilledProcessLeft", `it has forgotten what it showed`), edits: []edit{
			{"node/consensus/file.go", `	if err := s.write(content); err != nil {`, `	if err := error(nil); err != nil && content != nil {`},
		}},
	{name: "consensus-former-life", rule: "An identity is one life of a storage", effect: "what is meant for the former life of a node is taken",
		caught: scenario(consensus, "TestMessagesForAFormerLife", `another life of the node`), edits: []edit{
			{"node/consensus/core.go", `if h.to != c.cfg.ID || h.from == 0`, `if h.from == 0`},
		}},
	{name: "consensus-twice", rule: "At most once", effect: "a copy of a proposal is applied as well",
		caught: scenario(consensus, "TestProposalsWhoseAnswersAreLost", `was applied twice`), edits: []edit{
			{"node/consensus/work.go", `	case done:
`, `	case done && index == 0:
`},
			{"node/consensus/propose.go", `	if r, ok := c.recent.find(e.request); ok {`, `	if r, ok := c.recent.find(e.request); ok && from == 0 {`},
		}},
	{name: "consensus-late", rule: "At most once", effect: "a copy is applied when its outcome is forgotten",
		caught: scenario(consensus, "TestACopyThatComesLate", `was applied twice`), edits: []edit{
			{"node/consensus/work.go", `	case index > e.until:`, `	case index > e.until+10*window:`},
		}},
	{name: "consensus-old-length", rule: "At most once", effect: "who leads, and how long the log is, is remembered for ever",
		caught: scenario(consensus, "TestAProposalAfterManyOthers", `other changes came first`), edits: []edit{
			{"node/consensus/propose.go", `		case c.now.Sub(c.toldAt) > c.cfg.Retry: // the log may have become much longer, and the proposal would come too late
			c.leader = 0
`, ``},
		}},
	{name: "consensus-forgets", rule: "At most once", effect: "outcomes are not part of snapshots",
		caught: scenario(consensus, "TestOutcomesOutliveSnapshots", `was applied twice`), edits: []edit{
			{"node/consensus/core.go", `	c.recent = r
`, `	c.recent = recent{}
	_ = r
`},
		}},
	{name: "consensus-unknown", rule: "At most once", effect: "a proposal that was sent is said to have had no effect",
		caught: scenario(consensus, "TestAnUnknownOutcome", `Target error should be in err chain`), edits: []edit{
			{"node/consensus/propose.go", `	if p.sent {
		err, advice`, `	if p.sent && p.until == 0 {
		err, advice`},
		}},
	{name: "consensus-leads-early", rule: "A leader knows what was decided", effect: "a leader leads before it has applied what was decided before",
		caught: scenario(consensus, "TestRandomSchedules", `leads, and does not know`), edits: []edit{
			{"node/consensus/work.go", `leading = err == nil && term == status.GetTerm()`, `leading = err == nil && term > 0`},
		}},
	{name: "consensus-check-quorum", rule: "A leader has a majority", effect: "a leader that hears nobody goes on",
		caught: scenario(consensus, "TestAMinorityDecidesNothing", `without a majority leads`), edits: []edit{
			{"node/consensus/core.go", `CheckQuorum:               true`, `CheckQuorum:               false`},
		}},
	{name: "consensus-pre-vote", rule: "A leader has a majority", effect: "who was cut off comes back with a higher term",
		caught: scenario(consensus, "TestAMinorityDecidesNothing", `has disturbed the group`), edits: []edit{
			{"node/consensus/core.go", `PreVote: true`, `PreVote: false`},
		}},
	{name: "consensus-lost-snapshot", rule: "A snapshot that is lost is sent again", effect: "it is while the leader decides, only",
		caught: scenario(consensus, "TestALostSnapshotThatIsNeededToDecide", `nobody decides`), edits: []edit{
			{"node/consensus/voters.go", `	if c.node.BasicStatus().RaftState != raft.StateLeader {`, `	if !c.leading {`},
		}},
	{name: "consensus-learns-first", rule: "Voters are replaced", effect: "a node votes before it has the log",
		caught: scenario(consensus, "TestAVoterLearnsFirst", `Not equal|it votes and has nothing`), edits: []edit{
			{"node/consensus/voters.go", `	case len(missing) > 0 && !c.hasCaughtUp(missing[0]):
`, ``},
		}},
	{name: "consensus-bear", rule: "Voters are replaced", effect: "voters change though the rest is no majority",
		caught: scenario(consensus, "TestNoChangeThatTheRestCannotBear", `the ring cannot be changed now`), edits: []edit{
			{"node/consensus/voters.go", `	if !c.canGoOn(voters) {
		return
	}
`, ``},
		}},
	{name: "consensus-impatient", rule: "Voters are replaced", effect: "a voter that is silent for a moment is replaced",
		caught: scenario(consensus, "TestADeadVoterIsReplaced", `it may come back`), edits: []edit{
			{"node/consensus/voters.go", `c.silence(candidate.ID) < c.cfg.ReplaceAfter`, `c.active(candidate.ID)`},
		}},
	{name: "consensus-resign", rule: "Voters are replaced", effect: "a leader that leaves the ring does not hand over",
		caught: scenario(consensus, "TestALeaderThatLeavesHandsOver", `Should be true|did not hand over`), edits: []edit{
			{"node/consensus/voters.go", `slices.Contains(unwanted, c.cfg.ID) && c.resign(wanted)`, `len(unwanted) > len(c.conf.Voters) && c.resign(wanted)`},
		}},
	{name: "consensus-retired", rule: "Voters are replaced", effect: "a voter that was replaced asks for votes for ever",
		caught: scenario(consensus, "TestADeadVoterIsReplaced", `asks for votes`), edits: []edit{
			{"node/consensus/core.go", `	if !c.retired() {
		c.node.Tick()
	}`, `	c.node.Tick()`},
		}},
	{name: "consensus-resign-again", rule: "Voters are replaced", effect: "a leader that leaves asks the same voter again and again to lead",
		caught: scenario(consensus, "TestALeaderAsksAnotherOneToLead", `the same one again`), edits: []edit{
			{"node/consensus/voters.go", `		c.resigned++
`, ``},
		}},
	{name: "consensus-formation", rule: "An identity is one life of a storage", effect: "the voters of a former formation are taken for this one's",
		caught: scenario(consensus, "TestVotersOfAnotherFormation", `Not equal`), edits: []edit{
			{"node/consensus/voters.go", `v.Formation == c.formation() && `, ``},
		}},
	{name: "consensus-unknown-entry", rule: "Machines are the same everywhere", effect: "what a node does not know it passes over",
		caught: scenario(consensus, "TestAnEntryOfALaterVersion", `in chain`), edits: []edit{
			{"node/consensus/work.go", `errors.Is(err, ErrUnknownEntry)`, `errors.Is(err, ErrClosed)`},
		}},
	{name: "change-lenient", rule: "Machines are the same everywhere", effect: "a field that a node does not know is passed over",
		caught: scenario("ring/change", "TestWhatThisVersionDoesNotKnow", `Expected error|An error is expected`), edits: []edit{
			{"ring/change/log.go", `	d.DisallowUnknownFields()
`, ``},
		}},
	{name: "node-believes-proposers", rule: "What a node says of itself", effect: "a node reports slots of another one, or has it come back",
		caught: scenario("node", "TestWhatANodeProposesForOthersIsChecked", `in chain|Should be true`), edits: []edit{
			{"node/propose.go", `	if err == nil {
		err = d.check(member, e)
	}
`, ``},
		}},
	{name: "node-forgets-its-log", rule: "An identity is one life of a storage", effect: "that a log was begun is not noted, and it is begun again",
		caught: scenario("node/datadir", "TestALogIsBegunOnce", `Should be true`), edits: []edit{
			{"node/datadir/datadir.go", `	d.session.Log = former.Log
`, ``},
		}},
	{name: "node-begins-late", rule: "An identity is one life of a storage", effect: "who knows a later version of the ring begins the group anew",
		caught: scenario("node", "TestWhoBeginsTheGroup", `Expected nil`), edits: []edit{
			{"node/decisions.go", `	if !doc.Untouched() {
		return nil
	}
`, ``},
		}},
	{name: "consensus-other-group", rule: "A group founded again", effect: "what is said in the group before is taken",
		caught: scenario(consensus, "TestRandomRefounding", `is wrong|panic`), edits: []edit{
			{"node/consensus/core.go", ` || h.group != c.refounded {`, ` {`},
			{"node/consensus/core.go", ` && inner.group == h.group {`, ` {`},
		}},
	{name: "consensus-keeps-votes", rule: "A group founded again", effect: "who hears of a later group goes on with the log of the one before",
		caught: scenario(consensus, "TestRandomRefounding", `is wrong|panic`), edits: []edit{
			{"node/consensus/core.go", `	case cfg.Refounded > c.refounded:`, `	case cfg.Refounded > c.refounded && cfg.Initial == nil:
		c.refounded = cfg.Refounded
	case cfg.Refounded > c.refounded:`},
		}},
	{name: "consensus-founds-with-less", rule: "A group founded again", effect: "it begins with what the survivor knows to be decided only",
		caught: scenario(consensus, "TestRandomRefounding", `founded again without`), edits: []edit{
			{"node/consensus/refound.go", `err != nil || last == c.applied {`, `err != nil || last >= c.applied {`},
		}},
	{name: "consensus-founds-with-any", rule: "A group founded again", effect: "of two logs the longer one counts, whatever its term",
		caught: scenario(consensus, "TestOfTwoLogs", `Not equal`), edits: []edit{
			{"node/consensus/refound.go", `cmp.Compare(p.Term, q.Term), `, ``},
		}},
}
