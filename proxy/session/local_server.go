package session

import (
	"bytes"
	"fmt"
	"runtime/debug"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// The commands that look into a Redis server. A proxy keeps no latency events and
// no slow log; its metrics endpoint says more.
var (
	memoryCommand = container{"MEMORY", []subcommand{
		{"DOCTOR", 2, memoryDoctor, []string{"DOCTOR", "Return memory problems reports."}},
		{"MALLOC-STATS", 2, memoryMallocStats, []string{"MALLOC-STATS", "Return internal statistics report from the memory allocator."}},
		{"PURGE", 2, memoryPurge, []string{"PURGE", "Return free memory of this proxy to the operating system."}},
		{"STATS", 2, memoryStats, []string{"STATS", "Return information about the memory usage of the proxy."}},
		{"USAGE", -3, memoryUsage, []string{"USAGE <key> [SAMPLES <count>]", "Return an estimate of the bytes that <key> and its value take on each replica."}},
	}}
)

func memoryDoctor(s *Session, dst []byte, _ [][]byte) []byte {
	return resp.AppendVerbatim(dst, "A proxy holds no data. See 'quoll ring status' for what the nodes hold.\n", s.resp3)
}

func memoryMallocStats(s *Session, dst []byte, _ [][]byte) []byte {
	var text []byte
	for _, field := range memoryFields(s) {
		text = fmt.Appendf(text, "%s:%s\n", field.name, field.value)
	}
	return resp.AppendVerbatim(dst, string(text), s.resp3)
}

func memoryPurge(s *Session, dst []byte, _ [][]byte) []byte {
	debug.FreeOSMemory()
	return append(dst, resp.OK...)
}

// recordOverhead estimates what a key takes besides its own bytes and its value's.
const recordOverhead = 96

// memoryUsage is MEMORY USAGE key [SAMPLES count]: an estimate.
func memoryUsage(s *Session, dst []byte, args [][]byte) []byte {
	if err := checkUsage(args); err != nil {
		return route.AppendReply(dst, err)
	}
	size := s.execute(command.Request{Op: command.OpSizeState, Args: sizeOf(args[2])}, false)
	if failure := failureOf([]route.Op{size}, false); failure != nil {
		return append(dst, failure...)
	}
	return appendUsage(dst, size.Reply, args[2], s.resp3)
}

// checkUsage returns what is wrong with the options of MEMORY USAGE.
func checkUsage(args [][]byte) error {
	for rest := args[3:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) == 1 || !is(rest[0], "SAMPLES") {
			return errSyntax
		}
		switch n, ok := resp.ParseInt(rest[1]); {
		case !ok:
			return errNotInteger
		case n < 0:
			return errSyntax
		}
	}
	return nil
}

// sizeOf returns the arguments of the operation for MEMORY USAGE.
func sizeOf(key []byte) [][]byte { return [][]byte{[]byte("SIZESTATE"), key} }

// appendUsage appends the reply of MEMORY USAGE, made of that of the operation.
func appendUsage(dst, size, key []byte, resp3 bool) []byte {
	if !bytes.HasPrefix(size, []byte(":")) { // there is no such key
		return resp.AppendNull(dst, resp3)
	}
	return resp.AppendInt(dst, sum([]route.Op{{Reply: size}})+int64(len(key))+recordOverhead)
}
