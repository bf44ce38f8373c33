// Package libraries tests Quoll with unmodified client libraries. It is a module of its own, so that they are no dependencies of Quoll's:
//
//	make libraries
//
// Three questions are asked of each library, with its default settings and with careful ones. What does it repeat by itself, on which error
// word, alone and in a pipeline, and when a connection is lost? A server that answers what it is told to and counts finds out
// (TestWhatLibrariesRepeat), and docs/clients.md has the answers. Does it get along with a cluster (TestBasics)? And is nothing executed of a
// transaction that was refused, or twice when a proxy dies?
//
// Libraries in Go are dependencies of this module. Those in other languages are what Debian 12 has, behind a script that
// obeys lines; what is not installed is skipped, and said:
//
//	apt-get install python3-redis nodejs node-redis php-cli php-redis ruby-redis
package libraries
