// Package proxy is the side of Quoll that clients see. It speaks Redis' protocol,
// knows the ring, and holds no data. This package puts its rooms together:
//
//	front      Sockets: waits for all clients at once, reads what they send, writes replies, and bounds what they may cost.
//	session    Commands: what one client has sent becomes operations on keys, whose replies are put together again.
//	route      The cluster: executes a batch of operations on the nodes, counts votes, finds the homes.
//	quorum     When votes are an answer.
//
// Imports point one way: session to front, both to route, route to quorum. A command enters each room once: the front has read it, the session
// (front.Session) plans it, the cluster (route.Cluster) executes it, the session answers.
//
// The cluster is handed in: a proxy has a route.Coordinator, tests have one in memory.
//
// An error says whether the command had no effect or whether its outcome is unknown.
package proxy
