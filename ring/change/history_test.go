package change

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRandomHistories applies entries of all kinds in any order, sensible ones and
// others, and checks every step: the document is valid; applying again gives the same;
// no slot but takes the steps that it may; no ID is given twice; and whoever has an
// earlier version, or one from between, gets the same document by a delta. In the end
// every plan can be carried out.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{t: t, d: first(t, rapid.IntRange(3, 6).Draw(t, "members"), rapid.IntRange(1, 3).Draw(t, "replicas")), ids: map[uint16]string{}}
		h.kept = []Document{h.d}
		h.lives()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step()
		}
		if h.d.Plan != nil && !h.canFinish() {
			return // what two of three members knew is gone, and nobody has accepted it
		}
		if h.d.Paused {
			h.d = do(t, h.d, Entry{Pause: &Pause{Off: true}})
		}
		d := carryOut(t, h.d)
		require.Nil(t, d.Plan)
		for _, l := range d.Members {
			require.NotEqual(t, Lost, l.State)
		}
	})
}

type history struct {
	t    *rapid.T
	d    Document
	kept []Document
	ids  map[uint16]string // name and generation by ID
	next int
}

func (h *history) lives() {
	for _, l := range h.d.Members {
		id := fmt.Sprintf("%s %d", l.Name, l.Generation)
		if was, known := h.ids[l.ID]; known {
			require.Equal(h.t, was, id)
		}
		h.ids[l.ID] = id
	}
}

func (h *history) step() {
	e := h.entry()
	next, err := Apply(h.d, e, int64(h.next))
	again, againErr := Apply(h.d, e, int64(h.next))
	require.Equal(h.t, err, againErr)
	require.Equal(h.t, next.Digest(), again.Digest())
	if err != nil {
		require.Equal(h.t, h.d.Version, next.Version)
		return
	}
	require.NoError(h.t, next.Validate())
	require.Equal(h.t, h.d.Version+1, next.Version)
	h.slots(next, e)
	before := h.d
	h.d = next
	h.lives()
	h.deltas(before)
	if len(h.kept) < 8 {
		h.kept = append(h.kept, next)
	}
}

// slots checks the steps of all slots.
func (h *history) slots(next Document, e Entry) {
	for slot, a := range h.d.Slots {
		b := next.Slots[slot]
		same := slices.Equal(a.Replicas, b.Replicas)
		switch {
		case a.Epoch == b.Epoch && same && slices.Equal(a.Next, b.Next):
			continue
		case b.Epoch != next.Version:
			h.t.Fatalf("slot %d changed, and has epoch %d in version %d", slot, b.Epoch, next.Version)
		case e.Begin != nil && a.Next == nil && same && b.Next != nil:
		case e.Begin != nil && a.Next == nil && b.Next == nil && len(Collectors(a.Replicas, b.Replicas)) == 0:
		case e.Complete != nil && a.Next != nil && b.Next == nil && slices.Equal(a.Next, b.Replicas):
		case (e.Abort != nil || e.Rejoin != nil || e.Commit != nil) && a.Next != nil && b.Next == nil && same:
		case e.Accept != nil && b.Next == nil:
		default:
			h.t.Fatalf("slot %d: %+v became %+v by %+v", slot, a, b, e)
		}
	}
}

// deltas updates documents of earlier versions.
func (h *history) deltas(before Document) {
	old := h.kept[rapid.IntRange(0, len(h.kept)-1).Draw(h.t, "old")] // not drawn itself, for it would be printed
	between := h.kept[rapid.IntRange(0, len(h.kept)-1).Draw(h.t, "between")]
	for _, base := range []Document{before, old, between, {}} {
		since := min(base.Version, old.Version)
		got, err := base.Update(h.d.Since(since))
		require.NoError(h.t, err, "base %d, since %d, of %d: %v %v", base.Version, since, h.d.Version, base.History, h.d.History)
		require.Equal(h.t, h.d.Digest(), got.Digest())
	}
	if old.Version < before.Version {
		_, err := old.Update(h.d.Since(before.Version))
		require.ErrorIs(h.t, err, ErrGap)
		same, err := before.Update(old.Encode())
		require.NoError(h.t, err)
		require.Equal(h.t, before.Version, same.Version, "what is older changes nothing")
	}
}

func (h *history) entry() Entry {
	h.next++
	name := func() string {
		names := []string{"x"}
		for _, l := range h.d.Members {
			names = append(names, l.Name)
		}
		return rapid.SampledFrom(names).Draw(h.t, "name")
	}
	plan := "x"
	if h.d.Plan != nil {
		plan = h.d.Plan.ID
	}
	e := Entry{By: "test"}
	switch rapid.IntRange(0, 17).Draw(h.t, "entry") {
	case 0, 1:
		m := member(10 + h.next)
		m.Rack = rapid.SampledFrom([]string{"", "a", "b"}).Draw(h.t, "rack")
		e.Join = &Join{m}
	case 2:
		e.Forget = &Forget{name()}
	case 3:
		e = rejoin(h.d, name(), uint64(1000+h.next))
		e.Rejoin.Peer = fmt.Sprintf("h:%d", h.next)
	case 4, 5, 6:
		e.Stage = &Staged{Kind: Kind(rapid.IntRange(0, 7).Draw(h.t, "kind")), Name: name(), By: name(), Number: rapid.IntRange(0, 4).Draw(h.t, "number")}
		if e.Stage.Kind == SetReplicas {
			e.Stage.Name = ""
		}
	case 7, 8:
		c, err := Propose(h.d)
		if err != nil {
			c = &Commit{}
		}
		e.Commit = c
	case 9:
		e.Abort = &Abort{Plan: plan, Off: h.d.Plan != nil && h.d.Plan.Aborting}
	case 10:
		e.Pause = &Pause{Off: h.d.Paused}
	case 11:
		e.Unstage = &Unstage{name()}
	case 12:
		e.Accept = &AcceptLoss{Cluster: "test", Gone: []uint16{uint16(rapid.IntRange(1, 4).Draw(h.t, "gone"))}}
	case 13:
		e.Rate = &Rate{int64(h.next)}
	case 14:
		e.Place = &Place{Database: rapid.IntRange(0, 3).Draw(h.t, "database"), Close: rapid.Bool().Draw(h.t, "close"), Together: rapid.Bool().Draw(h.t, "together")}
	case 15:
		e.Parameters = &Parameters{Seen: h.d.ParametersAt, Set: []Parameter{{rapid.SampledFrom([]string{"maxmemory", "maxmemory-policy"}).Draw(h.t, "parameter"), rapid.SampledFrom([]string{"", "1", "2"}).Draw(h.t, "value")}}}
	default:
		if len(h.d.Joint) > 0 && rapid.Bool().Draw(h.t, "complete") {
			p := h.d.Joint[rapid.IntRange(0, len(h.d.Joint)-1).Draw(h.t, "joint")]
			c := &Complete{Member: p.Waiting[0]}
			for _, p := range h.d.Joint {
				c.Slots = append(c.Slots, SlotEpoch{p.Slot, h.d.Slots[p.Slot].Epoch})
			}
			e.Complete = c
		} else {
			e.Begin = &Begin{Plan: plan, Slots: NextWave(h.d, Limits{Joint: rapid.SampledFrom([]int{5, 5000}).Draw(h.t, "wave"), Alive: Alive})}
		}
	}
	return e
}

// canFinish reports whether every slot has a majority that has not lost its state.
func (h *history) canFinish() bool {
	return Check(h.d, h.d.Left(), Alive) == nil
}
