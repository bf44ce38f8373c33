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
	change := s.beginChange([]uint16{2, 3}, 1)
	s.tell(prepare(second), 2, 1, 2, 4)
	require.Equal(t, u, s.tell(syncRead(second), 2, 4, 1, 2).Held)
	for _, id := range change.old {
		s.nodes[id].showAll(change)
	}
	s.runFor(200)
	require.Len(t, change.shown, 3)
	s.tell(write(w, "u.w"), 2, 2)
	change.step()
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
	s.unreachable(2)
	s.beginChange([]uint16{2, 3}, 1).step()
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
	s.unreachable(3)
	s.beginChange([]uint16{1, 3}, 1).step()
	s.complete()
	s.requireNoMajorityWithout(v)
}

// joinOne has one member join those that stay, and ends the change; some members cannot be reached at first.
func (s scenario) joinOne(stay []uint16, late ...uint16) {
	s.unreachable(late...)
	s.beginChange(stay, 1).step()
	s.runFor(500)
	s.unreachable()
	s.complete()
}

// TestWhatTooFewKeepIsWrittenAgain: those that acknowledged v leave, and one joins: its copy is no majority.
func TestWhatTooFewKeepIsWrittenAgain(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5)
	s.tell(write(v, "u.v"), 1, 3, 4, 5)
	s.joinOne([]uint16{1, 2}, 1, 2)
	s.requireNoMajorityWithout(v)
}

// TestWhatTooFewKeepOfAPromise: the same of a promise, in a slot without keys.
func TestWhatTooFewKeepOfAPromise(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(prepare(second), 1, 3, 4, 5)
	s.beginChange([]uint16{1, 2}, 1).step()
	s.complete()
	s.requirePromised(second)
}

// TestATransferKeepsPromises: an older term cannot be had in the next epoch.
func TestATransferKeepsPromises(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(prepare(second), 1, 1, 2)
	s.unreachable(3)
	s.beginChange([]uint16{2, 3}, 1).step()
	s.complete()
	s.requirePromised(second)
}

func (s scenario) requirePromised(b record.Ballot) {
	s.t.Helper()
	without := 0
	for _, id := range s.latest().members {
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
	s.joinOne([]uint16{2, 3}, 3)
	s.requireNoMajorityWithout(v)
	require.False(t, s.nodes[4].acceptors[0].Meta().Floor.Less(w), "a request in doubt has to be told of the clear")
}

// TestAClearThatTooFewKeep: those that cleared the slot leave, and those that stay have missed it.
func TestAClearThatTooFewKeep(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 1, 2, 3, 4, 5)
	s.tell(clearing(v), 1, 3, 4, 5)
	s.joinOne([]uint16{1, 2}, 1, 2)
	s.requireNoMajorityWithout(v)
}

// TestAnAgreedClearIsCopied, and the floor is.
func TestAnAgreedClearIsCopied(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, ""), 1, 1, 2, 3)
	s.tell(purge(u), 1, 1, 2, 3)
	s.tell(clearing(v), 1, 1, 2)
	s.unreachable(3)
	s.beginChange([]uint16{2, 3}, 1).step()
	s.complete()
	s.requireNoMajorityWithout(v)
	require.Equal(t, v, s.nodes[4].acceptors[0].Meta().Cleared)
}

// TestATransferKeepsFloors: what was purged everywhere is known to be older than that.
func TestATransferKeepsFloors(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, ""), 1, 1, 2, 3)
	s.tell(purge(u), 1, 1, 2, 3)
	s.beginChange([]uint16{2, 3}, 1).step()
	s.complete()
	require.Equal(t, u, s.nodes[4].acceptors[0].Meta().Floor)
}

// TestATransferTakesAMajority: the only one that stays has missed what the others acknowledged.
func TestATransferTakesAMajority(t *testing.T) {
	s := newScenario(t, 5)
	s.tell(write(u, "u"), 1, 3, 4, 5)
	s.unreachable(2, 3, 4, 5)
	s.beginChange([]uint16{1}, 2).step()
	s.runFor(500)
	s.unreachable()
	s.complete()
	s.requireNoMajorityWithout(u)
}

// TestWhatIsShownIsFenced: nothing of the old epoch is acknowledged by a member that has shown what it holds.
func TestWhatIsShownIsFenced(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	change := s.beginChange([]uint16{2, 3}, 1)
	s.unreachable(3)
	change.step()
	s.complete()
	require.Equal(t, register.StaleEpoch, s.tell(write(v, "u.v"), 1, 1).Result, "v is acknowledged, and the new members know nothing of it")
}

// TestALateCopyIsNotTaken: it comes when the change is over, and what it has was purged.
func TestALateCopyIsNotTaken(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	change := s.beginChange([]uint16{2, 3}, 1)
	change.step()
	s.complete()
	s.tell(write(v, ""), 3, 2, 3, 4)
	s.tell(purge(v), 3, 2, 3, 4)
	s.nodes[4].fill(change)
	s.runFor(200)
	require.Equal(t, "nil", show(s.held(4).State), "a deleted value is back")
}

// TestAllThatJoinHaveACopy: a change is not over before.
func TestAllThatJoinHaveACopy(t *testing.T) {
	s := newScenario(t, 3)
	s.tell(write(u, "u"), 1, 1, 2, 3)
	s.tell(write(v, "u.v"), 1, 1, 2)
	change := s.beginChange([]uint16{3}, 2)
	s.unreachable(5)
	change.step()
	s.runFor(1000)
	require.Same(t, change, s.change, "node 5 has no copy")
	s.unreachable()
	s.complete()
	s.requireNoMajorityWithout(v)
}
