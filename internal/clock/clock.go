// Package clock is the wall clock of a node, which decides when keys expire. In builds with the tag faults it can be
// set wrong; in all others it is the system's.
package clock
