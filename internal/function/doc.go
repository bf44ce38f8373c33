// Package function is what proxies and nodes know of Redis' functions without running them: libraries, the first line of their code, which names are taken, and how a library is kept
// in the cluster.
//
// A node finds out what a library registers (package script of the node) and describes it as a list of Function; a proxy keeps the description with the code, and works with a Set, which
// is all libraries of a cluster.
//
// It is pure: no I/O, no clock, nothing kept between calls. A Set and what is in it never change.
package function
