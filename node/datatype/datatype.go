// Package datatype is what commands mean: given the state of a key, a command
// and the time, which state follows and what the client is told.
//
// It is pure. Nothing here blocks, looks at a clock, rolls dice or keeps
// anything between two calls, so the home of a slot can decide a command once
// and send only its effect to the replicas, and the same code runs under a
// deterministic simulator.
//
// Replies and error texts are those of Redis 7.0, byte for byte; a differential
// test compares them with a real redis-server. Where Redis only shows how its C
// library reads a zero byte in an option or an integer overflows in an offset,
// this package refuses instead.
//
// A handler (get, set, ...) serves one or a few commands and has the signature of
// Execute. The table in dispatch.go says which.
//
// Commands of several keys, and sequences of commands, are executed on a Keyspace,
// which has the states of all their keys. The table in several.go has their handlers; what
// can be done by the handlers of one key is done by those.
package datatype

import (
	"strconv"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// MaxValueLen is the length in bytes that no command makes a value exceed: the
// default of Redis' proto-max-bulk-len.
const MaxValueLen = 512 << 20

// longest returns how long a request may make a value.
func longest(req *command.Request) int {
	if req.MaxValue > 0 {
		return min(req.MaxValue, MaxValueLen)
	}
	return MaxValueLen
}

// MaxCollectionLen is the length in bytes that no delta makes a collection exceed.
const MaxCollectionLen = 64 << 30

// longestCollection returns how long a request may make a hash, list, set or sorted set.
func longestCollection(req *command.Request) int {
	if req.MaxCollection > 0 {
		return min(req.MaxCollection, MaxCollectionLen)
	}
	return longest(req)
}

// Execute runs one command on the state of its key at time now (Unix
// milliseconds, positive), appends the RESP reply to dst and returns the effect.
//
// st is not expired at now: the caller passes the zero State for a key that is.
// req and its Args are borrowed for the call. st.Value is never changed; the
// Value of the effect's state is st.Value itself or a new slice without spare
// capacity; up to record.CopiedValue bytes may be behind the reply in its buffer, see record.Effect. An effect that replaces the state by the zero State deletes the key.
// A command that is refused (the reply is an error) has no effect. If st has an object of which a part cannot be read that the command needs, Execute panics with
// record.Unreadable, and nothing has happened.
func Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if int(req.Op) >= len(operations) || operations[req.Op].run == nil {
		return refuse(dst, "ERR operation "+strconv.Itoa(int(req.Op))+
			" is not one on a single key; proxy and node may be of different versions")
	}
	op := &operations[req.Op]
	if n := len(req.Args); n < op.min || op.max != unlimited && n > op.max {
		return refuse(dst, errArity(req))
	}
	return op.run(dst, st, req, now)
}

// appendValue appends a string value, or null for an absent key.
func appendValue(dst []byte, st record.State, resp3 bool) []byte {
	if !st.Live() {
		return resp.AppendNull(dst, resp3)
	}
	t := textIn(st)
	return t.appendBulk(dst, 0, t.size())
}

// appendBool appends 1 or 0.
func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, ":1\r\n"...)
	}
	return append(dst, ":0\r\n"...)
}

// holdsOther reports whether the key exists and is of another type than t.
func holdsOther(st record.State, t record.Type) bool { return st.Live() && st.Type != t }

// keep returns an argument as a value: itself if it may be, or a copy.
func keep(req *command.Request, arg []byte) []byte {
	if req.Owned {
		return arg
	}
	return buffer.Clone(arg)
}

// resized returns a copy of a value with n bytes, at least as many as it has: what is new is zero.
func resized(value []byte, n int) []byte {
	larger := make([]byte, n)
	buffer.Copy(larger, value)
	return larger
}
