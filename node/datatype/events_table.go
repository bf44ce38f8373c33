package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
)

// events are the rules of the commands of one key.
var events = [...]rule{
	command.OpSet:         setEvents,
	command.OpMSet:        always(notify.String, "set"),
	command.OpGetSet:      always(notify.String, "set"),
	command.OpSetNX:       ifDone(notify.String, "set"),
	command.OpSetEX:       setEvents,
	command.OpPSetEX:      setEvents,
	command.OpAppend:      always(notify.String, "append"),
	command.OpIncr:        always(notify.String, "incrby"),
	command.OpDecr:        always(notify.String, "incrby"),
	command.OpIncrBy:      always(notify.String, "incrby"),
	command.OpDecrBy:      always(notify.String, "incrby"),
	command.OpIncrByFloat: always(notify.String, "incrbyfloat"),
	command.OpSetBit:      ifChanged(notify.String, "setbit"),
	command.OpPFAdd:       ifDone(notify.String, "pfadd"),
	command.OpPFMerge:     always(notify.String, "pfadd"),
	command.OpGetDel:      (*telling).emptied,
	command.OpGetEX:       getEXEvents,
	command.OpBitField:    bitFieldEvents,
	command.OpSetRange: func(t *telling) {
		if len(t.req.Args[3]) > 0 {
			t.add(notify.String, "setrange")
		}
	},

	command.OpDel:       (*telling).emptied,
	command.OpUnlink:    (*telling).emptied,
	command.OpExpire:    expireEvents,
	command.OpPExpire:   expireEvents,
	command.OpExpireAt:  expireEvents,
	command.OpPExpireAt: expireEvents,
	command.OpPersist:   ifDone(notify.Generic, "persist"),
	command.OpRestore:   restoreEvents,

	command.OpHSet:         always(notify.Hash, "hset"),
	command.OpHMSet:        always(notify.Hash, "hset"),
	command.OpHSetNX:       ifDone(notify.Hash, "hset"),
	command.OpHDel:         ifDone(notify.Hash, "hdel"),
	command.OpHIncrBy:      always(notify.Hash, "hincrby"),
	command.OpHIncrByFloat: always(notify.Hash, "hincrbyfloat"),

	command.OpSAdd: ifDone(notify.Set, "sadd"),
	command.OpSRem: ifDone(notify.Set, "srem"),
	command.OpSPop: ifChanged(notify.Set, "spop"),

	command.OpLPush:     ifDone(notify.Lists, "lpush"),
	command.OpRPush:     ifDone(notify.Lists, "rpush"),
	command.OpLPushX:    ifDone(notify.Lists, "lpush"),
	command.OpRPushX:    ifDone(notify.Lists, "rpush"),
	command.OpLPop:      ifChanged(notify.Lists, "lpop"),
	command.OpRPop:      ifChanged(notify.Lists, "rpop"),
	command.OpBLPop:     ifChanged(notify.Lists, "lpop"),
	command.OpBRPop:     ifChanged(notify.Lists, "rpop"),
	command.OpLMPop:     poppedEvents,
	command.OpLSet:      always(notify.Lists, "lset"),
	command.OpLInsert:   ifChanged(notify.Lists, "linsert"),
	command.OpLRem:      ifDone(notify.Lists, "lrem"),
	command.OpLMove:     turnedEvents,
	command.OpRPopLPush: turnedEvents,
	command.OpLTrim: func(t *telling) {
		if t.live {
			t.add(notify.Lists, "ltrim")
			t.emptied()
		}
	},

	command.OpZAdd:             zAddEvents,
	command.OpGeoAdd:           ifChanged(notify.SortedSet, "zadd"),
	command.OpZIncrBy:          ifChanged(notify.SortedSet, "zincr"),
	command.OpZRem:             ifDone(notify.SortedSet, "zrem"),
	command.OpZRemRangeByRank:  ifDone(notify.SortedSet, "zremrangebyrank"),
	command.OpZRemRangeByScore: ifDone(notify.SortedSet, "zremrangebyscore"),
	command.OpZRemRangeByLex:   ifDone(notify.SortedSet, "zremrangebylex"),
	command.OpZPopMin:          ifChanged(notify.SortedSet, "zpopmin"),
	command.OpZPopMax:          ifChanged(notify.SortedSet, "zpopmax"),
	command.OpBZPopMin:         ifChanged(notify.SortedSet, "zpopmin"),
	command.OpBZPopMax:         ifChanged(notify.SortedSet, "zpopmax"),
	command.OpZMPop:            poppedEvents,

	command.OpXAdd:          xAddEvents,
	command.OpXDel:          ifDone(notify.Stream, "xdel"),
	command.OpXTrim:         ifDone(notify.Stream, "xtrim"),
	command.OpXSetID:        always(notify.Stream, "xsetid"),
	command.OpXGroupKey:     xGroupEvents,
	command.OpXReadGroupKey: consumerEvents,
	command.OpXClaim:        consumerEvents,
	command.OpXAutoClaim:    consumerEvents,
}

// misses are the commands that look for a key to read it: if it is not there, that is an event.
var misses = opSet(
	command.OpGet, command.OpMGet, command.OpStrlen, command.OpGetDel, command.OpGetEX, command.OpGetSet, command.OpGetRange, command.OpSubstr,
	command.OpGetBit, command.OpBitCount, command.OpBitPos, command.OpBitFieldRO, command.OpPFCount, command.OpPFRead, command.OpPFMerge,
	command.OpHGet, command.OpHMGet, command.OpHGetAll, command.OpHKeys, command.OpHVals, command.OpHExists, command.OpHLen, command.OpHStrlen, command.OpHRandField, command.OpHScan,
	command.OpSIsMember, command.OpSMIsMember, command.OpSMembers, command.OpSCard, command.OpSRandMember, command.OpSScan, command.OpMembers,
	command.OpLLen, command.OpLRange, command.OpLIndex, command.OpLPos,
	command.OpZScore, command.OpZMScore, command.OpZCard, command.OpZRank, command.OpZRevRank, command.OpZCount, command.OpZLexCount, command.OpZRange, command.OpZRevRange,
	command.OpZRangeByScore, command.OpZRevRangeByScore, command.OpZRangeByLex, command.OpZRevRangeByLex, command.OpZRandMember, command.OpZScan,
	command.OpGeoDist, command.OpGeoHash, command.OpGeoPos, command.OpGeoSearch, command.OpGeoRadius, command.OpGeoRadiusRO, command.OpGeoRadiusByMember, command.OpGeoRadiusByMemberRO,
	command.OpXLen, command.OpXRange, command.OpXRevRange, command.OpXPending, command.OpXReadKey, command.OpXReadGroupKey, command.OpXInfoKey, command.OpXAck, command.OpXClaim,
	command.OpXAutoClaim,
	command.OpExists, command.OpTouch, command.OpType, command.OpTTL, command.OpPTTL, command.OpExpireTime, command.OpPExpireTime, command.OpDump, command.OpSort, command.OpSortRO,
)

func opSet(ops ...command.Op) (set [len(operations)]bool) {
	for _, op := range ops {
		set[op] = true
	}
	return set
}

// Misses reports whether it is an event if a command on one key does not find it.
func Misses(req *command.Request) bool {
	if int(req.Op) >= len(misses) {
		return false
	}
	switch req.Op {
	case command.OpSet:
		opts, ok := parseSetOptions(req.Args[3:])
		return ok && opts.get
	case command.OpBitField:
		ops, problem := parseFieldOps(nil, req.Args[2:], longest(req))
		for _, op := range ops {
			if op.kind != fieldGet {
				return false
			}
		}
		return problem == ""
	}
	return misses[req.Op]
}

// looks is how often Redis looks for the key of a command.
func looks(req *command.Request) int {
	switch req.Op {
	case command.OpXReadKey:
		return 2
	case command.OpPFMerge: // of a key with itself
		return len(req.Args) - 1
	}
	return 1
}

// looksFirst reports whether a command that was refused has looked for its key before.
func looksFirst(req *command.Request, reply []byte) bool {
	return req.Op == command.OpXInfoKey || bytes.HasPrefix(reply, []byte("-NOGROUP"))
}
