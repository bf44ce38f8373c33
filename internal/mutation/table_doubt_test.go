package mutation

// doubtRules: what may be done again (R11).
var doubtRules = []mutation{
	{name: "retry", rule: "R11", effect: "a write that was sent is NotDone when the term is lost",
		caught: search("duel", 300), edits: []edit{
			{"node/register/resolve.go", `case len(r.attempts) == 0:`, `case true:`},
		}},
	{name: "retry-set", rule: "R11", effect: "the same, of blind writes only",
		caught: search("epochs", 300), edits: []edit{
			{"node/register/resolve.go", `case len(r.attempts) == 0:`, `case len(r.attempts) == 0 || r.blind:`},
		}},
	{name: "retry-expired", rule: "R11", effect: "a write that was sent is NotDone when its time is up",
		caught: scenario(register, "TestASlowRequestIsKept", `Not equal`), edits: []edit{
			{"node/register/tick.go", `Outcome: r.undecided(), Reason: NoQuorum`, `Outcome: NotDone, Reason: NoQuorum`},
		}},
	{name: "retry-abandoned", rule: "R11", effect: "a write that was sent is NotDone when the home leaves or fails",
		caught: search("epochs", 300), edits: []edit{
			{"node/register/resolve.go", `Outcome: r.undecided(), Reason: reason`, `Outcome: NotDone, Reason: reason`},
		}},
	{name: "doubt-reads", rule: "R11", effect: "a read is turned away though the write behind it is in doubt, and may come after it then",
		caught: scenario(register, "TestR11ReadsBeforeADoubt", `Not equal`), edits: []edit{
			{"node/register/resolve.go", `		ks.shareFate(h.ballot)
`, ``},
		}},
	{name: "doubt-reads-unknown", rule: "R11", effect: "a read that was in doubt with a write is answered as if it had written",
		caught: scenario(register, "TestR11ReadsBeforeADoubt", `Not equal`), edits: []edit{
			{"node/register/request.go", `	if r.written {
`, `	if len(r.attempts) > 0 {
`},
		}},
	{name: "resolve-nowrite", rule: "R11", effect: "what is found out of a write in doubt is not made final by an identity write",
		caught: search("chaos", 400), edits: []edit{
			{"node/register/resolve.go", `if len(redo)+len(ks.waiting) > 0 {`, `if false {`},
			{"node/register/resolve.go", `end: match.end, needSeq: next.Seq})`, `end: match.end})`},
		}},
	{name: "resolve-nowrite-redo", rule: "R11", effect: "no identity write before what is done again",
		caught: scenario(register, "TestR11NotIncludedIsDoneAgain", `the identity write comes first`), edits: []edit{
			{"node/register/resolve.go", `if len(redo)+len(ks.waiting) > 0 {`, `if len(ks.waiting) > 0 {`},
		}},
	{name: "resolve-early", rule: "R11", effect: "the answer does not wait for the identity write",
		caught: scenario(register, "TestR11TheAnswerWaitsForTheIdentityWrite", `answered already: append k v`), edits: []edit{
			{"node/register/resolve.go", `end: match.end, needSeq: next.Seq})`, `end: match.end})`},
		}},
	{name: "resolve-foreign", rule: "R11", effect: "case 2: a write in doubt is done again though a rival may have built on it",
		caught: search("duel", 300), edits: []edit{
			{"node/register/resolve.go", `case foreign || purged:`, `case purged:`},
			{"node/register/resolve.go", `foreign := !sameTerm`, `_ = !sameTerm`},
		}},
	{name: "resolve-nofloor", rule: "R11", effect: "case 3: a write in doubt is done again though it may have been deleted and purged",
		caught: scenario(register, "TestR11Purged", `append k v`), edits: []edit{
			{"node/register/resolve.go", `case foreign || purged:`, `case foreign:`},
			{"node/register/resolve.go", `purged := !present`, `_ = !present`},
		}},
	{name: "resolve-sameterm", rule: "R11", effect: "case 1 does not compare the seq",
		caught: scenario(register, "TestMatching", `Expected nil`), edits: []edit{
			{"node/register/resolve.go", `if !found.Less(attempts[i].version) {`, `if sameTerm {`},
		}},
	{name: "resolve-oldest-term", rule: "R11", effect: "case 1 for the last attempt's term only",
		caught: scenario(register, "TestMatching", `(?s)expected: true.*actual  : false`), edits: []edit{
			{"node/register/resolve.go", `for i := range attempts {
		if attempts[i].version.Ballot`, `for i := len(attempts) - 1; i < len(attempts); i++ {
		if attempts[i].version.Ballot`},
		}},
	{name: "resolve-last", rule: "R11", effect: "case 2 and 3 compare the last attempt instead of the first",
		caught: scenario(register, "TestR11ForeignBetweenTwoAttempts", `applied twice`), edits: []edit{
			{"node/register/resolve.go", `first := r.attempts[0].version`, `first := r.attempts[len(r.attempts)-1].version`},
		}},
	{name: "resolve-forget", rule: "R11", effect: "an identity write is not an attempt",
		caught: scenario(register, "TestR11DoubtOverSeveralTerms", `(?s)expected: uint64\(0x2\).*actual  : int\(1\)`), edits: []edit{
			{"node/register/resolve.go", `			r.shares(next, match.start, match.end)
`, ""},
		}},
	{name: "dup-forward", rule: "R11", effect: "a request is sent to its home twice",
		caught: scenario(proxyRoute, "TestWriteGoesToTheHome", `"\d:execute k\d+", "\d:execute k\d+"`), edits: []edit{
			{"proxy/route/home.go", `s.message(view, b, i, home, protocol.Execute)`, `s.message(view, b, i, home, protocol.Execute)
	s.message(view, b, i, home, protocol.Execute)`},
		}},
	{name: "proxy-retry-lost", rule: "R11", effect: "a write whose home is lost goes to another one",
		caught: scenario(proxyRoute, "TestAWriteIsSentToOneHomeOnly/lost", `it was sent again`), edits: []edit{
			{"proxy/route/results.go", `case gone:
				s.fail(st, ErrUnknownOutcome)`, `case gone:
				s.again(st)`},
		}},
	{name: "proxy-retry-silent", rule: "R11", effect: "a write whose home is silent goes to another one",
		caught: scenario(proxyRoute, "TestSilentHomeWithAWriteInFlight", `(?s)expected: .*-UNKNOWN.*actual  : .*\+OK`), edits: []edit{
			{"proxy/route/results.go", `case gone:`, `case !gone:
				s.again(st)
			case gone:`},
		}},
	{name: "proxy-retry-unknown", rule: "R11", effect: "a write of unknown outcome is sent again",
		caught: scenario(proxyRoute, "TestAWriteIsSentToOneHomeOnly/unknown", `it was sent again`), edits: []edit{
			{"proxy/route/results.go", `case protocol.StatusUnknown:
		if write {`, `case protocol.StatusUnknown:
		if false {`},
		}},
	{name: "proxy-retry-nonsense", rule: "R11", effect: "a write is sent again after an answer that makes no sense",
		caught: scenario(proxyRoute, "TestAWriteIsSentToOneHomeOnly/nonsense", `it was sent again`), edits: []edit{
			{"proxy/route/results.go", `again, a write not (R11)
		if write {`, `again, a write not (R11)
		if false {`},
		}},
	{name: "proxy-timeout", rule: "R11", effect: "a write that a home may have is said to have had no effect when the time is up",
		caught: scenario(proxyRoute, "TestSilentHomeWithAWriteInFlight", `(?s)expected: .*-UNKNOWN.*actual  : .*-CLUSTERDOWN`), edits: []edit{
			{"proxy/route/timeout.go", `case st.phase == opExecuting && st.mayWrite():
			s.fail(st, ErrUnknownOutcome)`, `case st.phase == opExecuting && st.mayWrite():
			s.fail(st, ErrTimeout)`},
		}},
	{name: "proxy-overtaken", rule: "R11", effect: "what a home refused is executed behind what came after it",
		caught: scenario(proxyRoute, "TestOvertaken", `(?s)could not be executed before a later one.*actual  : .*\+OK`), edits: []edit{
			{"proxy/route/chain.go", `	case c.wrote > st.index:
		s.fail(st, errOvertaken)
		return false
`, ""},
		}},
	{name: "proxy-overtakes", rule: "R11", effect: "a read keeps what it saw before a write in front of it was done",
		caught: scenario(proxyRoute, "TestAReadThatHasOvertakenAWrite", `actual  : .*\$-1`), edits: []edit{
			{"proxy/route/chain.go", `		s.reopen(st)
`, ""},
		}},
	{name: "proxy-reads-order", rule: "R11", effect: "the second read of a key keeps what it saw before the first was done",
		caught: scenario(proxyRoute, "TestReadsOfOneKeyKeepTheirOrder", `actual  : .*new.*old`), edits: []edit{
			{"proxy/route/retry.go", `	if st.chain < 0 && (st.before >= 0 || st.after >= 0) {
		s.readAgain(st)
	}
`, ""},
		}},
	{name: "proxy-earlier-attempt", rule: "R11", effect: "the answer to an earlier attempt counts as one to the last",
		caught: scenario(proxyRoute, "TestAnswersToAnEarlierAttempt", `expected: \[\]string`), edits: []edit{
			{"proxy/route/results.go", ` || st.attempt != id>>opBits`, ``},
		}},
	{name: "proxy-order", rule: "R11", effect: "what was turned away does not wait for what was sent before it",
		caught: scenario(proxyRoute, "TestTurnedAwayWaitsForTheOneBefore", `should have 5 item|actual  : \[\]string\{"1 k\d+ 2"`), edits: []edit{
			{"proxy/route/chain.go", `	case c.out > 0 && c.round != s.round, c.held == s.round:
		s.blocked++
		return false
`, ""},
		}},
}
