package quorum_test

import (
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/quorum"
)

// Two of three replicas are asked. If they have one version, that is the answer. If not, a write is under way or a replica has missed one, and the
// slot's home has to say which.
func ExampleVotes() {
	old, recent := record.Version{Seq: 7}, record.Version{Seq: 8}
	names := map[quorum.Decision]string{quorum.Wait: "wait", quorum.Agreed: "agreed", quorum.AskHome: "ask the home", quorum.Failed: "failed"}

	votes := quorum.Start(3, 2)
	fmt.Println(names[votes.AddValue(recent)])
	fmt.Println(names[votes.Add(recent)])

	votes = quorum.Start(3, 2)
	votes.AddValue(old)
	fmt.Println(names[votes.Add(recent)])
	// Output:
	// wait
	// agreed
	// ask the home
}
