package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// Commands that wait for a key to be filled (BLPOP) do not wait here: they take what is there, or reply that nothing is. A proxy has them executed again when there may be something
// (proxy/session, waiting.go). Within transactions and scripts that is all they do in Redis, too.

// popWaiting serves BLPOP, BRPOP, BZPOPMIN and BZPOPMAX of one key, key timeout: null, or the key with what was popped.
func popWaiting(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if _, problem := command.Timeout(req.Args[len(req.Args)-1]); problem != "" {
		return refuse(dst, problem)
	}
	if !st.Live() {
		return resp.AppendNullArray(dst, req.RESP3), noEffect
	}
	start := len(dst)
	elements := 2
	if req.Op == command.OpBZPopMin || req.Op == command.OpBZPopMax {
		elements = 3
	}
	dst = appendName(resp.AppendArray(dst, elements), req.Args[1])
	one := *req
	one.Args = req.Args[:2]
	var effect record.Effect
	body := len(dst)
	switch req.Op {
	case command.OpBLPop:
		dst, effect = lPop(dst, st, &one, now)
	case command.OpBRPop:
		dst, effect = rPop(dst, st, &one, now)
	case command.OpBZPopMin:
		dst, effect = zPopMin(dst, st, &one, now)
	default:
		dst, effect = zPopMax(dst, st, &one, now)
	}
	if dst[body] == '-' {
		return append(dst[:start], dst[body:]...), noEffect
	}
	if elements == 3 { // a member and its score are an array of their own there
		header := len(resp.AppendArray(nil, 2))
		dst = append(dst[:body], dst[body+header:]...)
	}
	return dst, effect
}

// popFirstWaiting serves BLPOP, BRPOP, BZPOPMIN and BZPOPMAX of several keys: of the first that is there.
func popFirstWaiting(k *Keyspace, dst []byte, req *command.Request) []byte {
	args := req.Args
	timeout := args[len(args)-1]
	if _, problem := command.Timeout(timeout); problem != "" {
		return resp.AppendError(dst, problem)
	}
	for _, key := range args[1 : len(args)-1] {
		if k.get(key).Live() {
			req.Args = [][]byte{args[0], key, timeout}
			return k.on(dst, req)
		}
	}
	return resp.AppendNullArray(dst, req.RESP3)
}

// unblocked serves the other commands that wait as those that do not.
func unblocked(k *Keyspace, dst []byte, req *command.Request) []byte {
	_, problem := command.Timeout(command.TimeoutOf(req.Op, req.Args))
	req.Op, req.Args = command.Unblocked(req.Op, req.Args)
	if problem != "" && req.Op != command.OpRPopLPush { // Redis looks at the rest first
		if wrong := wrongWords(req); wrong != "" {
			problem = wrong
		}
	}
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	switch req.Op {
	case command.OpLMove:
		return lMoveBetween(k, dst, req)
	case command.OpRPopLPush:
		return rPopLPushBetween(k, dst, req)
	}
	return popFirst(k, dst, req)
}

// wrongWords says what is wrong with an LMOVE, LMPOP or ZMPOP but for its keys, nothing if nothing is.
func wrongWords(req *command.Request) (problem string) {
	if req.Op != command.OpLMove {
		_, _, problem = parsePop(req)
		return problem
	}
	for _, end := range req.Args[3:5] {
		if _, ok := isEnd(end); !ok {
			return errSyntax
		}
	}
	return ""
}
