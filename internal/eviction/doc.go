// Package eviction is Redis' rules for which keys go when there is no memory for more: the policies by their names, what is noted of the use of a key, and the
// pool of candidates of which the best one goes.
//
// It decides, and does nothing. An engine notes how keys are used (node/engine/memory), a node draws samples and has the homes delete what was chosen
// (node/evict.go), where it is a write like all others (node/register/protocol.md, "Eviction").
//
//	policy.go   the eight policies
//	settings.go what may be set, by Redis' names
//	usage.go    when a key was used last, or how often: 32 bits for each
//	pool.go     the best candidates of the last samples
package eviction
