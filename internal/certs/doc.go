// Package certs has what TLS needs at all ports of a process: certificates that are read from files, and noticed when the files change, and
// the small certificate authority behind quoll cert.
//
//	identity         Whose certificate it is: the cluster, the role and the name that a certificate of a peer has.
//	files, store     Certificate, key and CA of a purpose, and what is in force of them.
//	watch            Reads the files again, each second and when told to. Files that make no sense change nothing.
//	config           Settings of crypto/tls that always have what is in force.
//	peers            Whom a process takes for a part of its cluster.
//	authority, issue Makes a CA, and certificates by it.
//
// A connection keeps the certificates with which it began. So when files change no connection ends, and new ones have what is in the files then.
package certs
