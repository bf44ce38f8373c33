package change_test

import (
	"fmt"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// A fourth member joins a ring of three: it asks, an operator stages that it joins and commits the plan, its slots move in waves.
func Example() {
	cluster := ring.Cluster{Name: "example", Epoch: 1, Replicas: 3}
	for i, name := range []string{"a", "b", "c"} {
		cluster.Members = append(cluster.Members, ring.Member{ID: uint16(i + 1), Name: name, Peer: name + ":7000", Weight: 1})
	}
	d, err := change.FromCluster(cluster)
	must(err)
	apply := func(e change.Entry) {
		d, err = change.Apply(d, e, 0)
		must(err)
	}

	apply(change.Entry{By: "d", Join: &change.Join{Member: ring.Member{Name: "d", Peer: "d:7000", Weight: 1}}})
	apply(change.Entry{By: "ops", Stage: &change.Staged{Kind: change.JoinMember, Name: "d"}})
	plan, err := change.Propose(d)
	must(err)
	apply(change.Entry{By: "ops", Commit: plan})

	limits := change.Limits{Joint: 4096, Alive: change.Alive}
	for waves := 1; d.Plan != nil; waves++ {
		apply(change.Entry{Begin: &change.Begin{Plan: d.Plan.ID, Slots: change.NextWave(d, limits)}})
		collected := make(map[uint16][]change.SlotEpoch) // what members report when they have copied
		for _, p := range d.Joint {
			for _, id := range p.Waiting {
				collected[id] = append(collected[id], change.SlotEpoch{Slot: p.Slot, Epoch: d.Slots[p.Slot].Epoch})
			}
		}
		for id, slots := range collected {
			apply(change.Entry{Complete: &change.Complete{Member: id, Slots: slots}})
		}
	}
	m, _ := d.ByName("d")
	fmt.Println(m.Name, "is", m.State)
	for _, e := range d.History[:2] {
		fmt.Println(e.By+":", e.What)
	}
	// Output:
	// d is active
	// d: d asks to join
	// ops: stages join d
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
