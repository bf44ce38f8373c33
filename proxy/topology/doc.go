// Package topology is what clients of a Redis Cluster are told: who its masters are, and which slots each of them has.
//
// Of proxies (Proxies) each is a master. In truth any proxy serves any key; the slots are divided among them so that such clients, which send a command to the master of
// its slot, use all of them. A proxy that does not answer is left out: its slots are the others' until it answers again. So clients that ask anew when a
// connection fails, as they do with a Redis Cluster, go on with those that are left.
//
// Of nodes that serve clients themselves (Nodes) each is the master of the slots whose home it is, so that a command comes to its home without a proxy on the way. Any node serves any key here, too: what
// comes to another one is sent on, and the client is told where to send the next one (MOVED).
//
// A node may have a replica port beside it (ReplicaPort), whose clients read what may be old. It is shown as a node of its own, a replica of one master (Placement.Pair): libraries take a node that is in both parts
// for a replica, and most of them want it to have one master.
//
// Nothing is lost or answered wrongly if two of them disagree for a moment on who is there.
package topology
