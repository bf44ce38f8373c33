// Package register is Quoll's replication protocol as two state machines without
// goroutines, clocks, randomness or I/O: an Acceptor, which is a replica of one
// slot, and a Home, which proposes writes for the slot. A process has one of each
// for every slot that it is a replica of.
//
//	acceptor.Step(message, &reply, &write)  // a replica is asked by a home: a reply, and what is to be persisted before it leaves
//	home.Step(&input, &ready)               // a request, a reply or time: messages, votes and answers are ready
//
// What happens goes in as an Input, with the time. What comes of it is in a Ready. A step only reads: what is to be persisted is
// a Write, which the caller stages before the next step of the slot, and says whether that worked (Acceptor.Persisted, and the input Persisted of
// a home, whose own replica executes what the home has sent to all):
//
//	home.Step(&in, &ready)
//	for ready.Write.Wanted() {
//		in.Happening, in.Err = register.Persisted, ready.Write.To(store)
//		home.Step(&in, &ready)
//	}
//
// Then the messages may leave
// at once, and all else waits until what was staged is durable: the caller has it committed. In between a home asks
// its Env what it cannot know, such as who is alive. The same inputs, with the same answers and the same store, have the same outputs.
//
// The rules R1 to R19 that comments refer to are those of the executable
// specification that the design was proved with; protocol.md in this folder
// repeats them, with what this package adds:
//
//   - A slot-wide clear (FLUSHALL) is one write to every key of the slot: an Accept
//     that names no key. A replica that accepts version c forgets all older records
//     and from then on takes every key without a record for a tombstone of version c.
//   - The home itself drives the purge of tombstones (R13): the acknowledgements of
//     all members at exactly the tombstone's version are the reports that the rule asks for.
//   - A batch (NewBatch) reads and changes several keys at once: what it writes goes through a register of its own first (BatchKey). One that reads all keys of a database (Request.ReadAll) keeps others from coming.
//   - A home forgets a key as soon as a quorum holds its newest state. It finds the
//     state again in its own replica: what is there under its own ballot is what it proposed last
//     (so it steps down at once when its own replica refuses it).
//   - A request that reaches a replica while another live member leads the slot is
//     turned away with a hint to that member, and a home that stands in for a better placed
//     member hands the slot back when nothing is in flight. Both are NotDone answers,
//     so they touch liveness only: they keep rival homes from taking the term from each
//     other in turns.
//
// Everything is per slot and single-threaded: the caller serialises the calls for one
// slot, Acceptor and Home together.
package register
