// Package mutation shows that every rule that protects the data is needed and is
// tested: it takes them out of the source, one at a time, and demands that a test notices.
// It consists of tests; nothing of it is part of the product.
//
// A mutation is an edit of the shipped source: a text that occurs exactly once in a
// file, and what stands there instead. It is compiled into a test binary with
// go test -overlay, so the product has no switches, which could be set by mistake and would
// have a price. A rule that moves in the source makes the quick tests of this package fail,
// until its mutation has moved too.
//
//	mutation_test.go    what a mutation is, and how it is applied
//	table_*_test.go     the mutations, by the rules of node/register/protocol.md
//	excused_test.go     the rules that are not taken away, and why
//	complete_test.go    quick: every mutation applies, every rule has one
//	mutants_test.go     make mutants: every mutation is caught
//	run_test.go         compiling and running a mutant
//
// A mutation is caught by random search, in which the simulator finds a history that
// is not linearizable within a number of seeds (about three times what it took when
// that was measured), by whole clusters under virtual time (e2e/world), or by a scenario: one test that goes through the messages that do harm.
// Some rules do the work of another one a second time. Their mutations say so, and are joined by
// one that takes both away.
package mutation
