// Package pipes connects two sides that are in one process, without sockets: what is written costs a copy and no system call. A node and a proxy in one process talk so. In tests
// time does not pass, in a synctest bubble, while somebody waits for a pipe.
package pipes
