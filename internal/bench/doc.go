// Package bench loads a server that speaks Redis' protocol with SET and GET, or with commands on one of the other types, as fast as it answers, and measures
// throughput and latency. It takes any such server, or several at once: it sends nothing else but PING and, if told to, AUTH, READONLY and WAIT.
//
// Every connection sends a pipeline of Options.Depth commands in one write, waits until all are answered, and sends the next one (a closed
// loop, as redis-benchmark has it). The latency of a command is the time from just before the write of its pipeline to just after the read
// that brought the end of its answer. While a server stands still a closed loop asks nothing, so a pause counts once for each connection: compare
// the maximum too.
//
// Keys and values are functions of the numbers of key and field (key.go, field.go, value.go), so with Options.Check answers are compared with
// what must be there without remembering anything.
//
// Deciding (options, keys, values, replies, statistics) is separate from doing (compose.go, client.go, answer.go, pool.go, run.go).
package bench
