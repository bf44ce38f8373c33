// Package verify checks a running server or cluster that speaks Redis' protocol, as its clients see it: it writes,
// reads and counts, and judges every answer. It is meant to run while machines are killed.
//
// Three workloads run side by side, on keys of their own:
//
//   - Registers: one client sets a key to 1, 2, 3, …; all of them read it, through all addresses. A register is also a field of a hash in which other
//     clients write other fields, or all fields of a hash, written by one HSET: whoever reads several of them at once finds them equal.
//   - Counters: all clients increment a few keys and fields.
//   - Duels: all clients contend for two keys with SET, GET, INCR, SETNX and DEL, and over the fields of two hashes, one or several at a time; after
//     some fifty commands a key their histories are checked with Porcupine (package history), for which a whole hash is one state, and new
//     keys are taken.
//
// What is found has one of three names:
//
//   - Lost: an acknowledged write is not there, nor a newer one, whichever address is asked.
//   - Stale: a read returned a value older than one that was acknowledged, or read by anybody, before the read began.
//   - Wrong: a value that nobody wrote, or whose write was refused; a counter beyond what was sent or below what was acknowledged; fields of
//     different versions in one answer; a duel that is not linearizable.
//
// An error as an answer means that nothing was done (Refused). Unknown is what nobody can know: an answer -UNKNOWN, a
// time-out, a connection lost with a command under way. Such a write may take effect at any later moment; its register is not
// written again, and a new one takes its place, so that every judgement is certain: what works right is never blamed.
//
// Judging (place.go, register.go, counter.go) is separate from doing.
package verify
