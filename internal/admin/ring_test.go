package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// ringer is a Backend whose ring is a document that it changes by itself.
type ringer struct {
	fake
	document change.Document
	dead     map[string]bool
	broken   error // of ProposeRing
	proposed int
	looked   int // at the size of a slot, or whether a member is alive, by the last RingView
}

func (r *ringer) RingView(context.Context) (RingView, error) {
	r.looked = 0
	return RingView{Document: r.document, Self: "n1", SlotBytes: func(uint16) int64 { r.looked++; return 1 << 20 }, Alive: func(id uint16) bool {
		r.looked++
		l, _ := r.document.Member(id)
		return !r.dead[l.Name]
	}}, r.err
}

func (r *ringer) ProposeRing(_ context.Context, entry change.Entry) error {
	if r.broken != nil {
		return r.broken
	}
	r.proposed++
	d, err := change.Apply(r.document, entry, 1_900_000_000_000)
	if err != nil {
		return Conflict(err.Error())
	}
	r.document = d
	return nil
}

// ringOf is a ring of n1, n2 ..., and of others that wait to join.
func ringOf(t *testing.T, members, waiting int) *ringer {
	c := ring.Cluster{Name: "quoll", Epoch: 1, Replicas: 3}
	for i := range members {
		c.Members = append(c.Members, ringMember(i+1))
	}
	d, err := change.FromCluster(c)
	require.NoError(t, err)
	r := &ringer{document: d, dead: map[string]bool{}}
	for i := range waiting {
		m := ringMember(members + i + 1)
		require.NoError(t, r.ProposeRing(t.Context(), change.Entry{By: m.Name, Join: &change.Join{Member: m}}))
	}
	r.proposed = 0
	return r
}

func ringMember(n int) ring.Member {
	return ring.Member{ID: uint16(n), Name: fmt.Sprintf("n%d", n), Peer: fmt.Sprintf("10.0.0.%d:7000", n), Weight: 1, Generation: uint64(n)}
}

func staged(t *testing.T, words string) []change.Staged {
	changes, err := ParseChanges(strings.Fields(words))
	require.NoError(t, err)
	return changes
}

func TestParseChanges(t *testing.T) {
	for words, want := range map[string][]change.Staged{
		"":                                nil,
		"join n4":                         {{Kind: change.JoinMember, Name: "n4"}},
		"join n4 leave n2":                {{Kind: change.JoinMember, Name: "n4"}, {Kind: change.LeaveMember, Name: "n2"}},
		"leave join":                      {{Kind: change.LeaveMember, Name: "join"}},
		"replace n2 n5 weight n3 2":       {{Kind: change.ReplaceMember, Name: "n2", By: "n5"}, {Kind: change.SetWeight, Name: "n3", Number: 2}},
		"rack n3 r2 rack n4 - replicas 5": {{Kind: change.SetRack, Name: "n3", By: "r2"}, {Kind: change.SetRack, Name: "n4"}, {Kind: change.SetReplicas, Number: 5}},
	} {
		got, err := ParseChanges(strings.Fields(words))
		require.NoError(t, err, words)
		require.Equal(t, want, got, words)
		var again []string
		for _, s := range got {
			again = append(again, SayChange(s))
		}
		require.Equal(t, words, strings.Join(again, " "))
		require.Equal(t, WordVerb, NextRingWord(strings.Fields(words)))
	}
	for words, want := range map[string]string{
		"jion n4":     `"jion" is no change of the ring: join, leave, replace, weight, rack or replicas; did you mean join?`,
		"join":        "join: the name of a node that waits to join is missing",
		"replace n2":  "replace n2: the name of a node that waits to join is missing",
		"weight n2 x": `weight n2 x: "x" is not a weight: from 1 to 1000000`,
		"replicas 8":  `replicas 8: "8" is not a number of replicas: from 1 to 7`,
		"join n4 x y": `"x" is no change of the ring: join, leave, replace, weight, rack or replicas`,
	} {
		_, err := ParseChanges(strings.Fields(words))
		require.EqualError(t, err, want, words)
	}
	for words, want := range map[string]RingWord{"replace": WordMember, "replace a": WordWaiting, "join": WordWaiting, "join a weight b": WordWeight, "rack a": WordRack, "replicas": WordReplicas} {
		require.Equal(t, want, NextRingWord(strings.Fields(words)), words)
	}
}

// TestARingIsChanged: staged, looked at, committed, carried out, by its words.
func TestARingIsChanged(t *testing.T) {
	r := ringOf(t, 3, 1)
	c := client(t, serve(t, r, "hush").URL, "hush")
	ops := RingOption{By: "ops"}

	plan, err := c.RingPlan(t.Context())
	require.NoError(t, err)
	require.Equal(t, RingPlan{Waiting: []string{"n4"}}, plan)

	dry, err := c.StageRing(t.Context(), staged(t, "join n4 weight n3 2"), RingOption{DryRun: true})
	require.NoError(t, err)
	require.Zero(t, r.proposed)
	require.Empty(t, r.document.Staged)
	require.True(t, dry.DryRun)
	require.Equal(t, []string{"join n4", "weight n3 2"}, dry.Changes)

	plan, err = c.StageRing(t.Context(), staged(t, "join n4"), ops)
	require.NoError(t, err)
	require.NotEmpty(t, plan.ID)
	require.Empty(t, plan.Waiting)
	p := plan.Preview
	require.InDelta(t, 12288, p.Copies, 1000, "about a quarter of all replicas")
	require.Equal(t, int64(p.Copies)<<20, p.Bytes)
	require.Equal(t, int64(change.DefaultRate), p.Rate)
	require.Equal(t, (p.Bytes+p.Rate-1)/p.Rate, p.Seconds, "one node receives it all")
	require.Len(t, p.Moves, 3)
	require.Equal(t, "n4", p.Moves[0].To)
	require.Equal(t, RingShare{Name: "n4", SlotsAfter: p.Copies, HomesAfter: p.Nodes[3].HomesAfter, BytesAfter: p.Bytes, BytesReceived: p.Bytes}, p.Nodes[3])
	require.Equal(t, []RingSurvival{{1, 0}, {1, 0}}, []RingSurvival{p.Before, p.After})

	_, err = c.CommitRing(t.Context(), "00000000", "", ops)
	require.ErrorContains(t, err, "that is another plan: the ring, or what is staged, has changed since; look at the plan again")
	would, err := c.CommitRing(t.Context(), plan.ID, "", RingOption{DryRun: true})
	require.NoError(t, err)
	require.True(t, would.DryRun)
	require.Equal(t, plan.ID, would.Plan.ID)
	require.Nil(t, r.document.Plan)

	status, err := c.CommitRing(t.Context(), plan.ID, "", ops)
	require.NoError(t, err)
	require.Equal(t, "n1", status.Seen)
	require.Equal(t, RingMember{Name: "n4", ID: 4, Peer: "10.0.0.4:7000", State: "joining", Alive: true, Weight: 1}, status.Members[3])
	require.Equal(t, []any{plan.ID, "ops", []string{"join n4"}, 0, p.Bytes}, []any{status.Plan.ID, status.Plan.By, status.Plan.Changes, status.Plan.Moved, status.Plan.Bytes})

	// Some slots move, one of them is done.
	wave := change.NextWave(r.document, change.Limits{Joint: 10, Alive: change.Alive})
	require.NoError(t, r.ProposeRing(t.Context(), change.Entry{Begin: &change.Begin{Plan: plan.ID, Slots: wave}}))
	joint := r.document.Joint[0]
	require.NoError(t, r.ProposeRing(t.Context(), change.Entry{Complete: &change.Complete{Member: 4, Slots: []change.SlotEpoch{{Slot: joint.Slot, Epoch: r.document.Slots[joint.Slot].Epoch}}}}))
	status, err = c.Ring(t.Context())
	require.NoError(t, err)
	require.Equal(t, []any{1, 9, int64(1 << 20)}, []any{status.Plan.Moved, status.Plan.Moving, status.Plan.BytesDone})
	require.LessOrEqual(t, r.looked, status.Plan.Slots+10, "who waits for a plan asks twice a second, and looks at each slot once")
	done, moving := 0, 0
	for _, m := range status.Plan.Moves {
		done, moving = done+m.Done, moving+m.Moving
	}
	require.Equal(t, []int{1, 9}, []int{done, moving})

	status, err = c.AbortRing(t.Context(), plan.ID, false, ops)
	require.NoError(t, err)
	require.True(t, status.Plan.Aborting)
	require.Equal(t, status.Plan.Slots-1, status.Plan.Moved)
	require.Equal(t, 1, status.Plan.Moves[0].Slots, "only what has moved moves back")
	status, err = c.AbortRing(t.Context(), plan.ID, true, ops)
	require.NoError(t, err)
	require.False(t, status.Plan.Aborting)

	events, err := c.RingHistory(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"n4 asks to join", "stages join n4", "commits plan " + plan.ID + ": join n4", "aborts plan " + plan.ID, "goes on with plan " + plan.ID}, whats(events))
	require.Equal(t, []string{"n4", "ops", "ops", "ops", "ops"}, []string{events[0].By, events[1].By, events[2].By, events[3].By, events[4].By})
}

func whats(events []RingEvent) (all []string) {
	for _, e := range events {
		all = append(all, e.What)
	}
	return all
}

func TestARingIsHeldAndGoesOn(t *testing.T) {
	r := ringOf(t, 3, 1)
	c := client(t, serve(t, r, "").URL, "")
	status, err := c.PauseRing(t.Context(), RingOption{})
	require.NoError(t, err)
	require.True(t, status.Paused)
	_, err = c.PauseRing(t.Context(), RingOption{})
	require.ErrorContains(t, err, "it is so already")
	status, err = c.ResumeRing(t.Context(), RingOption{})
	require.NoError(t, err)
	require.False(t, status.Paused)
	status, err = c.RateRing(t.Context(), 10<<20, RingOption{})
	require.NoError(t, err)
	require.Equal(t, int64(10<<20), status.Rate)
	status, err = c.RateRing(t.Context(), 0, RingOption{})
	require.NoError(t, err)
	require.Equal(t, int64(50<<20), status.Rate)
	_, err = c.RateRing(t.Context(), 5, RingOption{})
	require.ErrorContains(t, err, "bytes: give a number of bytes a second, at least 65536, or 0 for the default")
	status, err = c.ForgetRing(t.Context(), "n4", RingOption{By: "ops"})
	require.NoError(t, err)
	require.Len(t, status.Members, 3)
}

// TestWhatIsRefusedChangesNothing: neither the first of several changes of which one can't be, nor anything in a dry run.
func TestWhatIsRefusedChangesNothing(t *testing.T) {
	r := ringOf(t, 3, 1)
	server := serve(t, r, "")
	c := client(t, server.URL, "")
	for words, want := range map[string]string{
		"join n4 leave n9":       `leave n9: "n9": no such member: look at the names in the ring's status`,
		"join n3":                "join n3: n3: it does not wait to join: start it with --join first",
		"replace n4 n2":          "n4: it is not a member",
		"join n4 replace n2 n4":  "another change of it is staged: clear that one first",
		"leave n1 replace n1 n4": "another change of it is staged",
	} {
		_, err := c.StageRing(t.Context(), staged(t, words), RingOption{})
		require.ErrorContains(t, err, want)
	}
	require.Zero(t, r.proposed)
	plan, err := c.StageRing(t.Context(), staged(t, "replicas 5"), RingOption{})
	require.NoError(t, err)
	require.Empty(t, plan.ID)
	require.Contains(t, plan.Problem, "5 replicas")
	_, err = c.CommitRing(t.Context(), "1", "", RingOption{})
	require.ErrorContains(t, err, plan.Problem)
	_, err = c.ClearRing(t.Context(), "n4", RingOption{})
	require.ErrorContains(t, err, "no change is staged")
	plan, err = c.ClearRing(t.Context(), "", RingOption{})
	require.NoError(t, err)
	require.Empty(t, plan.Changes)
	_, err = c.CommitRing(t.Context(), "1", "", RingOption{})
	require.ErrorContains(t, err, "no change is staged")
	_, err = c.AbortRing(t.Context(), "1", false, RingOption{})
	require.ErrorContains(t, err, "no plan is under way")

	r.broken = errors.New("the group that decides rings has no majority")
	_, err = c.PauseRing(t.Context(), RingOption{})
	require.ErrorContains(t, err, "the group that decides rings has no majority")
	r.err = errors.New("there is no ring yet")
	_, err = c.Ring(t.Context())
	require.ErrorContains(t, err, "there is no ring yet")

	_, err = client(t, serve(t, &fake{}, "").URL, "").Ring(t.Context())
	require.ErrorContains(t, err, "this process takes no part in the ring: give the admin address of a node")
	for query, want := range map[string]int{
		"plan":                                 http.StatusBadRequest,
		"plan?change=jion+n4":                  http.StatusBadRequest,
		"pause?dry-run=x":                      http.StatusBadRequest,
		"pause?by=" + strings.Repeat("x", 200): http.StatusBadRequest,
	} {
		require.Equal(t, want, postAs(t, serve(t, ringOf(t, 3, 0), "").URL+"/v1/ring/"+query, true), query)
	}
	require.Equal(t, http.StatusForbidden, postAs(t, server.URL+"/v1/ring/pause", false), "without a secret it has to be meant")
}

func postAs(t *testing.T, url string, deliberate bool) int {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, http.NoBody)
	require.NoError(t, err)
	if deliberate {
		r.Header.Set(DeliberateHeader, "1")
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

// TestTwoOfThreeAreDead: what is lost is said, and accepted by the cluster's name only.
func TestTwoOfThreeAreDead(t *testing.T) {
	r := ringOf(t, 3, 2)
	r.dead["n2"], r.dead["n3"] = true, true
	c := client(t, serve(t, r, "").URL, "")
	plan, err := c.StageRing(t.Context(), staged(t, "replace n2 n4 replace n3 n5"), RingOption{})
	require.NoError(t, err)
	require.Len(t, plan.Loss, 1)
	require.Contains(t, plan.Loss[0], "n1 is the only live holder of 16384 slots")

	_, err = c.CommitRing(t.Context(), plan.ID, "", RingOption{})
	require.ErrorContains(t, err, "n1 is the only live holder of 16384 slots")
	_, err = c.CommitRing(t.Context(), plan.ID, "qoll", RingOption{})
	require.ErrorContains(t, err, `this cluster is not "qoll": nothing was done`)
	require.Nil(t, r.document.Plan)
	status, err := c.CommitRing(t.Context(), plan.ID, "quoll", RingOption{})
	require.NoError(t, err)
	require.True(t, status.Plan.LossAccepted)
	require.Empty(t, status.Plan.Stuck)
	require.Equal(t, []uint16{1}, r.document.Slots[0].Replicas)
}

// TestALossIsAcceptedLater: members die while a plan is under way.
func TestALossIsAcceptedLater(t *testing.T) {
	r := ringOf(t, 3, 2)
	c := client(t, serve(t, r, "").URL, "")
	plan, err := c.StageRing(t.Context(), staged(t, "replace n2 n4 replace n3 n5"), RingOption{})
	require.NoError(t, err)
	_, err = c.CommitRing(t.Context(), plan.ID, "", RingOption{})
	require.NoError(t, err)
	_, err = c.CommitRing(t.Context(), plan.ID, "quoll", RingOption{})
	require.ErrorContains(t, err, "nothing is lost by it")
	r.dead["n2"], r.dead["n3"] = true, true
	status, err := c.Ring(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Plan.Stuck, 1)
	status, err = c.CommitRing(t.Context(), plan.ID, "quoll", RingOption{})
	require.NoError(t, err)
	require.True(t, status.Plan.LossAccepted)
}
