package mutation

// ringRules are those of the machine that changes a ring: which document follows on which.
var ringRules = []mutation{
	{name: "change-late-report", rule: "A report is of one joint epoch", effect: "what was collected for a change that was given up counts for the next",
		caught: scenario(change, "TestAReportOfAnEarlierEpoch", `the slot has changed since|An error is expected`), edits: []edit{
			{"ring/change/move.go", ` || e.Slots[s.Slot].Epoch != s.Epoch`, ``},
		}},
	{name: "change-lost-collector", rule: "What a lost life collected is lost", effect: "a collector that has reported and then loses its state still counts",
		caught: scenario(change, "TestACollectorIsLostAfterItsReport", `Should be empty|has member`), edits: []edit{
			{"ring/change/rejoin.go", `slices.Contains(p.Waiting, old) || slices.Contains(p.Done, old)`, `slices.Contains(p.Waiting, old)`},
		}},
	{name: "change-joint-twice", rule: "A slot is joint once", effect: "a slot that is joint begins again",
		caught: scenario(change, "TestAPlanIsCommittedOnceByItsID", `no slot is joint twice|joint`), edits: []edit{
			{"ring/change/move.go", `return a.Next == nil && !slices.Equal`, `return !slices.Equal`},
		}},
	{name: "change-collectors", rule: "R18 Who collects", effect: "members that stay do not collect where the new ones do not carry",
		caught: scenario(change, "TestCollectors", `it shrinks`), edits: []edit{
			{"ring/change/move.go", `	return append(join, stay...)`, `	return join`},
		}},
	{name: "change-who-joins", rule: "R18 All that join report", effect: "a slot has moved when enough of its members have reported, whoever they are",
		caught: scenario(change, "TestCollected", `who joins has not`), edits: []edit{
			{"ring/change/move.go", `		case !slices.Contains(from, id):
			return false
`, `		case !slices.Contains(from, id):
`},
		}},
	{name: "change-too-few-stay", rule: "R18 Enough that stay report", effect: "one report is enough where nobody joins",
		caught: scenario(change, "TestCollected", `it shrinks, and one has|nobody that stays`), edits: []edit{
			{"ring/change/move.go", `+join >= majority(to)
`, `+join >= majority(to) || len(done) > 0
`},
		}},
	{name: "change-all-that-stay", rule: "R18 Enough that stay report", effect: "a slot waits for all that stay, also for one that is gone",
		caught: scenario(change, "TestOneThatStaysNeedNotReport", `two of three have reported`), edits: []edit{
			{"ring/change/move.go", `collected(a.Replicas, a.Next, p.Done) {`, `a.Next != nil && len(p.Waiting) == 0 {`},
		}},
	{name: "change-id-again", rule: "An ID is one life", effect: "an ID is given out that a member has",
		caught: scenario(change, "TestIDsWrap", `Not equal|member \d+ after member`), edits: []edit{
			{"ring/change/member.go", `if _, taken := e.at(e.LastID); !taken {`, `if true {`},
		}},
	{name: "change-places", rule: "An address is one member's", effect: "members that have changed places are never where they are, for the address is the other's",
		caught: scenario(change, "TestMembersChangePlaces", `another member has that address|Received unexpected error`), edits: []edit{
			{"ring/change/member.go", `		if l.Peer == m.Peer {
`, `		if false {
`},
		}},
	{name: "change-other-plan", rule: "A plan is committed by its ID", effect: "what is staged has changed, and the plan that was looked at is committed",
		caught: scenario(change, "TestAPlanIsCommittedOnceByItsID", `that is another plan|An error is expected`), edits: []edit{
			{"ring/change/commit.go", `c.ID != e.planID(c.Moves)`, `c.ID == "never"`},
		}},
	{name: "change-abort-goes-on", rule: "An abort gives up what is joint", effect: "joint slots go on to where they should not go any more",
		caught: scenario(change, "TestAbortHalfway", `what was joint is given up`), edits: []edit{
			{"ring/change/move.go", `return !slices.Equal(e.Slots[p.Slot].Next, e.Goal(p.Slot))`, `return p.Slot == slices.Max([]uint16{65535}) && e.Plan == nil`},
		}},
	{name: "change-other-return", rule: "A plan takes up who comes back", effect: "a plan is committed that does not know of a member's return",
		caught: scenario(change, "TestWhoTakesItsPlaceAgainIsReplaced", `it does not know|An error is expected|Target error`), edits: []edit{
			{"ring/change/commit.go", `planned && !slices.Equal(moves[0].From, to) || !planned && d.isMoving(slot)`, `planned && len(moves[0].From) == 0`},
		}},
	{name: "change-ring-before", rule: "An abort leads back to the ring before", effect: "the ring before is that before the last changes that were committed",
		caught: scenario(change, "TestAPlanTakesUpFurtherChanges", `Not equal`), edits: []edit{
			{"ring/change/commit.go", `p.Moves[i].To = m.To`, `p.Moves[i] = m`},
		}},
	{name: "change-loss-aborted", rule: "There is no way back from a loss", effect: "further changes let a plan be aborted in which a loss was accepted",
		caught: scenario(change, "TestTwoOfThreeAreGoneForGood", `nor with further changes`), edits: []edit{
			{"ring/change/commit.go", `p.LossAccepted = before.LossAccepted`, `p.LossAccepted = false`},
		}},
	{name: "change-still-holds", rule: "Loss is accepted where the plan takes the slot away", effect: "a slot is left to a member that is gone for good",
		caught: scenario(change, "TestTwoOfThreeAreGoneForGood", `still to hold slots|An error is expected`), edits: []edit{
			{"ring/change/loss.go", `i := slices.IndexFunc(goal, gone); i >= 0`, `i := slices.IndexFunc(goal, gone); i > 99`},
		}},
	{name: "change-stuck-counts", rule: "A wave that can't go on holds up only itself", effect: "slots whose collectors are down use up the limit",
		caught: scenario(change, "TestAStuckWaveHoldsUpOnlyItself", `others take the place`), edits: []edit{
			{"ring/change/wave.go", `w.way(a.Replicas, a.Next).readiness != stuck {`, `len(a.Next) > 0 {`},
		}},
	{name: "change-gap", rule: "A delta follows on what it begins at", effect: "a delta is applied to a document that lacks what came before",
		caught: scenario(change, "TestADeltaWithAGap", `the delta begins after`), edits: []edit{
			{"ring/change/decode.go", `	case d.Version < since:`, `	case d.Version < since && since == 0:`},
		}},
}
