// Package differential compares Quoll with a real redis-server, from outside: random
// and written-down sequences of commands are sent to both over plain sockets, and every reply
// is compared byte for byte.
//
//	go test ./e2e/differential                          some seconds
//	go test ./e2e/differential -rapid.checks=5000       longer
//
// A sequence runs on several connections at a time, in RESP2 and RESP3, one command at a time
// and pipelined, as arrays and as inline commands. A failure is shrunk and printed as a
// script, which becomes a regression test when it is put into testdata/regressions.txt.
//
// Three things may differ. What depends on clocks, on the order of a hash table or on who
// asks is compared by its meaning (compare_test.go). What differs by design is in one table
// (allowed_test.go), and each of its rows is said in internal/command, of which COMPATIBILITY.md is made. What must not be
// sent to Redis, because Quoll refuses it and Redis would change its state, is compared with
// the refusal (refuse_test.go).
//
// The tests need redis-server 7.0 (apt-get install redis-server) and skip where it is missing.
package differential
