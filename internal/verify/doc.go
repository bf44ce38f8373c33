// Package verify checks a running server or cluster that speaks Redis' protocol, as its clients see it: it writes,
// reads and counts, and judges every answer. It is meant to run while machines are killed.
//
// Three workloads, and a fourth if it is wanted (or another one instead, Queues), run side by side, on keys of their own:
//
//   - Registers: one client sets a key to 1, 2, 3, …; all of them read it, through all addresses. A register is also a field of a hash in which other
//     clients write other fields, or all fields of a hash, written by one HSET: whoever reads several of them at once finds them equal. Or it is the score of
//     a member of a sorted set with others.
//
//   - Counters: all clients increment a few keys, fields and scores.
//
//   - Duels: all clients contend for four keys: with SET, GET, INCR, SETNX and DEL for one; over the fields of a hash, one or several at a time; for the
//     elements of a list, set or sorted set, which they push, turn, pop and remove. After some fifty commands a key each is read as a whole, their histories are
//     checked with Porcupine (package history), for which all that a key holds is one state, and new keys are taken. So an element that was acknowledged
//     is handed out once or still there.
//
//   - Transfers (bank.go): clients move amounts between the accounts of a group of keys of one slot, and tokens between its cells: by transactions, with and without WATCH, and by
//     commands of two keys. Whether one was done or not, the total of the accounts is the same and each token is there once, so unknown outcomes hide nothing. And each
//     transaction writes its number, which says how much it moved from where to where: whoever reads a group at one moment can tell each balance from the numbers.
//
//   - Queues (queues.go), instead of all of these: clients push, and pop, move to a list of their own, or read as a group what is there, and wait for it if there is nothing. Some are lost with what they
//     have, which others bring back or claim. Package queue judges what they saw: each element is handed out as often as it may be, in its order, or still there. A queue ends after some pushes, is looked
//     at and judged, and a new one takes its place.
//
// What is found has one of three names:
//
//   - Lost: an acknowledged write is not there, nor a newer one, whichever address is asked.
//   - Stale: a read returned a value older than one that was acknowledged, or read by anybody, before the read began.
//   - Wrong: a value that nobody wrote, or whose write was refused; a counter beyond what was sent or below what was acknowledged; fields of
//     different versions in one answer; an element that was handed out twice, or vanished; any other duel that is not linearizable; a group that no order of whole
//     transfers explains; an element of a queue that was handed out twice, that nobody pushed, or in the wrong order. Of queues, Stale is an answer that there is nothing, while there was.
//
// Where keys may be evicted (Options.MayEvict) a register may be found gone at any moment, which is not held against it, but what was there before that must not come back; of counters only what is too
// much is seen; and in the histories of duels every key may be deleted between any two commands.
//
// An error as an answer means that nothing was done (Refused). Unknown is what nobody can know: an answer -UNKNOWN, a
// time-out, a connection lost with a command under way. Such a write may take effect at any later moment; its register is not
// written again, and a new one takes its place, so that every judgement is certain: what works right is never blamed.
//
// Judging (place.go, register.go, counter.go, series.go, audit.go) is separate from doing.
package verify
