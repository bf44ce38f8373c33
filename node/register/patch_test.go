package register

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// smallHash leaves process 1 leading, and a hash with a field f at all members that is long enough for its changes to travel as deltas, and short enough
// to be overwritten where it is.
func smallHash(t *testing.T) *cluster {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "hset k wide "+strings.Repeat("w", 400)+" f 1 g 1")
	c.run()
	c.done(set, ":3\r\n")
	c.sent = nil
	return c
}

// requireSame requires that members have the same of the key, under one version.
func (c *cluster) requireSame(members ...uint16) {
	helper(c.t)
	want := c.process(members[0]).store.records["k"]
	for _, id := range members[1:] {
		require.Equal(c.t, want, c.process(id).store.records["k"], "process %d", id)
	}
}

// TestAFieldThatStaysAsLongIsAPatch: neither the home nor a replica makes the value, or is sent it.
func TestAFieldThatStaysAsLongIsAPatch(t *testing.T) {
	c := smallHash(t)
	before := bytes.Clone(c.process(1).store.records["k"].State.Value)
	set := c.ask(1, "hset k f 2")
	require.Len(t, c.sent, 2)
	for _, m := range c.sent {
		require.True(t, m.IsDelta)
		require.Zero(t, m.State)
		_, n, patches := record.PatchPlace(m.Delta)
		require.True(t, patches)
		require.Equal(t, 1, n)
	}
	c.run()
	c.done(set, ":0\r\n")
	c.requireSame(1, 2, 3)
	require.Equal(t, strings.Replace(string(before), "f\x011", "f\x012", 1), c.value(3, "k"))

	longer := c.ask(1, "hset k f 33")
	_, _, patches := record.PatchPlace(c.sent[len(c.sent)-1].Delta)
	require.False(t, patches, "the hash grows")
	c.run()
	c.done(longer, ":0\r\n")
	c.requireSame(1, 2, 3)
}

// TestAReplicaThatLagsIsNotPatched: it has another value, in which the place is that of something else, and is sent the whole head, which the
// home takes from its own replica.
func TestAReplicaThatLagsIsNotPatched(t *testing.T) {
	c := smallHash(t)
	longer := c.ask(1, "hset k wide x") // 3 misses it
	c.run(1, 2)
	c.done(longer, ":0\r\n")
	grown := c.ask(1, "hset k wide "+strings.Repeat("y", 300))
	c.run(1, 2)
	c.done(grown, ":0\r\n")
	c.lose()

	set := c.ask(1, "hset k f 2")
	c.run(1, 2)
	c.done(set, ":0\r\n")
	reply := c.one(Accept, 3)
	require.Equal(t, NeedFull, reply.Result)
	c.process(1).reply(&reply)
	c.run()
	c.requireSame(1, 2, 3)
}

// TestPatchesOfOneStep: what waits for the term is evaluated at once, each on what the one before has made, which no replica holds yet.
func TestPatchesOfOneStep(t *testing.T) {
	c := smallHash(t)
	c.process(1).stepDown()
	c.advance(testTiming.Backoff + 1)
	var asked []*asked
	for _, words := range []string{"hset k f 2", "hget k f", "hset k g 3", "hset k f 4", "hset k f 55", "hset k g 6", "hget k f"} {
		asked = append(asked, c.ask(1, words))
	}
	c.open(asked...)
	c.run()
	for i, reply := range []string{":0\r\n", "$1\r\n2\r\n", ":0\r\n", ":0\r\n", ":0\r\n", ":0\r\n", "$2\r\n55\r\n"} {
		c.done(asked[i], reply)
	}
	c.requireSame(1, 2, 3)
	require.Contains(t, c.value(2, "k"), "f\x0255\x01g\x016")
}

// TestAHeadIsNotShownOfAnotherTerm: the home looks into its own replica for the value of its head. When that has taken a rival's write the term is
// over, though nobody has told the home, and the rival's value is not the head's.
func TestAHeadIsNotShownOfAnotherTerm(t *testing.T) {
	c := smallHash(t)
	set := c.ask(1, "hset k f 2")
	c.process(1).slow = true
	reply := c.one(Accept, 3)
	reply.Result = NeedFull
	c.lose()
	b := rival(3)
	m := Message{Kind: Accept, To: 1, From: 3, Epoch: 1, Ballot: b, Version: record.Version{Ballot: b, Seq: 1}, Change: record.Change{Key: []byte("k"), State: text("of the rival")}}
	require.NoError(t, execute(c.process(1).acceptor, &m, new(Message)))
	c.sent = nil
	c.process(1).reply(&reply)
	for _, m := range c.sent {
		require.NotEqual(t, Accept, m.Kind, "%s is sent as %v", m.State.Value, m.Version)
	}
	require.False(t, c.home(1).Leading())
	c.open(set)
}
