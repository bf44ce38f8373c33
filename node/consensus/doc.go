// Package consensus is the small Raft group that decides which ring the cluster has: one log of changes of the ring, the same on all of its voters.
//
// It decides rings and never commands. With all of it down every command goes on, and only the ring stands still. Up to five nodes vote, chosen by the ring
// (Choose), one in each rack where that is possible. Every node has a Group, also one that does not vote: it may propose, and may become a voter.
//
// The algorithm is go.etcd.io/raft/v3, which only decides, as this project's own protocol does: it has no goroutine, clock or socket. What is around it:
//
//	group.go      Group: the goroutine, and what others call
//	core.go       what it calls: a Group without goroutine and clock, so that a test is a sequence of events
//	work.go       the library's wishes: store, then send, then apply
//	propose.go    proposals of this node, and those that the leader takes
//	recent.go     what was applied lately, so that nothing is applied twice
//	voters.go     who votes, and how the leader changes that; choose.go who should
//	message.go    what nodes say to each other; pieces.go what is too long for one message
//	refound.go    founding it again when a majority is gone for good
//	storage.go    what is stored; file.go one file of it; filesystem.go where that is
//
// # What is promised
//
// Machines on all voters apply the same entries in the same order. A proposal for which Propose returns a Result was applied exactly once, one that
// ended with ErrUnknown at most once, and one with another error never. A leader asks who votes before it does anything (PreVote), and stops when it hears no majority (CheckQuorum).
//
// Proposals go to the leader, wherever they are made: a node asks the voters that it knows of who leads, sends what it proposes, and sends it again when no answer
// comes. Each has a number that is never used again. Outcomes are kept for a window of 1,024 entries, in the replicated state, and no proposal
// is applied more than as many entries after its proposer learned how long the log was. So the copy of a proposal finds its outcome, or comes too late.
//
// # Identities
//
// A voter is one life of a node's storage: its ID is the node's generation. A node that lost its storage would forget what it promised, so it must never come back
// under the same ID: it takes a new generation, the ring learns it, and the leader puts the new ID in the place of the old one. A node in memory is a new one after each restart.
// An existing node whose log is gone is told so by Open (ErrLost).
//
// The leader replaces voters that have left the ring at once, and those that were silent for Config.ReplaceAfter, if another node is there. The new
// voter first receives the log as a learner, then takes the old one's place in one change, which needs a majority of those before and of those
// after. So losing a minority for ever needs no operator. (A replacement counts when the other voters know of it: if the leader is lost for ever in the
// milliseconds between, the one that was replaced and the leader are two.) Losing a majority for ever does: see Founding it again.
//
// # Founding it again
//
// When a majority of the voters is gone for good nobody can decide anything, not even who votes instead. Then an operator has a survivor found the group again, and says
// by that that the others do not come back. Nobody can prove it. So this is about what happens if they do:
//
//   - The new group is another one (Config.Refounded). Its log begins with a snapshot, its only voter is the survivor, and it takes the place of the survivor's log in one
//     write: before that the survivor is a voter of the old group, after it of the new one, whatever fails. All else is as ever: the leader adds those that are alive.
//   - Messages name their group, and those of another one are dropped. So nobody votes in the new group because of what is said in the old one, or the other way round.
//   - Who hears of a later group (by the ring: it is in its document) begins in it as one that has never voted: it empties its log in one write, and does
//     not go back. So the old group can only become smaller. If those that were thought to be gone come back while they are a majority they may decide something
//     yet; they give it up when they hear of the new group.
//   - Of two that are founded at the same time the later one is that of the higher number, and everybody comes to that one. What the other one has decided is given up.
//
// What the new group begins with: of those that survive one has the log with the latest Position, and that has all that was decided and any of them has, be they
// voters or on the way to be. (An entry that was decided is in a majority of the logs. Whoever led in a later term had it, and so has every log with an entry of such a term.) It is all executed,
// also what nobody knows to be decided any more (Group.Replay): those that knew may be gone. An entry that was not decided comes into effect by that, which is
// what ErrUnknown says of it. Who has no log may know a later ring, if that was decided by those that are gone: then the new group begins with that one. Whatever
// only those know that do not answer is lost. TestRandomRefounding plays all of it.
//
// The document after it has a version far above all that the old group can have decided, and each slot a new epoch (change.Refound), so of the two rings that there may be
// the new one is taken up everywhere, and nothing that is said in an epoch of the old one counts.
//
// # Storage
//
// Everything is in memory, and in one file: frames with checksums, appended and synced before anything is sent that rests on them. When the file is
// long a snapshot begins the next one, which is renamed into its place. Start writes the file anew, for what a killed process left may be in the system's
// memory only. A power cut may tear the last frame, which is cut off: nobody was told of it. Damage before
// that is an error (ErrDamaged), and the node has to take a new generation. Damage of the last frame alone, of a disk and not of a power cut, looks like a torn one and goes unnoticed; so does a file
// that lost whole frames at its end.
//
// # How it is wired
//
// Package node has the group (decisions.go): it starts it with the node's generation as ID, when the node has a ring, and closes it before the engine.
//
//   - Machine: package decide's, around a document of the ring. Each version that it makes is offered to the node, which takes up what is later than what it knows: after
//     a restart the machine comes up to date entry by entry, and is behind what the node has saved. A log that has an entry which the machine does not know ends
//     the group (ErrUnknownEntry), until the node is upgraded.
//   - Transport: a frame of the peer protocol (FrameConsensus) with the message as it is, over the link to the peer that says it is that life. Whoever reads such a frame
//     looks whether the message is of the node that has sent it (Sender). A link that is down, or full, loses messages.
//   - Candidates: the members that are to stay, of the newest ring that the node knows, alive if their link is up and they say that they are that life.
//   - Storage: the directory consensus in the data directory. What is there is created once for each generation, which is noted beside the identity before the group starts;
//     from then on it has to be there. Memory for nodes that keep nothing. A node whose log is lost or damaged says so, serves as before and takes no part; what it proposes
//     others propose for it, and they vote without it. If the log cannot be written the node starts the group again after a while: a disk may have been full.
//   - Forming: a node whose document is as the ring formed starts with that as Initial, and Choose of its members: that is the same everywhere, also for directories that
//     were formed by code without a group. One that knows a later version before it has voted gets everything from the others, as those do who come later.
//     Forming again, empty, makes generations that no group has seen, and another Formation.
//   - Hellos carry Voters; whoever hears newer ones calls Hear. A voter that was replaced while it was away learns so, and is quiet.
//   - Lead: package decide's Leader begins the waves of the plan under way, and ends with its context.
//   - Reading is local: what the node knows, whether it votes or not.
package consensus
