// Package proxy is the side of Quoll that clients see. It speaks Redis' protocol,
// knows the ring, and holds no data.
//
// A command passes through these layers, each with its own files:
//
//	server, session   What one read of a client's socket delivered is cut into
//	                  commands (internal/resp) and answered with one write.
//	front, round      All clients are waited for at once, and what those that are ready
//	                  have sent is executed as one Batch with a part for each. What
//	                  takes time for one of them is done in a goroutine, as everything
//	                  is where clients cannot be waited for together (poller_other.go).
//	gate              How many operations are under way at a time. Others wait for their turn
//	                  before they are read, or executed.
//	plan, assemble    Commands on keys become operations on one key each, which are
//	                  collected in a Batch: GET is one operation, MGET one per key.
//	                  When they are done their replies are put together again, in the
//	                  order of the commands. Any other command (local_*.go, scan.go,
//	                  copy.go) is a barrier: what came before it is executed and
//	                  answered first.
//	route             A package of its own: executes a Batch on the nodes.
//
// An error says whether the command had no effect or whether its outcome is
// unknown; these texts are in errors.go here and in route.
package proxy
