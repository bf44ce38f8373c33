// Package verify checks a running server or cluster that speaks Redis' protocol, as its clients see it: it writes,
// reads and counts, and judges every answer. It is meant to run while machines are killed.
//
// Three workloads run side by side, on keys of their own:
//
//   - Registers: one client sets a key to 1, 2, 3, …; all of them read it, through all addresses.
//   - Counters: all clients increment a few keys.
//   - Duels: all clients fight over three keys with SET, GET, INCR, SETNX and DEL; after some fifty commands the keys' histories are
//     checked with Porcupine (package history), and three new keys taken.
//
// What is found has one of three names:
//
//   - Lost: an acknowledged write is not there, nor a newer one, whichever address is asked.
//   - Stale: a read returned a value older than one that was acknowledged, or read by anybody, before the read began.
//   - Wrong: a value that nobody wrote, or whose write was refused; a counter beyond what was sent or below what was acknowledged; a duel
//     that is not linearizable.
//
// An error as an answer means that nothing was done (Refused). Unknown is what nobody can know: an answer -UNKNOWN, a
// time-out, a connection lost with a command under way. Such a write may take effect at any later moment; its register is not
// written again, and a new one takes its place, so that every judgement is certain: what works right is never blamed.
//
// Judging (register.go, counter.go) is separate from doing.
package verify
