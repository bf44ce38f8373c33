// Package sim runs the register of package register in a simulated cluster: a
// discrete-event simulation in which one seed gives one history, so that a failure can be
// replayed. It is not part of the product; its test is the proof that the
// replication protocol, as built, is linearizable per key.
//
//	sim.go      event queue, network, clocks, faults
//	node.go     a process: store, acceptor, home, and the withholding of what is not durable (R2)
//	store.go    a store that loses what was staged but not committed when the process crashes
//	client.go   proxies with one client each: quorum reads, requests to homes, retries
//	machine.go  the toy commands that clients run, and their Porcupine model
//
// What is simulated: loss, duplication, delay and reordering of messages; one-way
// partitions; crashes at any moment, also between two messages of a broadcast; replicas that
// lose their disk and stay away; group commit with crashes between stage and commit; clocks that
// differ; rival homes; changes of the ring epoch.
package sim
