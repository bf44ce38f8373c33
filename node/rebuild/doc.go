// Package rebuild gives a node back the slots of which it cannot read a record. Such a slot does not vote. What the node has of it
// is removed, all records of all its other replicas are copied, and then it votes again.
//
// It is not repaired as a replica is that missed writes (package repair): nobody knows what it has lost, so nothing that it
// still holds may count. The rules, and why all other replicas are needed and not a majority, are in register.Rebuild. This package
// keeps the list of what is damaged (damaged.go), asks the others, one slot after the other (rebuild.go), and shows others what they
// copy (show.go).
//
// What it needs of the node that it works for is in node.go: the interface Node, and those that it consists of.
package rebuild
