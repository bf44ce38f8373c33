package consensus

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed of the random schedules")
	seeds     = flag.Int("seeds", 40, "how many random schedules")
)

// TestRandomSchedules: whatever happens, all logs are prefixes of one, what is acknowledged was applied once, what is said to have had no effect has
// none; and when all is well again, the group is complete and decides.
func TestRandomSchedules(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+uint64(*seeds); seed++ {
		s := newSim(t, seed, "a", "b", "c", "a", "b", "c")
		s.schedule(40 * time.Second)
		s.recover()
		if s.checkAll(); len(s.wrong) > 0 {
			t.Fatalf("seed %d is wrong; replay: go test ./node/consensus -run TestRandomSchedules -seed %d -seeds 1\n%s", seed, seed, strings.Join(s.wrong, "\n"))
		}
	}
}

// schedule breaks things for a while.
func (s *sim) schedule(d time.Duration) {
	s.loss, s.twice, s.delay, s.crashes = s.random.IntN(10), s.random.IntN(20), time.Duration(1+s.random.IntN(200))*time.Millisecond, s.random.IntN(20)
	for end := s.now.Add(d); s.now.Before(end); {
		s.run(time.Duration(s.random.IntN(300)) * time.Millisecond)
		n := s.nodes[s.random.IntN(len(s.nodes))]
		switch s.random.IntN(24) {
		case 0:
			if n.up {
				n.stop()
				s.after(time.Duration(s.random.IntN(5000))*time.Millisecond, n.restart)
			}
		case 1:
			s.isolate(n)
		case 2:
			s.cut[[2]uint64{n.id, s.nodes[s.random.IntN(len(s.nodes))].id}] = true
		case 3, 4:
			s.heal()
		case 5:
			if s.mayLose(n) {
				s.forget(n)
			}
		case 6:
			if len(s.members) > 4 && s.mayLose(n) {
				s.leave(n)
			}
		case 7:
			if len(s.members) < 8 {
				s.join(fmt.Sprintf("n%d", s.nextID+1), string(rune('a'+s.random.IntN(3))))
			}
		default:
			if n.up {
				s.proposals++
				text := fmt.Sprintf("%d from %s %s", s.proposals, n.name, strings.Repeat(".", s.random.IntN(500)))
				if s.random.IntN(20) == 0 {
					text = "refuse " + text
				}
				n.propose(text)
			}
		}
	}
}

// mayLose reports whether the group can go on without a node for ever: it has replaced all that it lost before, and all voters know.
func (s *sim) mayLose(n *simNode) bool {
	var newest *simNode
	for _, m := range s.nodes {
		if !m.lost && (newest == nil || m.knows > newest.knows || m.knows == newest.knows && m.core.confIndex > newest.core.confIndex) {
			newest = m
		}
	}
	members := newest.core.members()
	if n.lost || len(newest.core.conf.Voters) < 3 || len(newest.core.conf.VotersOutgoing) > 0 {
		return false
	}
	for _, m := range s.nodes {
		if slices.Contains(members, m.id) && (m.lost || m.knows != newest.knows || !slices.Equal(m.core.members(), members)) {
			return false
		}
	}
	return true
}

// recover mends everything and waits until all is well.
func (s *sim) recover() {
	s.heal()
	s.loss, s.twice, s.crashes, s.delay = 0, 0, 0, 5*time.Millisecond
	for _, n := range s.nodes {
		n.restart()
	}
	if !s.until(5*time.Minute, s.settled) {
		l := s.leader()
		if l == nil {
			s.fail("nobody leads")
			for _, m := range s.nodes {
				s.fail("%s (%d): lost %t, up %t, retired %t, heard %v, as of %d: %v, %+v", m.name, m.id, m.lost, m.up, m.core.retired(), m.core.heard, m.core.confIndex, m.core.conf, m.core.node.BasicStatus())
			}
			return
		}
		for _, m := range s.members {
			s.fail("%s (%d) is up %t, in group %d, has %d of %d, knows the members as of %d", m.name, m.id, m.up, m.knows, len(m.log), len(s.histories[m.knows].all()), m.core.confIndex)
		}
		s.fail("the group is not what it should be: voters %v, leaving %v, learners %v, wanted %v", l.core.conf.Voters, l.core.conf.VotersOutgoing, l.core.conf.Learners, Choose(l.core.conf.Voters, s.candidates()))
		return
	}
	for _, n := range s.members {
		text := fmt.Sprintf("last of %s %d", n.name, n.id)
		n.propose(text)
		if !s.until(time.Minute, func() bool { _, done := s.outcomes[text]; return done }) || s.outcomes[text] != nil {
			s.fail("when all is well %q comes to nothing: %v", text, s.outcomes[text])
		}
	}
	if !s.until(time.Minute, s.settled) {
		s.fail("voters do not have all")
	}
}

// TestOneSeedIsOneHistory: what a seed has found, it finds again.
func TestOneSeedIsOneHistory(t *testing.T) {
	history := func() string {
		s := newSim(t, 7, "a", "b", "c", "a", "b", "c")
		s.schedule(40 * time.Second)
		s.recover()
		return fmt.Sprint(s.count, s.sent, s.now, s.histories[0].all())
	}
	require.Equal(t, history(), history())
}
