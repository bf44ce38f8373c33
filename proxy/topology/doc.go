// Package topology is what a proxy tells clients of a Redis Cluster: that the proxies are its masters, and which slots each of them has. In truth any proxy
// serves any key; the slots are divided among them so that such clients, which send a command to the master of its slot, use all of them.
//
// A proxy that does not answer is left out: its slots are the others' until it answers again. So clients that ask anew when a
// connection fails, as they do with a Redis Cluster, go on with those that are left. Nothing is lost or answered wrongly if proxies disagree for
// a moment on who is there.
package topology
