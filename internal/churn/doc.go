// Package churn changes the ring of a running cluster at random, as an operator would that never rests: it plans, commits, turns back, goes on, pauses and
// changes the rate, over the admin API of any of the nodes. What a checker sees of the cluster meanwhile has to be what it sees of one at rest: this is what quoll verify --churn does beside its
// clients.
//
// It takes nodes in that wait to join, lets members leave as long as enough are left, and changes weights, racks and the number of replicas. Which change comes next
// follows from a seed, and from how the ring is at that moment. Every refusal is no failure: a node may be down, and the ring may have changed meanwhile.
package churn
