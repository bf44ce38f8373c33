// Package collect collects what the slots hold that come to this node: while a slot is joint (R16), every member that joins, and each that stays
// where that is needed, reads what the old members hold, in pages, while commands go on (R18). Then it says so, and when enough have, the slot is
// the new members' alone.
//
// What is done with a page is decided in register.Page. This package asks for pages (page.go), for the records that are to be copied (fetch.go), and has homes write
// again what is not agreed on (again.go), one page after the other (slot.go), some slots at a time (collect.go), not faster than the rate and behind
// commands (pace.go). What others ask of this node is answered in answer.go.
//
// Nothing of it is remembered over a restart: it begins with the first page again, which costs versions only, for values that are there are not asked for. So does a slot in another
// epoch. What goes wrong meanwhile, a member that does not answer, say, holds up its slots until it has passed: a slot goes on where it was.
//
// What the package needs of the node that it works for is in node.go: the interface Node, and those that it consists of.
package collect
