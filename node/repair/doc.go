// Package repair finds out which replicas of a node's slots have missed writes, and has them written again, without anybody
// reading the keys: what is known as anti-entropy.
//
// Every node compares the slots that it is responsible for (it leads them, or is the first replica that is alive) with
// each of its peers:
//
//   - first the digests of slots, which engines keep with every write (compare.go),
//   - then, of large slots that differ, the 64 parts of their digests, their leaves (leaves.go),
//   - then the versions of the keys that are left.
//
// A key that still differs a moment later was missed, and is not merely under way: the home of its slot writes its state once
// more (settle.go). That is a write like any other, in the home's term, so there is nothing new to prove about it. All
// replicas hold one version when they have acknowledged it, and tombstones can be purged then.
//
// Three things go with it. What a node has noted of a peer that was away is written first when that is back (replay.go). Deletions
// that all replicas hold, and nobody has purged, are written again, so that they are (forget.go). And since all of it believes in the
// digests, these are derived again from the records, for ever (recount.go).
//
// Operators ask one node for a repair, and it asks all of them (all.go), each of which starts a job (job.go). What
// others ask of this node's replicas is answered in answer.go.
//
// What the package needs of the node that it works for is in node.go: the interface Node, and those that it consists of.
package repair
