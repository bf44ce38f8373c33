package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// What the tests write: u first, then in the same term v, and in a later term w, which is built on u.
var (
	first, second = ballot(1, 1), ballot(2, 2)
	u, v, w       = record.Version{Ballot: first, Seq: 1}, record.Version{Ballot: first, Seq: 2}, record.Version{Ballot: second, Seq: 1}
)

// TestATransferCopiesNothingPastASyncRead: a joining member has said that it holds nothing, to a term that then builds on u.
func TestATransferCopiesNothingPastASyncRead(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 3)
	s.quiet(1, 2, 3)
	s.change(4, 2, 3)
	s.tell(prepare(second), 2, 1, 2, 4)
	require.Equal(t, u, s.tell(syncRead(second), 2, 4, 1, 2).Held)
	s.page(4, 1, 2, 3)
	s.page(4, 1, 2, 3)
	s.tell(write(w, "u.w"), 2, 2)
	s.complete()
	s.requireNothingBesides()
}

// TestATransferCopiesNothingThatIsNotAgreed: v is nowhere but at one member, a later term found u, and its w is at a member
// that shows nothing.
func TestATransferCopiesNothingThatIsNotAgreed(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 3)
	s.tell(prepare(second), 1, 1, 2)
	require.Equal(t, u, s.tell(syncRead(second), 1, 1, 2).Held)
	s.tell(write(w, "u.w"), 1, 2)
	s.quiet(2)
	s.change(4, 2, 3)
	s.complete()
	s.requireNothingBesides()
}

// TestANewerValueIsNotCopied: u is agreed, but the member that is asked for it has taken v by then, which nobody else has.
func TestANewerValueIsNotCopied(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.quiet(1, 2, 3)
	s.change(4, 2, 3)
	c := s.page(4, 1, 2, 3)
	c.wanted[s.key] = u
	s.tell(write(v, "u.v"), 2, 3)
	s.tell(prepare(second), 2, 1, 2, 4)
	require.Equal(t, u, s.tell(syncRead(second), 2, 4, 1, 2).Held)
	s.tell(write(w, "u.w"), 2, 2)
	c.takeValue(s.key, s.held(3))
	require.Empty(t, s.nodes[4].store.staged.slots[0].records, "v is copied")
	require.Len(t, c.rewrites, 1)
	s.quiet()
	s.complete()
	s.requireNothingBesides()
}

// TestWhatIsNotAgreedIsWrittenAgain: v was acknowledged by a majority, one of which then took something later.
func TestWhatIsNotAgreedIsWrittenAgain(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 1, 2)
	s.tell(prepare(second), 1, 1, 2)
	s.tell(write(w, "u.v.w"), 1, 1)
	s.quiet(3)
	s.change(4, 1, 3)
	s.complete()
	s.requireNoMajorityWithout(v)
}

// late ends a change in which some old members show what they hold at last.
func (s scenario) late(members []uint16, next ...uint16) {
	s.quiet(members...)
	s.change(next...)
	s.runFor(500)
	s.quiet()
	s.complete()
}

// TestWhatTooFewKeepIsCollectedByThoseThatStay: those that acknowledged v leave, and one joins: its copy is no majority.
func TestWhatTooFewKeepIsCollectedByThoseThatStay(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5)
	s.tell(write(v, "u.v"), 1, 3, 4, 5)
	s.late([]uint16{1, 2}, 6, 1, 2)
	s.requireNoMajorityWithout(v)
}

// TestOneThatStaysIsGone: two of three that collect are enough, one is not.
func TestOneThatStaysIsGone(t *testing.T) {
	for gone := 1; gone <= 2; gone++ {
		s := newScenario(t, 5)
		s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5)
		s.tell(write(v, "u.v"), 1, 3, 4, 5)
		for id := range uint16(gone) {
			s.blocked[[2]uint16{0, 3 - id}] = true
		}
		s.quiet(1, 2)
		change := s.change(1, 2, 3)
		s.runFor(1000)
		if gone == 2 {
			require.Same(t, change, s.changes[0], "1 is not enough")
			continue
		}
		s.complete()
		s.requireNoMajorityWithout(v)
	}
}

// TestNobodyJoins: the same if none does.
func TestNobodyJoins(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5)
	s.tell(write(v, "u.v"), 1, 3, 4, 5)
	s.late([]uint16{1, 2}, 1, 2, 3)
	s.requireNoMajorityWithout(v)
}

// TestWhatTooFewKeepOfAPromise: the same of a promise, in a slot without keys.
func TestWhatTooFewKeepOfAPromise(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(prepare(second), 1, 3, 4, 5)
	s.change(6, 1, 2)
	s.complete()
	s.requirePromised(second)
}

// TestOneLessOfAnEvenNumber needs no joint epoch: whichever majority acknowledged v, no majority is without.
func TestOneLessOfAnEvenNumber(t *testing.T) {
	s := newScenario(t, 4)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4)
	s.tell(write(v, "u.v"), 1, 2, 3, 4)
	require.Nil(t, s.change(1, 2, 3))
	s.complete()
	s.requireNoMajorityWithout(v)
}

// TestWhatOnlyThoseThatStayHaveSeen: a majority that leaves agrees on u. What those that stay hold beside, v and w, is of two terms that do not
// know of each other, and nobody shows it.
func TestWhatOnlyThoseThatStayHaveSeen(t *testing.T) {
	s := newScenario(t, 7)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5, 6, 7)
	s.tell(write(v, "u.v"), 1, 1, 2)
	s.tell(prepare(second), 1, 3, 4, 5, 6)
	require.Equal(t, u, s.tell(syncRead(second), 1, 3, 4, 5, 6).Held)
	s.tell(write(w, "u.w"), 1, 3)
	s.quiet(1, 2, 3)
	s.change(1, 2, 3)
	s.complete()
	s.requireNothingBesides()
}

// TestATransferKeepsPromises: an older term cannot be had in the next epoch.
func TestATransferKeepsPromises(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(prepare(second), 1, 1, 2)
	s.quiet(3)
	s.change(4, 2, 3)
	s.complete()
	s.requirePromised(second)
}

func (s scenario) requirePromised(b record.Ballot) {
	s.t.Helper()
	without := 0
	for _, id := range s.latest(0).members {
		if s.nodes[id].acceptors[0].Meta().Promised.Less(b) {
			without++
		}
	}
	require.Less(s.t, without, 2, "a majority has not promised %v", b)
}

// TestAClearThatIsNotAgreed: a majority cleared the slot, one of them twice, and a member that stays has missed it.
func TestAClearThatIsNotAgreed(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(clearing(v), 1, 1, 2)
	s.tell(prepare(second), 1, 1, 2)
	s.tell(clearing(w), 1, 2)
	s.quiet(3)
	s.change(4, 2, 3)
	s.complete()
	s.requireNoMajorityWithout(v)
	require.False(t, s.nodes[4].acceptors[0].Meta().Floor.Less(w), "a request in doubt has to be told of the clear")
}

// TestAClearThatIsNotAgreedIsUnsure: only one member cleared the slot, and both that join know of it. A later term has not, and what it built on u is at the one that
// stays.
func TestAClearThatIsNotAgreedIsUnsure(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 2, 3)
	s.tell(clearing(v), 1, 2)
	s.tell(prepare(second), 1, 1, 3)
	require.Equal(t, u, s.tell(syncRead(second), 1, 1, 3).Held)
	s.tell(write(w, "u.w"), 1, 3)
	s.quiet(3)
	s.change(4, 5, 3)
	s.complete()
	require.Equal(t, v, s.held(4).Version)
	require.Equal(t, v, s.held(5).Version)
	s.requireNothingBesides()
}

// TestMembersThatJoinNeedNotSeeTheSameClear: v was acknowledged. One of its holders has cleared the slot, without a majority, when it shows this to a member
// that joins; the other member that joins has copied v before. Neither of the two states may be taken back once a client has seen it.
func TestMembersThatJoinNeedNotSeeTheSameClear(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(v, "v"), 1, 1, 3, 5)
	s.quiet(1, 2, 3, 4, 5)
	s.change(2, 6, 7)
	s.page(7, 1, 3, 5)
	s.page(7, 1, 3, 5)
	require.Equal(t, v, s.held(7).Version)
	s.tell(prepare(second), 2, 1, 2, 4, 6)
	s.tell(clearing(w), 2, 1)
	s.page(6, 1, 2, 4)
	s.page(6, 1, 2, 4)
	s.complete()
	s.requireNoMajorityWithout(v)
	_, readable := s.readable()
	require.False(t, readable, "a term has to decide")
}

// TestAClearThatTooFewKeep: those that cleared the slot leave, and those that stay have missed it.
func TestAClearThatTooFewKeep(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5)
	s.tell(clearing(v), 1, 3, 4, 5)
	s.late([]uint16{1, 2}, 6, 1, 2)
	s.requireNoMajorityWithout(v)
}

// TestAnAgreedClearIsCopied, and the floor is.
func TestAnAgreedClearIsCopied(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, ""), 1, 1, 2, 3)
	s.tell(purge(u), 1, 1, 2, 3)
	s.tell(clearing(v), 1, 1, 2)
	s.quiet(3)
	s.change(4, 2, 3)
	s.complete()
	s.requireNoMajorityWithout(v)
	require.Equal(t, v, s.nodes[4].acceptors[0].Meta().Cleared)
	require.False(t, s.nodes[4].acceptors[0].Meta().Unsure)
}

// TestAClearBetweenPages: a page shows nothing of v any more, for a clear of the joint epoch has removed it, which has come to no quorum of the new members.
func TestAClearBetweenPages(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 1, 2)
	s.quiet(1, 2, 3)
	s.change(4, 2, 3)
	s.page(4, 1, 2)
	s.tell(prepare(second), 2, 1, 2, 4)
	s.tell(clearing(w), 2, 1, 2)
	s.page(4, 1, 2)
	s.complete()
	s.requireNoMajorityWithout(v)
}

// TestAClearOfAFormerPage: the members that show the last page know nothing of the clear that has removed v where another page was shown.
func TestAClearOfAFormerPage(t *testing.T) {
	s := newScenario(t, 3)
	s.key = "a"
	s.tell(write(v, "v"), 1, 1, 2)
	s.quiet(1, 2, 3)
	s.change(4, 2, 3)
	s.tell(prepare(second), 2, 1, 3, 4)
	s.tell(clearing(w), 2, 1)
	s.page(4, 1, 3)
	s.page(4, 2, 3)
	s.complete()
	s.requireNoMajorityWithout(v)
}

// TestATransferKeepsFloors: what was purged everywhere is known to be older than that.
func TestATransferKeepsFloors(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, ""), 1, 1, 2, 3)
	s.tell(purge(u), 1, 1, 2, 3)
	s.change(4, 2, 3)
	s.complete()
	require.Equal(t, u, s.nodes[4].acceptors[0].Meta().Floor)
}

// TestATransferTakesAMajority: the only one that stays has missed what the others acknowledged.
func TestATransferTakesAMajority(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 3, 4, 5)
	s.late([]uint16{2, 3, 4, 5}, 6, 7, 1)
	s.requireNoMajorityWithout(u)
}

// TestWhatIsShownIsFenced: nothing of the old epoch is acknowledged by a member that has shown what it holds.
func TestWhatIsShownIsFenced(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.quiet(3)
	s.change(4, 2, 3)
	s.complete()
	require.Equal(t, register.StaleEpoch, s.tell(write(v, "u.v"), 1, 1).Result, "v is acknowledged, and the new members know nothing of it")
}

// TestALateCopyIsNotTaken: it comes when the change is over, and what it has was purged.
func TestALateCopyIsNotTaken(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.change(4, 2, 3)
	s.complete()
	s.tell(write(v, ""), 3, 2, 3, 4)
	s.tell(purge(v), 3, 2, 3, 4)
	c := s.nodes[4].collecting[0]
	c.wanted = map[string]record.Version{s.key: u}
	c.takeValue(s.key, record.Record{Version: u, State: record.State{Type: record.String, Value: []byte("u")}})
	s.runFor(200)
	require.Equal(t, "nil", show(s.held(4).State), "a deleted value is back")
}

// TestAllThatJoinHaveACopy: a change is not over before.
func TestAllThatJoinHaveACopy(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 1, 2)
	s.blocked[[2]uint16{0, 5}] = true
	change := s.change(4, 5, 3)
	s.runFor(1000)
	require.Same(t, change, s.changes[0], "node 5 has no copy")
	clear(s.blocked)
	s.complete()
	s.requireNoMajorityWithout(v)
}

// restarted ends and starts a process.
func (s scenario) restarted(n *node) {
	n.stop()
	n.boot()
}

// unheard keeps what has to be written again of the first page from all homes.
func (s scenario) unheard(c *collection) {
	s.t.Helper()
	require.Len(s.t, c.rewrites, 1)
	for id := range s.nodes {
		s.blocked[[2]uint16{c.node.id, uint16(id)}] = true
	}
	s.runFor(7) // it is on its way
	c.rewrites[0].sent = s.now + 1e6
	clear(s.blocked)
}

// TestAChangeWaitsForWhatIsWrittenAgain, and is given up if it is not.
func TestAChangeWaitsForWhatIsWrittenAgain(t *testing.T) {
	s := newScenario(t, 3)
	s.key = "a"
	s.tell(write(v, "v"), 1, 1, 2)
	s.tell(prepare(second), 1, 1, 2)
	s.tell(write(w, "v.w"), 1, 1)
	s.quiet(1, 2, 3)
	change := s.change(4, 1, 3)
	s.unheard(s.page(4, 1, 2))
	s.quiet(3)
	s.runFor(1000)
	require.Same(t, change, s.changes[0], "v is not written again")
	s.runFor(2000)
	require.Nil(t, s.changes[0])
	require.Equal(t, []uint16{1, 2, 3}, s.latest(0).members)
}

// TestACollectorStartsAgain in the middle: what has yet to be written again of a page is not forgotten.
func TestACollectorStartsAgain(t *testing.T) {
	s := newScenario(t, 3)
	s.key, s.notes = "a", true
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 1, 2)
	s.tell(prepare(second), 1, 1, 2)
	s.tell(write(w, "u.v.w"), 1, 1)
	s.quiet(1, 2, 3)
	s.change(4, 1, 3)
	s.unheard(s.page(4, 1, 2))
	s.page(4, 1, 2)
	s.restarted(s.nodes[4])
	s.quiet(3)
	s.complete()
	s.requireNoMajorityWithout(v)
}

// TestACollectorGoesOnWhereItWas: with what it has noted.
func TestACollectorGoesOnWhereItWas(t *testing.T) {
	s := newScenario(t, 3)
	s.key, s.notes = "a", true
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.quiet(1, 2, 3)
	s.change(4, 1, 3)
	s.page(4, 1, 2)
	s.runFor(200)
	s.restarted(s.nodes[4])
	s.runFor(200)
	require.Equal(t, 1, s.nodes[4].collecting[0].page)
	s.quiet()
	s.complete()
	s.requireNoMajorityWithout(u)
}

// TestWhoComesAgainIsEmpty: a member leaves a slot, and is one again when what it held has been deleted and purged.
func TestWhoComesAgainIsEmpty(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.quiet(3)
	s.change(4, 1, 2)
	s.complete()
	s.tell(write(v, ""), 3, 1, 2, 4)
	s.tell(purge(v), 3, 1, 2, 4)
	s.quiet(1, 2, 4)
	s.change(3, 1, 2)
	s.tell(prepare(second), 4, 3) // the first that it hears of the joint epoch
	s.quiet()
	s.complete()
	require.Equal(t, "nil", show(s.held(3).State), "a deleted value is back")
}

// TestWhoWasToJoinIsEmpty: the same of one that took part in a change that was given up.
func TestWhoWasToJoinIsEmpty(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.quiet(1, 2, 3)
	s.change(4, 1, 2)
	s.tell(write(v, "u.v"), 2, 4)
	s.endChange(0, []uint16{1, 2, 3}, "change-dropped")
	s.tell(prepare(second), 3, 1, 2, 3)
	s.tell(write(w, ""), 3, 1, 2, 3)
	s.tell(purge(w), 3, 1, 2, 3)
	s.quiet()
	s.change(4, 1, 2)
	s.complete()
	require.Equal(t, "nil", show(s.held(4).State), "a deleted value is back")
}

// TestANumberIsUsedAgain: what was sent to a former member is nothing to the one that has its number now.
func TestANumberIsUsedAgain(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.change(4, 1, 2)
	s.complete()
	s.nodes[3].stop()
	s.nodes[3].gone = true
	s.addNode(3)
	require.Equal(t, register.StaleEpoch, s.tell(write(v, "u.v"), 1, 3).Result)
	require.Equal(t, register.StaleEpoch, s.tell(prepare(second), 2, 3).Result)
}

// TestADoubtOutlivesAChange: a home's write is at one that leaves, and the home hears nothing of anybody until the final epoch. The write is copied, and
// counts once (R11).
func TestADoubtOutlivesAChange(t *testing.T) {
	s := newScenario(t, 3)
	home := s.nodes[2]
	home.timing.Request, home.timing.Slow = 5000, 5000
	ask := func(text string) *operation {
		o := &operation{client: s.clients[0], cmd: cmd{Name: "append", Key: s.key, Arg: text}, start: s.now}
		o.client.open++
		home.execute([]*operation{o}, []int{0}, register.AllOthers)
		s.runFor(200)
		return o
	}
	require.True(t, ask("u.").done)
	s.blocked[[2]uint16{1, 2}], s.blocked[[2]uint16{3, 2}], s.blocked[[2]uint16{2, 3}] = true, true, true
	doubtful := ask("v.")
	require.Equal(t, "u.v.", show(s.held(1).State))
	require.Equal(t, "u.", show(s.held(3).State))
	s.quiet(3)
	s.change(4, 2, 3)
	for s.latest(0).number == 1 || s.latest(0).joint() {
		require.False(t, doubtful.done)
		s.runFor(1)
	}
	s.complete()
	require.True(t, doubtful.done)
	require.Equal(t, "u.v.", s.history[1].Output)
	s.requireNoMajorityWithout(s.held(2).Version)
}

// TestAChangeIsGivenUp: what both majorities acknowledged is there, and what the old ones did.
func TestAChangeIsGivenUp(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.quiet(1, 2, 3)
	s.change(4, 5, 1)
	s.tell(write(v, "u.v"), 2, 1, 2, 4)
	s.endChange(0, []uint16{1, 2, 3}, "change-dropped")
	s.requireNoMajorityWithout(v)
}

// TestAnotherChangeAtOnce: those that join it collect from the old members, whatever became of the first one.
func TestAnotherChangeAtOnce(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 1, 2)
	s.quiet(1, 2, 3)
	former := s.change(4, 5, 3)
	s.page(4, 1, 2)
	s.change(5, 6, 3)
	s.quiet(3)
	s.complete()
	require.False(t, former.complete())
	s.requireNoMajorityWithout(v)
}
