package mutation

// room is the package that collects slots.
const room = "node/collect"

// collectRules: how a running node collects what a slot holds (R18). What becomes of a page is in epochRules.
var collectRules = []mutation{
	{name: "collect-unfenced", rule: "R18", effect: "a member that has not used the slot shows it without taking part in the joint epoch",
		caught: scenario(node, "TestWhoShowsWhatItHolds", `Not equal`), edits: []edit{
			{"node/replica/collect.go", `	switch current, err := s.Adopt(sl, epoch); {
`, `	switch current, err := true, error(nil); {
`},
		}},
	{name: "collect-any-epoch", rule: "R18", effect: "it shows the slot whatever epoch somebody means",
		caught: scenario(node, "TestWhoShowsWhatItHolds", `it is not known yet`), edits: []edit{
			{"node/replica/collect.go", `if c := sl.home.Config(); c.Epoch() != epoch || !c.Joint() {`, `if c := sl.home.Config(); epoch == c.Epoch() && !c.Joint() {`},
		}},
	{name: "collect-joiner-shows", rule: "R18", effect: "a member that joins shows what it holds to another one",
		caught: scenario(room, "TestWhoShowsNothing", `in chain`), edits: []edit{
			{"node/collect/answer.go", `if !slices.Contains(config.Old(), c.node.Self()) {`, `if !slices.Contains(config.Members(), c.node.Self()) {`},
		}},
	{name: "collect-minority", rule: "R18", effect: "less than a majority of the old members is asked",
		caught: scenario(room, "TestAMajorityHasToShowAPage", `An error is expected`), edits: []edit{
			{"node/collect/page.go", `(len(config.Old()) - len(others)) + 1`, `(len(config.Old()) - len(others))`},
		}},
	{name: "collect-page-long", rule: "R18", effect: "a page goes as far as any of those that show it",
		caught: scenario(room, "TestAPageEndsWhereTheFirstOneEnds", `should have 20 item`), edits: []edit{
			{"node/collect/page.go", `		end = min(end, engine.Position(shown[i].Next))
`, `		if last := engine.Position(shown[i].Next); i == 0 || last > end {
			end = last
		}
`},
		}},
	{name: "collect-own", rule: "R18", effect: "one that stays does not look at what it holds itself",
		caught: scenario(room, "TestOneThatStays", `Not equal`), edits: []edit{
			{"node/collect/slot.go", `		if slices.Contains(config.Old(), self) {`, `		if slices.Contains(config.Old(), self) && self == 0 {`},
		}},
	{name: "collect-home-leaves", rule: "R18", effect: "keys are to be written again by the home that leaves with this change, as others say that it leads: it takes up nothing that another one can do",
		caught: scenario(room, "TestEverybodyPointsToWhoLeaves", `Not equal`), edits: []edit{
			{"node/collect/again.go", ` && !config.Leaves(hint)`, ``},
		}},
	{name: "collect-slot", rule: "R18", effect: "what is known of the slot is not taken over",
		caught: scenario(room, "TestWhatIsKnownOfTheSlotIsTakenOver", `Not equal`), edits: []edit{
			{"node/collect/slot.go", `if s.Acceptor().TakeOver(d.page, &w); w.Wanted() {`, `if s.Acceptor().TakeOver(d.page, &w); false {`},
		}},
	{name: "collect-newer-lost", rule: "R18", effect: "a key is not written again whose value was newer than what was agreed on",
		caught: scenario(room, "TestAValueThatIsNewerIsWrittenAgain", `Not equal`), edits: []edit{
			{"node/collect/fetch.go", `				newer = append(newer, agreed[i].Key)
`, ``},
		}},
	{name: "collect-unwritten", rule: "R18", effect: "a slot is reported before what is not agreed on has been written again",
		caught: scenario(room, "TestAHomeThatDoesNotWrite", `in chain`), edits: []edit{
			{"node/collect/slot.go", `		if err := r.writeAgain(ctx); err != nil {
			return err
		}
`, `		_ = r.writeAgain(ctx)
`},
		}},
	{name: "collect-undurable", rule: "R18", effect: "nor is it known then that what was copied is durable",
		caught: scenario(room, "TestNothingIsReportedThatIsNotDurable", `in chain|Not equal`), edits: []edit{
			{"node/collect/slot.go", `	if err := r.c.node.Committed(ctx); err != nil {
		return err
	}
`, ``},
		}},
	{name: "collect-former-epoch", rule: "R18", effect: "a slot in another epoch is taken for the one that was collected",
		caught: scenario(room, "TestAnotherEpoch", `Should be empty`), edits: []edit{
			{"node/collect/collect.go", `if epoch, is := wanted[slot]; !is || epoch != r.epoch {`, `if _, is := wanted[slot]; !is {`},
		}},
}
