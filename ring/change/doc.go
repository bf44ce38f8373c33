// Package change moves a ring from one set of members to another, as far as that can
// be said without doing anything: it is a pure function of what it is given.
//
// A Document is all that is decided about a ring: its members, who holds each slot,
// what is staged, and the plan that is under way. Its Version counts every change,
// and a slot's Epoch is the version in which the slot changed last. So what changed
// since a version that somebody has is easy to say, and that is how documents spread:
// Since encodes a delta, Update applies one, and a whole document is the delta since
// version 0.
//
// A document changes by entries of a log that all its keepers apply in the same
// order: Apply(document, entry, time) is deterministic and total. An operator stages
// changes (Staged), looks at what they mean (Propose, Preview) and commits them as one
// plan, by its ID. The plan has a goal for every slot that it moves. Slots move in
// waves, each on its own:
//
//	stable(old) --Begin--> joint(old, goal) --Complete by enough collectors--> stable(goal)
//
// NextWave says which slots are next; the Collectors collect what a slot holds (rule
// R18 in node/register/protocol.md), and each reports it complete: all that join have
// to, and of those that stay enough. Where nothing has to be collected the slot is its
// new members' at once (R16). An abort
// makes the ring before the plan the goal. Slots that are joint are given up: they are
// the old members' again (R18.7); slots that have moved move back, in waves like any
// others. An abort may be taken back, and further changes may be committed while a plan
// is under way. When every slot is where it should be the plan is over.
//
// A member that lost its state comes back as another Life: with the same name, and so
// with the same share, but another ID. It takes the place of its former life in every
// slot and in the plan that is under way; if there is none, that is a plan of its own
// (Rejoin).
//
// Who is alive is no part of a document. Where it matters it is an argument.
package change
