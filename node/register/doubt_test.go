package register

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// inDoubt lets process 1 lead, sends the accepts of some commands nowhere but to its
// own replica and to those named, and then takes the term from it by promises of a
// majority. The own replica's messages are held until c.process(1).slow is unset.
func inDoubt(t *testing.T, reached []uint16, words ...string) (*cluster, []*asked) {
	c := newCluster(t, 3)
	c.lead(1)
	c.process(1).slow = true
	var requests []*asked
	for _, w := range words {
		requests = append(requests, c.ask(1, w))
	}
	c.propose()
	for _, id := range reached {
		for _, w := range words {
			if !strings.HasPrefix(w, "get ") {
				c.one(Accept, id) // its reply is lost
			}
		}
	}
	c.lose()
	c.process(1).loop = nil
	c.depose()
	require.False(t, c.home(1).Leading())
	require.Equal(t, len(words), c.home(1).doubt)
	c.open(requests...)
	return c, requests
}

// depose lets process 1 find out that a rival has the promises of 2 and 3.
func (c *cluster) depose() {
	helper(c.t)
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2, 3)
	c.advance(testTiming.Resend) // sends again, and is refused
	c.run()
	c.lose()
	c.sent = nil
}

// sends returns what was proposed to a member, as "key=value" with "Δ" for a delta.
func (c *cluster) proposed(to uint16) []string {
	var list []string
	for _, m := range c.sent {
		switch {
		case m.To != to || m.Kind != Accept:
		case m.IsDelta:
			list = append(list, string(m.Key)+"=Δ")
		default:
			list = append(list, string(m.Key)+"="+string(m.State.Value))
		}
	}
	return list
}

func TestR11Included(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2}, "append k v")
	c.process(1).slow = false
	c.advance(testTiming.Backoff + 1)
	c.run()
	require.Equal(t, 1, c.events[ResolvedIncluded])
	require.Equal(t, []string{"k=v"}, c.proposed(3), "the identity write")
	c.done(asked[0], ":1\r\n")
	rec := c.process(3).store.records["k"]
	require.Equal(t, "v", string(rec.State.Value), "once")
	require.Equal(t, c.home(1).ballot, rec.Version.Ballot, "under the new term")
}

func TestR11TheAnswerWaitsForTheIdentityWrite(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2, 3}, "append k v")
	c.process(1).slow = false
	c.advance(testTiming.Backoff + 1)
	for _, kind := range []Kind{Prepare, SyncRead} {
		c.run(1)
		reply := c.one(kind, 2)
		c.process(1).reply(&reply)
	}
	c.run(1)
	require.Equal(t, 1, c.events[ResolvedIncluded])
	c.open(asked...) // 2 and 1 hold the old version; the new one only 1
	c.run(1, 3)
	c.done(asked[0], ":1\r\n")
}

func TestR11IncludedBelowALaterOneOfTheTerm(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2, 3}, "append k 1", "append k 2")
	c.process(1).slow = false
	c.advance(testTiming.Backoff + 1)
	c.run()
	require.Equal(t, 2, c.events[ResolvedIncluded])
	c.done(asked[0], ":1\r\n")
	c.done(asked[1], ":2\r\n")
}

func TestR11NotIncludedIsDoneAgain(t *testing.T) {
	c, asked := inDoubt(t, nil, "append k v")
	c.put(1, "k", text("base-"), 2, 3)
	c.advance(testTiming.Backoff + 1)
	c.run() // a quorum without the own replica, which holds the attempt
	require.Equal(t, 1, c.events[ResolvedRedo])
	require.Equal(t, []string{"k=base-", "k=base-v"}, c.proposed(2), "the identity write comes first")
	c.done(asked[0], ":6\r\n")
	c.process(1).slow = false
	c.run()
	require.Equal(t, "base-v", c.value(1, "k"))
}

func TestR11ReadsAndBlindWritesBehindADoubt(t *testing.T) {
	c, asked := inDoubt(t, nil, "set k mine")
	set, get := c.ask(1, "set k later"), c.ask(1, "get k")
	c.failed(set, NotDone, LostTerm, 0) // nobody overtakes who was just turned away
	c.failed(get, NotDone, LostTerm, 0)
	c.mono += testTiming.Backoff + 1
	set, get = c.force(1, "set k later"), c.force(1, "get k")
	require.Equal(t, "prepare", c.kinds(2))
	c.run()
	require.Contains(t, c.kinds(2), "sync-read", "also before blind writes")
	c.process(1).slow = false
	c.run()
	c.done(asked[0], "+OK\r\n")
	c.done(set, "+OK\r\n")
	c.done(get, "$5\r\nlater\r\n")
}

// TestR11ReadsBeforeADoubt are in doubt with the write that their client sent behind them: what they found is the answer if that is included, and they are executed
// again before it if not.
func TestR11ReadsBeforeADoubt(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2}, "append k 1", "get k", "append k 2")
	c.process(1).slow = false
	c.advance(testTiming.Backoff + 1)
	c.run()
	require.Equal(t, 3, c.events[ResolvedIncluded])
	c.done(asked[1], "$1\r\n1\r\n")
	c.done(asked[2], ":2\r\n")

	c, asked = inDoubt(t, nil, "append k 1", "get k", "append k 2")
	c.put(1, "k", text("base-"), 2, 3)
	c.advance(testTiming.Backoff + 1)
	c.run()
	require.Equal(t, 3, c.events[ResolvedRedo])
	c.done(asked[1], "$6\r\nbase-1\r\n")
	c.done(asked[2], ":7\r\n")

	c, asked = inDoubt(t, nil, "append k 1", "get k", "append k 2")
	c.process(1).learn(NewConfig(2, []uint16{2, 3}, nil))
	c.failed(asked[1], NotDone, EpochChanged, 0)
	c.failed(asked[2], Unknown, EpochChanged, 0)
}

func TestR11Foreign(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2}, "append k v")
	c.by(write(rival(3), 1, "k", "vw"), 2, 3) // a rival may have built on it, or not
	c.advance(testTiming.Backoff + 1)
	c.run()
	c.failed(asked[0], Unknown, LostTerm, 0)
	require.Equal(t, []int{1, 1}, []int{c.events[ResolvedUnknown], c.events[AnsweredUnknown]})
	require.Equal(t, "vw", c.value(2, "k"), "not done again")
}

func TestR11Purged(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2}, "append k v")
	c.by(write(rival(3), 1, "k", ""), 1, 2, 3) // a rival deleted it, all held that, and it is forgotten
	gone := write(rival(3), 1, "k", "")
	gone.Kind = Purge
	c.by(gone, 1, 2, 3)
	require.NotContains(t, c.process(1).store.records, "k")
	c.process(1).slow = false
	c.advance(testTiming.Backoff + 1)
	c.run()
	c.failed(asked[0], Unknown, LostTerm, 0)
	require.Equal(t, 1, c.events[ResolvedUnknown])
}

func TestR11ALaterFloorOfAnotherKeyIsEnoughForDoubt(t *testing.T) {
	c, asked := inDoubt(t, nil, "append k v") // k is absent, and the floor is not k's
	c.by(write(rival(3), 1, "other", ""), 1, 2, 3)
	gone := write(rival(3), 1, "other", "")
	gone.Kind = Purge
	c.by(gone, 1, 2, 3)
	c.advance(testTiming.Backoff + 1)
	c.run() // a quorum without the own replica
	c.failed(asked[0], Unknown, LostTerm, 0)
}

func TestR11DoubtOverSeveralTerms(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2, 3}, "append k v")
	c.process(1).slow = false
	for term := range uint64(3) {
		c.advance(testTiming.Backoff + 1)
		for _, kind := range []Kind{Prepare, SyncRead} {
			c.run(1)
			reply := c.one(kind, 2)
			c.process(1).reply(&reply)
		}
		c.run(1)
		require.EqualValues(t, term+1, c.events[ResolvedIncluded])
		c.lose() // the identity write reached the own replica only
		b := rival(3)
		b.Counter += term + 1
		c.by(Message{Kind: Prepare, Ballot: b}, 2, 3)
		c.advance(testTiming.Resend)
		c.run()
		c.open(asked...)
	}
	c.advance(testTiming.Backoff + 1)
	c.run()
	c.done(asked[0], ":1\r\n")
	require.Equal(t, "v", c.value(3, "k"))
}

func TestR11AHomeThatLeftAnswersUnknown(t *testing.T) {
	c, asked := inDoubt(t, nil, "append k v")
	c.process(1).learn(NewConfig(2, []uint16{2, 3}, nil))
	c.failed(asked[0], Unknown, EpochChanged, 0)
	get := c.ask(1, "get k")
	c.failed(get, NotDone, NotMember, 0)
}

func TestR11DoubtExpires(t *testing.T) {
	c, asked := inDoubt(t, nil, "append k v")
	c.wall, c.mono = c.wall+testTiming.Request, c.mono+testTiming.Request
	c.advance(1)
	c.failed(asked[0], Unknown, NoQuorum, 0)
	require.Zero(t, c.home(1).doubt)
	c.advance(1000)
	require.False(t, c.home(1).Active())
}

func TestR11NothingExpiredIsKeptInDoubt(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k v")
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2, 3)
	c.mono += testTiming.Request + 1
	c.run()
	c.failed(set, Unknown, LostTerm, 0)
}

func TestMatching(t *testing.T) {
	attempts := []attempt{{version: version(3, 5), start: 1}, {version: version(6, 2), start: 2}, {version: version(6, 4), start: 3}}
	for _, test := range []struct {
		found    record.Version
		match    int // start of the attempt, 0 for none
		sameTerm bool
	}{
		{version(3, 4), 0, true}, {version(3, 5), 1, true}, {version(3, 9), 1, true},
		{version(4, 9), 0, false}, {version(6, 1), 0, true}, {version(6, 3), 2, true},
		{version(6, 4), 3, true}, {version(7, 1), 0, false}, {record.Version{}, 0, false},
	} {
		match, sameTerm := matching(attempts, test.found)
		require.Equal(t, test.sameTerm, sameTerm, test.found)
		if test.match == 0 {
			require.Nil(t, match, test.found)
		} else {
			require.NotNil(t, match, test.found)
			require.Equal(t, test.match, match.start, test.found)
		}
	}
}
