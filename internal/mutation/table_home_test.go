package mutation

// homeRules: when a home answers (R8 and R9), and a proxy (R10).
var homeRules = []mutation{
	{name: "ack-early", rule: "R8", effect: "the first acknowledgement answers a write",
		caught: search("duel", 300), edits: []edit{
			{"node/register/waiting.go", `h.acked(ks, i) >= seq {
			s.add(i)
		}
	}
	return h.config.quorum(s)`, `h.acked(ks, i) >= seq {
			s.add(i)
		}
	}
	return s != 0`},
		}},
	{name: "slot-ack", rule: "R8", effect: "acknowledgements count for the slot",
		caught: search("purge", 6000), edits: []edit{
			{"node/register/replies.go", `ks.held[i] = max(ks.held[i], m.Held.Seq)`, `for _, k := range h.keys.all() {
			k.held[i] = max(k.held[i], m.Held.Seq)
		}`},
		}},
	{name: "noconfirm", rule: "R9", effect: "a read is not confirmed",
		caught: scenario(register, "TestR9ADeposedHomeAnswersNoRead", `(?s)Outcome:0x1, Reason:0x4.*Outcome:0x0.*get warm`), edits: []edit{
			{"node/register/waiting.go", `w.needRound = w.request.arrived + 1`, `w.needRound = 0`},
		}},
	{name: "old-acks", rule: "R9", effect: "a round sent before the read arrived confirms it",
		caught: scenario(register, "TestR9TheRoundIsSentAfterArrival", `answered already: get warm`), edits: []edit{
			{"node/register/waiting.go", `w.needRound = w.request.arrived + 1`, `w.needRound = max(1, w.request.arrived)`},
		}},
	{name: "confirm-late", rule: "R9", effect: "those who came while a confirm was on its way get none",
		caught: scenario(register, "TestR9OneRoundIsForAllWhoCameBeforeIt", `Not equal`), edits: []edit{
			{"node/register/waiting.go", `h.reads > 0 && h.asked < h.wanted && h.confirmed(h.asked)`, `h.reads > 0 && h.asked < h.wanted && h.asked == 0`},
		}},
	{name: "confirm-any", rule: "R9", effect: "a read waits until whatever was sent last is answered",
		caught: scenario(register, "TestR9AReadDoesNotWaitForAWriteOfAnotherKey", `get warm`), edits: []edit{
			{"node/register/waiting.go", `h.asked != 0 && !h.confirmed(h.asked): // then`, `!h.confirmed(h.round): // then`},
			{"node/register/waiting.go", `h.reads > 0 && h.asked < h.wanted && h.confirmed(h.asked)`, `h.reads > 0 && h.asked < h.wanted && h.confirmed(h.round)`},
		}},
	{name: "confirm-one", rule: "R9", effect: "one member confirms",
		caught: scenario(register, "TestR9ADeposedHomeAnswersNoRead", `(?s)Outcome:0x1, Reason:0x4.*Outcome:0x0.*get warm`), edits: []edit{
			{"node/register/waiting.go", `if h.answered[i] >= round {
			s.add(i)
		}
	}
	return h.config.quorum(s)`, `if h.answered[i] >= round {
			s.add(i)
		}
	}
	return s != 0`},
		}},
	{name: "confirm-always", rule: "R9", effect: "a replica confirms below its promise",
		caught: scenario(register, "TestR9ADeposedHomeAnswersNoRead", `(?s)Outcome:0x1, Reason:0x4.*Outcome:0x0.*get warm`), edits: []edit{
			{"node/register/acceptor.go", `case Confirm: // (R9) writes nothing
		if m.Ballot.Less(a.meta.Promised) {`, `case Confirm: // (R9) writes nothing
		if false {`},
		}},
	{name: "read-unheld", rule: "R9", effect: "a read does not wait for the head of this term",
		caught: scenario(register, "TestR9AReadWaitsForTheHeadOfAWriteThatWasGivenUp", `answered already: get k`), edits: []edit{
			{"node/register/waiting.go", `w.needSeq = ks.head.Version.Seq`, `w.needSeq = 0`},
		}},
	{name: "noreadrepair", rule: "R9", effect: "a head of an older term that is not agreed is answered",
		caught: search("duel", 300), edits: []edit{
			{"node/register/waiting.go", `case !inTerm && !ks.agreed: // same state, this term's version`, `case false:`},
			{"node/register/waiting.go", `} else if !ks.agreed {
		w.needSeq = h.seq + 1`, `} else if !ks.agreed {`},
		}},
	{name: "readrepair-early", rule: "R9", effect: "it is proposed again, but the answer does not wait for it",
		caught: scenario(register, "TestR9WriteBackIsHeldBeforeTheAnswer", `answered already: get k`), edits: []edit{
			{"node/register/waiting.go", `} else if !ks.agreed {
		w.needSeq = h.seq + 1`, `} else if !ks.agreed {`},
		}},
	{name: "proxy-max", rule: "R10", effect: "the highest version is the answer, whoever has it",
		caught: scenario(proxyQuorum, "TestDifferentVersionsGoToTheHome", `(?s)expected: 0x2.*actual  : 0x1`), edits: []edit{
			{"proxy/quorum/quorum.go", `case v.at >= v.need && v.valued`, `case v.at+v.below >= v.need && v.valued`},
		}},
	{name: "proxy-lower", rule: "R10", effect: "a majority at a version is enough, though a higher one was seen",
		caught: scenario(proxyQuorum, "TestTheHighestVersionMustBeTheAgreedOne", `a majority at a lower version is no answer`), edits: []edit{
			{"proxy/quorum/quorum.go", `v.below += v.at
		v.version, v.at = version, 1`, `v.below++`},
		}},
	{name: "proxy-any-value", rule: "R10", effect: "the value may be of another version than the majority's",
		caught: scenario(proxyQuorum, "TestTheValueIsOfTheAgreedVersion", `a value of another version`), edits: []edit{
			{"proxy/quorum/quorum.go", `case v.at >= v.need && v.valued && v.value == v.version:`, `case v.at >= v.need && v.valued:`},
		}},
	{name: "proxy-half", rule: "R10", effect: "half of the replicas are a majority",
		caught: scenario(proxyQuorum, "TestMajoritiesMeet", `two majorities of`), edits: []edit{
			{"proxy/quorum/quorum.go", `return n/2 + 1`, `return max(1, n/2)`},
		}},
	{name: "proxy-half-a-reply", rule: "R10", effect: "what has come of a reply is taken for all of it",
		caught: scenario(proxyRoute, "TestAReplyThatIsNotWhole", `actual  : .*\$5000`), edits: []edit{
			{"proxy/route/pieces.go", ` && len(st.ahead) == st.size`, ``},
		}},
	{name: "lengthy-now", rule: "R10", effect: "what takes long to read is read as it is later, with the version of before",
		caught: scenario(node, "TestALengthyReadHoldsUpNobody", `another reply than at the home`), edits: []edit{
			{"node/exec/lengthy.go", `	defer record.Catch(&err)
	e.host.LendApart(&r.req)
`, `	defer record.Catch(&err)
	e.host.LendApart(&r.req)
	time.Sleep(50 * time.Millisecond)
	st := e.host.Lock(r.slot, nil)
	if sl, _ := st.Slot(r.slot); sl != nil {
		rec, _, _ := sl.Read(r.req.Args[1])
		r.state = rec.State
	}
	st.Unlock()
`},
		}},
}
