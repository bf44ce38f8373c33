package mutation

// nearestRules: what one replica shows was chosen.
var nearestRules = []mutation{
	{name: "nearest-unknown", rule: "Reads of one replica", effect: "one replica shows what no majority was seen to hold",
		caught: scenario(proxyRoute, "TestOneReplicaAnswersWhatWasChosen", `should have 3 item`), edits: []edit{
			{"proxy/route/nearest.go", `(r.Version.IsZero() || c.chosen.has(st.slot, r.Version))`, `true`}}},
	{name: "nearest-slot", rule: "Reads of one replica", effect: "a version of one slot is taken for that of another",
		caught: scenario(proxyRoute, "TestOnlyWhatWasAddedIsKnown", `was not added`), edits: []edit{
			{"proxy/route/chosen.go", `(uint64(slot)<<ballotBits|ballot)<<seqBits | v.Seq`, `ballot<<seqBits | v.Seq`}}},
	{name: "nearest-seq", rule: "Reads of one replica", effect: "a seq that is too large is taken for another",
		caught: scenario(proxyRoute, "TestOnlyWhatWasAddedIsKnown", `was (not )?added`), edits: []edit{
			{"proxy/route/chosen.go", `if ballot == 0 || v.Seq >= 1<<seqBits {`, `if ballot == 0 {`}}},
	{name: "nearest-ballots", rule: "Reads of one replica", effect: "a ballot gets the number of another one, and what was remembered stays",
		caught: scenario(proxyRoute, "TestBallotsComeToAnEnd", `was another's`), edits: []edit{
			{"proxy/route/chosen.go", `		next.table = new(chosenTable)`, `		if next.table = new(chosenTable); now != nil {
			next.table = now.table
		}`}}},
	{name: "nearest-alone", rule: "Reads of one replica", effect: "one replica is asked though no majority of them is heard",
		caught: scenario(proxyRoute, "TestWhoIsCutOffAnswersNotAlone", `Should be zero`), edits: []edit{
			{"proxy/route/nearest.go", `if answering < quorum.Majority(len(replicas)) {`, `if answering < min(1, quorum.Majority(len(replicas))) {`}}},
	{name: "nearest-ring", rule: "Reads of one replica", effect: "versions of another ring are remembered",
		caught: scenario(proxyRoute, "TestCoordinatorAdoptsANewRingOnlyWhenTheOldOneIsGone", `another ring has other versions`), edits: []edit{
			{"proxy/route/ring.go", `	c.chosen.forget()
`, ``}}},
	{name: "nearest-tracking", rule: "Reads of one replica", effect: "who keeps what he has read may have been told of the change before he reads",
		caught: scenario(sessions, "TestReadOnlyReadsTheNearest", `Not equal`), edits: []edit{
			{"proxy/session/readonly.go", `tracks := s.tracking.on`, `tracks := false`}}},
	{name: "nearest-optin", rule: "Reads of one replica", effect: "at a replica port, who keeps what he asks to keep may have been told of the change before he reads",
		caught: scenario(sessions, "TestAReplicaPortReadsTheNearest", `Not equal`), edits: []edit{
			{"proxy/session/readonly.go", `tracks = s.tracking.broadcast || s.tracking.tracks()`, `tracks = s.tracking.broadcast`}}},
	{name: "nearest-watching", rule: "Reads of one replica", effect: "who watches a key reads an older state of it, and EXEC finds it unchanged",
		caught: scenario(sessions, "TestReadOnlyReadsTheNearest", `Not equal`), edits: []edit{
			{"proxy/session/readonly.go", ` && len(s.watches.list) == 0`, ``}}},
}
