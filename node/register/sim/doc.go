// Package sim runs the register of package register in a simulated cluster: a
// discrete-event simulation in which one seed gives one history, so that a failure can be
// replayed. It is not part of the product; its test is the proof that the
// replication protocol, as built, is linearizable per key.
//
//	sim.go        the cluster: event queue, clocks, from the first event to the last
//	weather.go    the modes: which faults and which commands
//	network.go    loss, duplication, delay, reordering, cuts
//	faults.go     crashes, pauses, lost disks, clock jumps, and the healing of a majority
//	epochs.go     the epochs of each slot, and who knows of them (R15)
//	transfer.go   the control plane: new members, joint epochs, changes that are given up (R16, R17)
//	collect.go    how a new member comes to what the old ones hold: pages, copies (R18)
//	agreement.go  what of a page is copied, and what is written again
//	rewrite.go    and how it is
//	node.go       a process: store, acceptors, homes, and the withholding of what is not durable (R2)
//	store.go      a store that loses what was staged but not committed, and that checks invariants
//	env.go        what a process answers to its homes
//	ready.go      and what it does for them
//	lineage.go    whether what clients could read is built on what they could read before
//	client.go     proxies with one client each, which sends pipelines
//	operation.go  one command: quorum reads, requests to homes, retries
//	machine.go    the toy commands that clients run, and their Porcupine model
//	hash.go       the commands on hashes, which are no toys, and their part of the model
//	batch.go      commands on both keys of a slot, and the model of a slot
//	check.go      verdicts, and the shortest history that shows a violation
//	coverage.go   what has to have happened before a run means anything
//
// What is simulated: loss, duplication, delay and reordering of messages; one-way
// partitions; crashes at any moment, also between two messages of a broadcast; processes that
// stand still and go on with their queue; stores that fail or are full; replicas that lose their disk and do not vote any more; group
// commit over several slots with crashes between stage and commit; clocks that differ and jump; rival homes;
// pipelines; expiry, purges and slot-wide clears during all of it; changes of the epoch and of the members of each slot on its own,
// to more and to fewer of them, and such changes that are given up, or for others.
//
// Safety: every history is linearizable per key, whatever happens; a version names one state; what a
// replica promised never goes back; and what a quorum holds is built on what one held before. Liveness
// (mode liveness): once a majority is healed for good, every operation finishes in bounded time, whatever the rest does, and every change of members ends.
package sim
