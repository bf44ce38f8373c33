// Package resp speaks RESP, the protocol of Redis clients, in versions 2 and 3:
// Reader takes requests apart, the Append functions build replies. Value takes replies apart where they are few.
//
// The Append functions of redcon (https://github.com/tidwall/redcon) are used where they are not slower. Its server and its readers of
// commands are not: a declared length that overflows is a panic, which its server does not recover from; nothing is capped; each command is allocated; and a
// command that has come in part is read from its beginning each time (BenchmarkReaders).
//
// Reader and the Append functions work on the caller's or their own buffers and allocate nothing in steady
// state. Nothing here trusts a client: every length is capped, and memory grows
// with the bytes that arrive, never with a length that was only declared.
//
// The protocol is described at https://redis.io/docs/reference/protocol-spec/;
// where that is silent, behaviour and error texts are those of Redis 7.0.
package resp
