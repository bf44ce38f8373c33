package mutation

// wholeRules: batches that read all keys of a database.
var wholeRules = []mutation{
	{name: "whole-old-listing", rule: "All keys of a database", effect: "a batch goes by keys that were listed before the term",
		caught: scenario(register, "TestACensusIsOfItsTerm", `unlisted true`), edits: []edit{
			{"node/register/whole.go", `w.Unlisted, w.Missing = w.Listed.Less(h.ballot), w.Missing[:0]`, `w.Unlisted, w.Missing = w.Listed.IsZero(), w.Missing[:0]`}}},
	{name: "whole-unseen", rule: "All keys of a database", effect: "a batch does not look for keys that the term has written",
		caught: scenario(register, "TestACensus", `unlisted false b`), edits: []edit{
			{"node/register/whole.go", `if err := h.local.store.Names(h.slot, w.Database, miss); err != nil {`, `if err := h.local.store.Names(h.slot, 0, miss); err != nil {`}}},
	{name: "whole-uncertain", rule: "All keys of a database", effect: "a batch takes a key for absent whose deletion may not be chosen",
		caught: scenario(register, "TestACensusSeesWhatIsInFlight", `unlisted false b`), edits: []edit{
			{"node/register/whole.go", `case ks.agreed || ks.head.Version.Ballot == h.ballot && h.holds(ks, ks.head.Version.Seq):`, `case ks.agreed || ks.head.Version.Ballot == h.ballot:`}}},
	{name: "whole-not-first", rule: "All keys of a database", effect: "a batch does not see keys that others of its record write",
		caught: scenario(register, "TestACensusIsAlone", `unlisted false v`), edits: []edit{
			{"node/register/batchrecord.go", `if one.request.whole != nil && len(g.batches) > 0 {`, `if one.request.whole != nil && len(g.batches) > groupKeys {`}}},
	{name: "whole-phantom", rule: "All keys of a database", effect: "keys appear while a batch that has read all of them is written",
		caught: scenario(register, "TestNothingComesBesideACensus", `should not contain`), edits: []edit{
			{"node/register/whole.go", `return (b.stage == deciding || b.stage == recording) && b.whole.has(id) && !ks.barred`, `return b.stage == deciding && b.whole.has(id) && !ks.barred`}}},
	{name: "whole-not-begun", rule: "All keys of a database", effect: "a term does something before it has begun its record",
		caught: scenario(register, "TestATermBeginsItsRecord", `Not equal`), edits: []edit{
			{"node/register/whole.go", `	if !b.begun {
		b.needed = b.needed || len(ks.doubt) > 0 || ks.queue[0].batch == nil
		return !h.undecided(ks)
	}
`, ``}}},
	{name: "list-fence", rule: "All keys of a database", effect: "who lists keys counts members that may still take something of an older term",
		caught: scenario("proxy/quorum", "TestAListingIsFenced", `Not equal`), edits: []edit{
			{"proxy/quorum/list.go", `!s.Promised.Less(ballot) && `, ``}}},
	{name: "list-clear", rule: "All keys of a database", effect: "who lists keys takes what one member has cleared for absent",
		caught: scenario("proxy/quorum", "TestAListingAgreesOnTheClear", `Should be false`), edits: []edit{
			{"proxy/quorum/list.go", ` && s.Cleared == one.Cleared`, ``}}},
}
