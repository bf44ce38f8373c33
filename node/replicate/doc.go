// Package replicate carries what homes and replicas say to each other: a home's requests (prepare, accept, confirm and the others of package
// register) that other nodes send, which this node's replicas answer, and the answers to what its own homes have asked.
//
// Both come as frames of many messages, which are handled in groups in the course of a round (package replica), so that what they make to
// send leaves together. A node's own replicas are not asked through here: a home executes its requests on them itself.
//
//	replicate.go  Replicator
//	requests.go   what other homes ask: this node's acceptors answer
//	replies.go    what other replicas answer: this node's homes count
//	objects.go    large objects that come ahead of the message that needs them
package replicate
