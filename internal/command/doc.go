// Package command is the one table that says everything Quoll knows about a
// Redis command: its name, its number in the peer protocol (Op), how many
// arguments it takes, which of them are keys, its flags and categories as COMMAND
// INFO shows them, its documentation as COMMAND DOCS shows it, and its Route: how
// Quoll executes it.
//
// The values are those of Redis 7.0, and a test compares them with a real
// redis-server. Commands of Redis 7.0 that Quoll does not support yet are in the
// table too, with RouteUnsupported, so that a client learns "not supported yet"
// instead of "unknown command".
//
// COMPATIBILITY.md is made of the table (make compatibility): what is not as in Redis stands beside each command.
//
// The package is pure: data and functions on it, no I/O and no state.
package command
