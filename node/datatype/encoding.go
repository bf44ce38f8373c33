package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// Up to where Redis 7.0 keeps a value in one piece, by default: embstr, and listpack (hash-max-listpack-entries, zset-max-listpack-entries, and for both
// max-listpack-value). Sets of integers have maxIntegers.
const (
	redisEmbedded = 44
	redisFields   = 512
	redisScored   = 128
	redisValue    = 64
)

// redisShared is how many integers, from 0 on, Redis has once, for all keys.
const redisShared = 10_000

// redisForever is the count of references of what Redis has for as long as it runs.
const redisForever = 1<<31 - 1

// objectState serves the internal ObjectState key and a subcommand of OBJECT: what Redis would say of a value that has been set just now. How a value became what it
// is, which shows in Redis, no replica knows.
func objectState(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	switch about := req.Args[2]; {
	case isWord(about, "encoding"):
		return resp.AppendBulk(dst, encodingOf(st)), noEffect
	case isWord(about, "refcount"):
		return resp.AppendInt(dst, references(st)), noEffect
	case isWord(about, "idletime"):
		return idleTime(dst, req)
	case isWord(about, "freq"):
		return frequency(dst, req)
	}
	return refuse(dst, errSyntax)
}

// idleTime replies for how many seconds a key was not used: 0 where the policy does not ask for that, and it is not noted.
func idleTime(dst []byte, req *command.Request) ([]byte, record.Effect) {
	switch req.Tracking {
	case eviction.TrackFrequency:
		return refuse(dst, errNoLRU)
	case eviction.TrackNothing:
		return resp.AppendInt(dst, 0), noEffect
	}
	return resp.AppendInt(dst, req.Idle), noEffect
}

func frequency(dst []byte, req *command.Request) ([]byte, record.Effect) {
	if req.Tracking != eviction.TrackFrequency {
		return refuse(dst, errNoLFU)
	}
	return resp.AppendInt(dst, int64(req.Frequency)), noEffect
}

// encodingOf returns the name of the form that Redis 7.0 would keep the value in.
func encodingOf(st record.State) string {
	switch st.Type {
	case record.String:
		return stringEncoding(textIn(st))
	case record.List:
		return "quicklist"
	case record.Set:
		if isIntegers(st.Value) {
			return "intset"
		}
		return "hashtable"
	case record.Hash:
		if isListpackHash(hashIn(st)) {
			return "listpack"
		}
		return "hashtable"
	case record.SortedSet:
		if isListpackZset(zsetIn(st)) {
			return "listpack"
		}
		return "skiplist"
	case record.Stream:
		return "stream"
	}
	return "unknown"
}

func stringEncoding(t text) string {
	if t.size() > redisEmbedded {
		return "raw"
	}
	if _, ok := parseInt(t.slice(0, t.size())); ok {
		return "int"
	}
	return "embstr"
}

// isListpackHash reads no further than to the first field that is too long.
func isListpackHash(h hash) bool {
	if h.count() > redisFields {
		return false
	}
	for field, value := range h.all() {
		if len(field) > redisValue || len(value) > redisValue {
			return false
		}
	}
	return true
}

// isListpackZset reads no further than to the first member that is too long.
func isListpackZset(z zset) bool {
	if z.count() > redisScored {
		return false
	}
	for s := range z.from(0) {
		if len(s.member) > redisValue {
			return false
		}
	}
	return true
}

// references returns how many references to a value Redis would count.
func references(st record.State) int64 {
	if st.Type != record.String || st.Size() > maxIntDigits {
		return 1
	}
	t := textIn(st)
	if n, ok := parseInt(t.slice(0, t.size())); ok && n >= 0 && n < redisShared {
		return redisForever
	}
	return 1
}
