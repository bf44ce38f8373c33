package engine_test

import (
	"fmt"
	"math/bits"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// Two replicas find out what one of them has missed without comparing keys: a leaf adds up the versions of a range of keys.
func ExampleLeaves() {
	var here, there engine.Leaves
	for i := range uint64(1000) {
		key := fmt.Append(nil, "key:", i)
		version := record.Version{Seq: i + 1}
		here.Add(engine.PositionOf(key), version)
		if string(key) != "key:7" { // this write did not arrive
			there.Add(engine.PositionOf(key), version)
		}
	}
	fmt.Println("the same:", here.Root() == there.Root())
	fmt.Println("ranges to look at:", bits.OnesCount64(here.Differing(&there)), "of", engine.LeafCount)
	// Output:
	// the same: false
	// ranges to look at: 1 of 64
}
