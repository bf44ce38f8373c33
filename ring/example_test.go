//go:build !small

package ring_test

import (
	"fmt"

	"github.com/quolldb/quoll/ring"
)

// A key's slot is what Redis Cluster says. Which members hold the slot is planned from the members alone, so every process finds the same.
func ExamplePlan() {
	initial, err := ring.ParseInitial("a=10.0.0.1:7000, b=10.0.0.2:7000, c=10.0.0.3:7000, d=10.0.0.4:7000")
	if err != nil {
		panic(err)
	}
	cluster := initial.Cluster("example", 3)
	table, err := ring.Plan(cluster)
	if err != nil {
		panic(err)
	}
	slot := ring.SlotOf([]byte("{user:7}:name"))
	fmt.Println("slot", slot, "as of the other keys of user:7:", slot == ring.SlotOf([]byte("{user:7}:mail")))
	fmt.Println(len(table.Replicas(slot)), "of", len(cluster.Members), "members hold it")
	// Output:
	// slot 2780 as of the other keys of user:7: true
	// 3 of 4 members hold it
}
