package bench

import "strings"

// kind is a kind of command that is measured.
type kind int

const (
	set kind = iota
	get
	hset
	hget
	hgetall
	hincrby
	hdel
	rpush
	lpush
	lpop
	sadd
	sismember
	zadd
	zscore
	zrange
	exec    // MULTI, a SET of each key of a group, EXEC
	mset    // of all keys of a group
	evalsha // of a script that reads a key and writes it (script.go)
	hadd    // HSET of a field that is not there, which hdel then removes
	kinds
)

// holding is what a key holds.
type holding int

const (
	aString holding = iota
	aHash
	aList
	aSet
	aSortedSet
	aGroup // it is a group of keys that hold strings (group.go)
)

// holdings says what is to be known of each: its name, what keys that have none of their own begin with, and which command loads it.
var holdings = [...]struct {
	name, prefix string
	load         kind
}{
	aString:    {"string", "key:", set}, // redis-benchmark's prefix
	aHash:      {"hash", "hash:", hset},
	aList:      {"list", "list:", rpush},
	aSet:       {"set", "set:", sadd},
	aSortedSet: {"sorted set", "zset:", zadd},
	aGroup:     {"group of strings", "group:", mset},
}

// kindTable says what is to be known of each.
var kindTable = [kinds]struct {
	op     string // in reports
	writes bool
	holds  holding
	words  int  // of the command
	number bool // it is answered with one
}{
	set:       {"SET", true, aString, 3, false},
	get:       {"GET", false, aString, 2, false},
	hset:      {"HSET", true, aHash, 4, true},
	hget:      {"HGET", false, aHash, 3, false},
	hgetall:   {"HGETALL", false, aHash, 2, false},
	hincrby:   {"HINCRBY", true, aHash, 4, true},
	hdel:      {"HDEL", true, aHash, 3, true},
	rpush:     {"RPUSH", true, aList, 3, true},
	lpush:     {"LPUSH", true, aList, 3, true},
	lpop:      {"LPOP", true, aList, 2, false},
	sadd:      {"SADD", true, aSet, 3, true},
	sismember: {"SISMEMBER", false, aSet, 3, true},
	zadd:      {"ZADD", true, aSortedSet, 4, true},
	zscore:    {"ZSCORE", false, aSortedSet, 3, false},
	zrange:    {"ZRANGE", false, aSortedSet, 4, false},
	exec:      {"EXEC", true, aGroup, 1, false},
	mset:      {"MSET", true, aGroup, 1 + 2*groupKeys, false},
	evalsha:   {"EVALSHA", true, aString, 5, false},
	hadd:      {"HSET new", true, aHash, 4, true},
}

func (k kind) op() string     { return kindTable[k].op }
func (k kind) writes() bool   { return kindTable[k].writes }
func (k kind) holds() holding { return kindTable[k].holds }

// counterpart returns the kind that adds what this one removes, if it removes something.
func (k kind) counterpart() (adds kind, ok bool) {
	switch k {
	case hdel:
		return hadd, true
	case lpop:
		return lpush, true
	}
	return 0, false
}

// commandNames are the names of all commands that can be asked for, in lower case.
func commandNames() (names []string) {
	for k := range hadd {
		names = append(names, strings.ToLower(k.op()))
	}
	return names
}

// kindOf returns the kind that a name stands for, in any case.
func kindOf(name string) (k kind, ok bool) {
	for k := range hadd {
		if strings.EqualFold(name, k.op()) {
			return k, true
		}
	}
	return 0, false
}
