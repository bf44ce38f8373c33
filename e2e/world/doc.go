// Package world runs whole clusters in one process, under virtual time: the real code of proxies and nodes, in a bubble of
// testing/synctest, on a network in memory that misbehaves by a seed. A second of a cluster takes some milliseconds, and what
// takes minutes on machines, an outage and the repair after it, can be tried some thousand times in an hour.
//
//	world.go      a world: from the first node's start to the last one's end
//	plan.go       what there is of a world, each part with a number, so that any can be left out
//	shrink.go     how a plan that fails is made smaller
//	schedule.go   what happens to it: restarts, partitions
//	chaos.go      everything at once
//	disks.go      power cuts, and what may be wrong with disks
//	clocks.go     clocks that are wrong
//	churn.go      the ring changes all the time, and members lose what they have
//	refound.go    most of those who decide on the ring die, and their group is founded again
//	overload.go   more clients than slow disks can serve
//	net.go        the network: paths between hosts, which are slow, lossy, or cut in one direction
//	host.go       a machine on it: its listeners, how its process ends
//	packets.go    a socket for packets, which get lost: gossip goes over it
//	conn.go       a connection: bytes in order, each after a while; what is cut off arrives later, or never
//	deadline.go   when an operation on a connection is given up
//	machine.go    a host with a node, and how nodes are stopped, killed, and left without power
//	store.go      what is left of a node while it does not run
//	volume.go     a disk, and what a power cut leaves of it
//	files.go      the journal's files on it
//	records.go    the store's records on it
//	tables.go     Pebble's files on it
//	locks.go      what lets time go on while goroutines wait for locks
//	proxies.go    a host with a proxy
//	clients.go    clients: RESP bytes in, RESP bytes out, each command noted for the history
//	reply.go      the replies
//	check.go      what has to be so in the end
//	lineage.go    what every version was built on, and which ones clients could have read
//	witness.go    what homes tell it of what they propose; watched.go what engines tell it of what they hold
//	trace.go      what happened
//
// A world that fails is made smaller by make world SEED=n SHRINK=1: fewer nodes, proxies and clients, a shorter time, fewer faults, bouts and commands, as long as it
// fails in the same way in one of three tries, each in a process of its own. What is printed at last is the command that lets the smallest one live again. Two examples,
// with rules taken out (internal/mutation): if nothing waits for a commit, 5 nodes, 3 clients and 20 s become 3 nodes, 2 clients, 2 bouts and 2 power cuts
// after 80 worlds, in 8 s; if half of the replicas are a majority, what is left is one partition, and 2 clients with at most 2 commands each in 2 bouts.
//
// What is real: node.Node, with its register, repair, rebuilding, hints, membership and forming; the peer protocol with its frames, handshakes and pings
// (internal/wire); the proxy with its sessions and its coordinator. Each command goes from bytes of a client to bytes for it.
//
// In every fourth world nodes gossip (ring/gossip, with memberlist), over packets that get lost and streams: in the end each has to take all others for alive.
//
// What is not: clients are served by a goroutine each, not by epoll, and sockets are not. A node's engine is, by the seed, the one in memory, which outlives the node, as
// a disk does for which writing takes no time, or the one on disk (engine/disk with its journal) on a volume in memory: over a map in the place of Badger or Pebble, or over Pebble itself, whose files are on a second volume, which tears
// writes and forgets what was not synced as the first one does. Objects are there in parts. Disks that are full or fail are for the map only: when Pebble cannot write, its goroutines wait until
// the process ends (engine/pebble), and no process ends here: a world with such a one ended with "blocked goroutines remain".
// Badger has no such seam: it maps its files into memory. What a node keeps beside that, its identity and what it noted that others missed (datadir, hint files), is in memory.
//
// Clients meet at keys (clients.go): several times a second all of them ask for one key at nearly the same time, and between that for nothing. So most
// of what they ask for overlaps, and little of the time goes to what does not. Builds with the tag small, as make world makes them, have 128 slots, not 16,384: most
// of what a cluster does that has little to do is to look at all its slots. A key shares its slot with others there, as it does in a cluster that is full. Worlds of all
// slots are those of builds without the tag, as go test makes them.
//
// What has to be so: every history is linearizable (internal/history; a checker that runs out of time fails, too). Of any two versions of a key that a majority held
// durably, so that clients could have read them, the later one is built on the earlier, and a version is one state wherever it is (lineage.go, in builds with the tag small). When all faults have ended, all replicas become equal
// within two minutes. Everything is closed in order; no connection is left, and no goroutine, or synctest ends the test.
//
// # What a seed decides, and what not
//
// The schedule, the shape of the cluster, delays, what is lost, what each client asks for, and the random numbers of nodes and proxies follow from the seed. What does
// not: the order in which Go runs goroutines that are ready at one moment, where the scheduler interrupts them, the choice of select and the order of maps. With one processor and
// GODEBUG=asyncpreemptoff=1, as make world has it, that matters less. With two processors 4 of 24 seeds gave the same trace twice.
//
// What was measured, on a machine with five times as many busy processes as processors: of 20 seeds (2 of each schedule, 20 s), each of which lived three times,
// in processes of their own, 7 had one trace all three times, every reply and every event at the same nanosecond, 7 had two that were the same, and 6 had
// three traces. Calm worlds and those with wrong clocks repeat nearly always, those with overload never. Of 40 other seeds 14 had one trace three times, 10 twice. Traces
// part by some microseconds first, and much later in what clients see. Neither was it better without garbage collection nor when the runtime's own random numbers, of which select and maps
// take, followed from the seed. What is left, it seems, is that the scheduler interrupts who has run for 10 ms of real time, which happens more often when others want the processor.
//
// Failures repeat far better than traces: of 60 worlds with a rule taken out (world-lineage, world-half, world-nocommit; seeds 1 to 20) 39 failed in each of three runs, 20 in none, and one
// in one of them. TestHowOftenASeedRepeats counts traces; the second world of a process may differ from the first. What a seed has found wants a test of its
// own all the same: the next change of the product gives another world.
//
// # Locks
//
// synctest lets time go on when everybody waits for a channel, a timer or the like. Who waits for a mutex does not count, since it cannot know who will unlock
// it. So a disk that takes its time while a lock is held, for which others wait, would stop the world. Builds with the tag worldlocks have the runtime count
// it (locks.go); make world makes one. In all others disks take no time, and the schedules that need that are left out. A world that stands still for two minutes ends the
// test, with all stacks.
package world
