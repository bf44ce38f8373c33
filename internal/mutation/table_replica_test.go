package mutation

// replicaRules: what replicas promise and write (R1 to R7).
var replicaRules = []mutation{
	{name: "noepoch", rule: "R1", effect: "a replica also executes requests of an older epoch",
		caught: scenario(register, "TestR1ReplicasThatWereRemovedAreNoQuorum", `a stale read in an epoch that is over`), edits: []edit{
			{"node/register/acceptor.go", `if !a.Adopt(m.Epoch, w) {`, `if !a.Adopt(m.Epoch, w) && false {`},
		}},
	{name: "epoch-volatile", rule: "R1", effect: "a newer epoch is adopted in memory only",
		caught: scenario(register, "TestR1NewerEpochIsAdoptedBeforeActing", `expected: int\(6\)`), edits: []edit{
			{"node/register/acceptor.go", `a.change(w).Epoch = epoch`, `a.meta.Epoch = epoch`},
		}},
	{name: "volatile-promise", rule: "R2", effect: "a promise is not written",
		caught: search("flush", 300), edits: []edit{
			{"node/register/acceptor.go", `a.change(w).Promised = b`, `a.meta.Promised = b`},
		}},
	{name: "unpersisted-vote", rule: "R2", effect: "a vote leaves although its record was not persisted",
		caught: search("chaos", 6000), edits: []edit{
			{"node/register/own.go", `	err = h.local.Persisted(&out.Write, err)
	h.served`, `	if errors.Is(h.local.Persisted(&out.Write, err), ErrNoRoom) {
		err = nil
	}
	h.served`},
		}},
	{name: "unpersisted-reply", rule: "R2", effect: "a replica replies although what it wanted to have persisted was not",
		caught: scenario(node, "TestAFullNode", `it would have to adopt the epoch`), edits: []edit{
			{"node/replica/act.go", `	return sl.acceptor.Persisted(w, s.Persist(w))`, `	_ = sl.acceptor.Persisted(w, s.Persist(w))
	return nil`},
		}},
	{name: "nocommit", rule: "R2", effect: "nothing waits for the commit",
		caught: scenario(node, "TestR2NoReplyBeforeTheCommit/reads", `0 of 1 commits held`), edits: []edit{
			{"node/replica/round.go", `h.engine.Commit(r.done)`, `r.done(nil)`},
		}},
	{name: "answers-early", rule: "R2", effect: "replies do not wait for the commit",
		caught: scenario(node, "TestR2NoReplyBeforeTheCommit/reads", `Should be empty`), edits: []edit{
			{"node/replica/round.go", `h.engine.Commit(r.done)`, `for i := range r.conns {
		b := &r.conns[i]
		_ = b.conn.SendFrames(wire.EndFrame(b.buf, b.start))
		b.conn, b.buf = nil, b.buf[:0]
	}
	r.conns = r.conns[:0]
	h.engine.Commit(r.done)`},
		}},
	{name: "own-vote-early", rule: "R2", effect: "the own replica's vote counts before it is durable, and a home's requests do not wait for the commit either",
		caught: scenario(node, "TestR2TheOwnVoteWaitsForTheCommit", `purged, though a replica may yet lose its tombstone`), edits: []edit{
			{"node/replica/round.go", `h.engine.Commit(r.done)`, `next := h.Begin()
	for i := range r.ready.Votes {
		st := h.Lock(r.ready.Votes[i].Slot, next)
		h.handleReply(&r.ready.Votes[i])
		st.Unlock()
	}
	r.ready.Reset()
	next.Flush()
	h.engine.Commit(r.done)`},
		}},
	{name: "calls-early", rule: "R2", effect: "what calls show does not wait for the commit",
		caught: scenario(node, "TestR2NoReplyBeforeTheCommit/calls", `0 of 1 commits held`), edits: []edit{
			{"node/call.go", `if method == protocol.MethodStatus || method == protocol.MethodCluster || method == protocol.MethodRepair || method == protocol.MethodRing {`, `if method != 0 {`},
		}},
	{name: "half", rule: "R3", effect: "half of the members are a majority",
		caught: search("chaos", 300), edits: []edit{
			{"node/register/config.go", `(s & of).size() > of.size()/2`, `(s & of).size() >= of.size()/2`},
		}},
	{name: "prepare-one", rule: "R3", effect: "one promise gives the term; the promises that sync-reads (R5) and accepts (R6) make do the same work",
		caught: scenario(register, "TestATermWithoutQuorumIsGivenUpAndTriedAgain", `(?s)expected: 0x1.*actual  : 0x2`), edits: []edit{
			{"node/register/replies.go", `h.config.quorum(h.promises)`, `h.promises != 0`},
		}},
	{name: "prepare-one+noraise+sync-unpromised", rule: "R3", effect: "none of the three: a term has the promise of one member",
		caught: search("epochs", 6000), edits: []edit{
			{"node/register/replies.go", `h.config.quorum(h.promises)`, `h.promises != 0`},
			{"node/register/acceptor.go", `a.promise(m.Ballot, w)
	reply.Held = m.Version`, `reply.Held = m.Version`},
			{"node/register/acceptor.go", `		reply.Found = rec.State
	}
	a.promise(m.Ballot, w)`, `		reply.Found = rec.State
	}`},
		}},
	{name: "prepare-equal", rule: "R3", effect: "a ballot is promised twice; harmless as long as incarnations are unique",
		caught: scenario(register, "TestR3PrepareIsStrict", `(?s)expected: 0x2.*actual  : 0x0`), edits: []edit{
			{"node/register/acceptor.go", `if !a.meta.Promised.Less(m.Ballot) {
		reply.Result`, `if m.Ballot.Less(a.meta.Promised) {
		reply.Result`},
		}},
	{name: "reuse-incarnation", rule: "R3", effect: "a process uses the incarnation of its former life; harmless as long as a ballot is promised once",
		caught: scenario(register, "TestR3ANewProcessHasAHigherBallot", `Should not be: 0x1`), edits: []edit{
			{"internal/record/record.go", `return unique<<16 | uint64(member)`, `return uint64(member)`},
		}},
	{name: "reuse-incarnation+prepare-equal", rule: "R3", effect: "both: a ballot is used twice",
		caught: search("failover", 6000), edits: []edit{
			{"internal/record/record.go", `return unique<<16 | uint64(member)`, `return uint64(member)`},
			{"node/register/acceptor.go", `if !a.meta.Promised.Less(m.Ballot) {
		reply.Result`, `if m.Ballot.Less(a.meta.Promised) {
		reply.Result`},
		}},
	{name: "any-term", rule: "R3", effect: "replies of other terms count",
		caught: scenario(register, "TestRepliesOfAnotherTermAreIgnored", `(?s)Should be empty.*Messages:\s+ballot`), edits: []edit{
			{"node/register/replies.go", `h.phase == idle || m.Ballot != h.ballot || m.Epoch`, `h.phase == idle || m.Epoch`},
		}},
	{name: "any-epoch", rule: "R3", effect: "replies of other epochs count; a ballot is used in one epoch only, so the check of the ballot does the same work",
		caught: scenario(register, "TestRepliesOfAnotherTermAreIgnored", `(?s)Should be empty.*Messages:\s+epoch`), edits: []edit{
			{"node/register/replies.go", ` || m.Epoch != h.config.epoch {`, ` {`},
		}},
	{name: "nosyncread", rule: "R4", effect: "the own replica's record is taken for the head",
		caught: search("chaos", 300), edits: []edit{
			{"node/register/key.go", `if !ks.known && (len(ks.doubt) > 0 || !ks.queue[0].blind) {`, `if !ks.known && len(ks.doubt) == 0 {
			rec, present, _ := h.local.Read(ks.key)
			ks.known, ks.head, ks.present, ks.agreed = true, rec, present, true
		}
		if !ks.known {`},
		}},
	{name: "sync-one", rule: "R4", effect: "the first answer to a sync-read is the head",
		caught: search("duel", 300), edits: []edit{
			{"node/register/replies.go", `if !h.config.quorum(sr.from) {`, `if sr.from == 0 {`},
		}},
	{name: "sync-first", rule: "R4", effect: "a sync-read adopts the first version, not the highest",
		caught: search("duel", 300), edits: []edit{
			{"node/register/replies.go", `case !sr.found || sr.best.Version.Less(m.Held):`, `case !sr.found:`},
		}},
	{name: "sync-agreed", rule: "R4", effect: "a head that a minority reported counts as agreed",
		caught: search("duel", 300), edits: []edit{
			{"node/register/replies.go", `ks.head, ks.lent, ks.agreed = sr.best, false, h.config.quorum(sr.at)`, `ks.head, ks.lent, ks.agreed = sr.best, false, true`},
		}},
	{name: "sync-unchecked", rule: "R5", effect: "a sync-read is answered though a higher ballot is promised",
		caught: scenario(register, "TestR5ASyncReadConfirmsTheTerm", `a stale read`), edits: []edit{
			{"node/register/acceptor.go", `func (a *Acceptor) syncRead(m *Message, reply *Message, w *Write) error {
	if m.Ballot.Less(a.meta.Promised) {`, `func (a *Acceptor) syncRead(m *Message, reply *Message, w *Write) error {
	if false {`},
		}},
	{name: "sync-unpromised", rule: "R5", effect: "a sync-read does not promise",
		caught: scenario(register, "TestR5NoOlderWriteIsAcknowledgedAfterASyncRead", `acknowledged behind the back of the newer term`), edits: []edit{
			{"node/register/acceptor.go", `		reply.Found = rec.State
	}
	a.promise(m.Ballot, w)`, `		reply.Found = rec.State
	}`},
		}},
	{name: "nopromise", rule: "R6", effect: "an accept below the promise is taken",
		caught: search("duel", 6000), edits: []edit{
			{"node/register/acceptor.go", `func (a *Acceptor) accept(m *Message, reply *Message, w *Write) error {
	if m.Ballot.Less(a.meta.Promised) {`, `func (a *Acceptor) accept(m *Message, reply *Message, w *Write) error {
	if false {`},
		}},
	{name: "norecord-check", rule: "R6", effect: "a record of a higher ballot does not refuse; the promise that came with it refuses before",
		caught: scenario(register, "TestR6Accept/record_of_a_higher_ballot", `(?s)expected: 0x2.*actual  : 0x0`), edits: []edit{
			{"node/register/acceptor.go", `	case m.Ballot.Less(rec.Version.Ballot):
		reply.Result = StaleBallot
		return nil
`, ""},
		}},
	{name: "noraise", rule: "R6", effect: "an accept does not promise its ballot; the promises of a quorum (R3) do the same work",
		caught: scenario(register, "TestR6Accept/full,_of_a_higher_ballot", `an acceptance is a promise`), edits: []edit{
			{"node/register/acceptor.go", `a.promise(m.Ballot, w)
	reply.Held = m.Version`, `reply.Held = m.Version`},
		}},
	{name: "older-accept", rule: "R6", effect: "an older version overwrites a later one",
		caught: search("duel", 300), edits: []edit{
			{"node/register/acceptor.go", `	case !rec.Version.Less(m.Version):
		return nil // holds this version or one built on it in the same term
`, ""},
		}},
	{name: "delta-blind", rule: "R7", effect: "a delta is applied to whatever is there",
		caught: search("duel", 300), edits: []edit{
			{"node/register/acceptor.go", `if rec.Version != m.Base {`, `if !present {`},
		}},
	{name: "needfull-ignored", rule: "R7", effect: "need-full is not answered with the head",
		caught: scenario(register, "TestR7NeedFullGetsTheHead", `should have 1 item\(s\), but has 0`), edits: []edit{
			{"node/register/replies.go", `h.sendHead(ks, i, false)`, `_ = ks`},
		}},
}
