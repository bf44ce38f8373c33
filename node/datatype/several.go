package datatype

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
)

// severalHandler runs one command of several keys on a keyspace, and appends its reply. If that is an error what it has done is undone. The number of arguments
// has been checked.
type severalHandler func(k *Keyspace, dst []byte, req *command.Request) []byte

// several has the handlers of commands that may be of several keys. As a request on one key, to the function Execute, some of them have another form.
var several = [...]severalHandler{
	command.OpMGet:   mGetAll,
	command.OpMSet:   mSetAll,
	command.OpMSetNX: mSetNX,
	command.OpDel:    countAll,
	command.OpUnlink: countAll,
	command.OpExists: countAll,
	command.OpTouch:  countAll,

	command.OpRename:   rename,
	command.OpRenameNX: renameNX,
	command.OpCopy:     copyKey,
	command.OpMoveKey:  moveKey,

	command.OpSMove:     moveMember,
	command.OpLMove:     lMoveBetween,
	command.OpRPopLPush: rPopLPushBetween,
	command.OpLMPop:     popFirst,
	command.OpZMPop:     popFirst,

	command.OpBLPop:      popFirstWaiting,
	command.OpBRPop:      popFirstWaiting,
	command.OpBZPopMin:   popFirstWaiting,
	command.OpBZPopMax:   popFirstWaiting,
	command.OpBLMove:     unblocked,
	command.OpBRPopLPush: unblocked,
	command.OpBLMPop:     unblocked,
	command.OpBZMPop:     unblocked,

	command.OpSInter:      combineAll,
	command.OpSUnion:      combineAll,
	command.OpSDiff:       combineAll,
	command.OpSInterCard:  combineAll,
	command.OpZInter:      combineAll,
	command.OpZUnion:      combineAll,
	command.OpZDiff:       combineAll,
	command.OpZInterCard:  combineAll,
	command.OpSInterStore: combineAll,
	command.OpSUnionStore: combineAll,
	command.OpSDiffStore:  combineAll,
	command.OpZInterStore: combineAll,
	command.OpZUnionStore: combineAll,
	command.OpZDiffStore:  combineAll,

	command.OpZRangeStore:       zRangeStore,
	command.OpGeoSearchStore:    geoStore,
	command.OpGeoRadius:         geoStore,
	command.OpGeoRadiusByMember: geoStore,
	command.OpSort:              sortMay,
	command.OpSortRO:            sortMay,

	command.OpXRead:      readOnce,
	command.OpXReadGroup: readOnce,
	command.OpXGroup:     keyFirst,
	command.OpXInfo:      keyFirst,

	command.OpBitOp:   bitOp,
	command.OpPFCount: pfCountAll,
	command.OpPFMerge: pfMergeAll,
	command.OpLCS:     lcsOf,
}

// severalOf returns the handler of a command that may be of several keys, nil for one that never is.
func severalOf(op command.Op) severalHandler {
	if int(op) < len(several) {
		return several[op]
	}
	return nil
}

// mGetAll serves MGET.
func mGetAll(k *Keyspace, dst []byte, req *command.Request) []byte {
	start := len(dst)
	dst = resp.AppendArray(dst, len(req.Args)-1)
	part := *req
	for _, key := range req.Args[1:] {
		part.Args = [][]byte{req.Args[0], key}
		if dst = k.on(dst, &part); len(dst)-start > maxReply {
			return resp.AppendError(dst[:start], errMuchReply)
		}
	}
	return dst
}

// mSetAll serves MSET.
func mSetAll(k *Keyspace, dst []byte, req *command.Request) []byte {
	for i := 1; i+1 < len(req.Args); i += 2 {
		if problem := k.do(req, command.OpMSet, req.Args[0], req.Args[i], req.Args[i+1]); problem != nil {
			return append(dst, problem...)
		}
	}
	return append(dst, resp.OK...)
}

// mSetNX serves MSETNX.
func mSetNX(k *Keyspace, dst []byte, req *command.Request) []byte {
	for i := 1; i < len(req.Args); i += 2 {
		if k.get(req.Args[i]).Live() {
			return appendBool(dst, false)
		}
	}
	start := len(dst)
	if dst = mSetAll(k, dst, req); dst[start] == '-' {
		return dst
	}
	return appendBool(dst[:start], true)
}

// countAll serves DEL, UNLINK, EXISTS and TOUCH: of how many keys the reply is 1.
func countAll(k *Keyspace, dst []byte, req *command.Request) []byte {
	part, n := *req, int64(0)
	var room [8]byte
	for _, key := range req.Args[1:] {
		part.Args = [][]byte{req.Args[0], key}
		if bytes.HasPrefix(k.on(room[:0], &part), []byte(":1")) {
			n++
		}
	}
	return resp.AppendInt(dst, n)
}
