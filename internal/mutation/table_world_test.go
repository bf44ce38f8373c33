package mutation

// worldRules are rules outside of the protocol that whole clusters under virtual time notice the lack of: what the protocol relies on.
// Some are in the table of the protocol's rules as well, where a test of one package notices: here it is seen that clients would, too.
// Where a test of one package is all that notices, that is what catches it.
var worldRules = []mutation{
	{name: "world-journal-written", rule: "The journal", effect: "a commit is called back when it is written, not when it is durable",
		caught: worlds("powercuts", 20), edits: []edit{
			{"node/engine/journal/commit.go", `	if j.opt.Interval == 0 {
		return j.syncWritten()
	}`, ""},
		}},
	{name: "world-journal-forgets", rule: "The journal", effect: "the journal forgets what the store has not made durable",
		caught: worlds("powercuts", 20), edits: []edit{
			{"node/engine/disk/flush.go", `	if err := e.sync(); err != nil {
		return err
	}
	return e.journal.Checkpoint(until)`, `	return e.journal.Checkpoint(until)`},
		}},
	{name: "world-applied-first", rule: "The journal", effect: "the store is said to have what is not written to it yet",
		caught: worlds("powercuts", 20), edits: []edit{
			{"node/engine/disk/flush.go", `	if err := b.write(); err != nil {
		return err
	}
	if b.waited > 0 {
		e.kept.Store(logged)
		return nil
	}
	if err := e.forget(until); err != nil {
		return err
	}`, `	if err := e.forget(until); err != nil {
		return err
	}
	if err := b.write(); err != nil {
		return err
	}`},
		}},
	{name: "journal-short", rule: "The journal", effect: "a file that has lost its end is read as far as it goes",
		caught: scenario("node/engine/journal", "TestAShorterFileIsNoticed", `in chain but got nil`), edits: []edit{
			{"node/engine/journal/open.go", `err == nil && s.size < allocated`, `err == nil && allocated < 0`},
		}},
	{name: "world-pebble-sync", rule: "The journal", effect: "what Pebble has in memory is taken for durable",
		caught: worlds("powercuts", 20), edits: []edit{
			{"node/engine/pebble/store.go", `return s.guard.run(func() error { return s.db.Flush() })`, `return nil`},
		}},
	{name: "world-gossip", rule: "Who is alive", effect: "known members that are not alive are not called",
		caught: worlds("calm", 4), edits: []edit{
			{"ring/gossip/loops.go", `_, _ = g.list.Join([]string{address})`, `_ = address`},
		}},
	{name: "world-nocommit", rule: "Durable before answered", effect: "nothing waits for the commit",
		caught: worlds("powercuts", 20), edits: []edit{
			{"node/replica/round.go", `h.engine.Commit(r.done)`, `r.done(nil)`},
		}},
	{name: "world-retry", rule: "At most once", effect: "a write whose home is lost goes to another one",
		caught: worlds("chaos", 100), edits: []edit{
			{"proxy/route/results.go", `case gone:
				s.fail(st, ErrUnknownOutcome)`, `case gone:
				s.again(st)`},
		}},
	{name: "world-half", rule: "Counting votes", effect: "half of the replicas are a majority for a proxy",
		caught: worlds("partitions", 20), edits: []edit{
			{"proxy/quorum/quorum.go", `return n/2 + 1`, `return max(1, n/2)`},
		}},
	{name: "answer-sender", rule: "Counting votes", effect: "what another node answers counts for nobody",
		caught: scenario(replicate, "TestAnAnswerIsItsSenders/from_b", `expected: true`), edits: []edit{
			{"node/replicate/replies.go", `		m.From = r.from
`, ``},
		}},
	{name: "world-repair", rule: "Replicas become equal", effect: "a repair writes nothing",
		caught: worlds("chaos", 6), edits: []edit{
			{"node/replica/env.go", `return dst, datatype.WriteAgain(st)`, `return dst, record.Effect{}`},
		}},
	{name: "world-lineage", rule: "R4", effect: "the first answer to a sync-read is the head; what is built on it is seen by the lineage of versions, before any client reads",
		caught: lineage("chaos", 30), edits: []edit{
			{"node/register/replies.go", `if !h.config.quorum(sr.from) {`, `if sr.from == 0 {`},
		}},
}
