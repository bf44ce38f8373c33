package bench

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
)

// hashes answer the commands on hashes.
type hashes map[string]map[string]string

// serve answers a command if it is one on hashes.
func (h hashes) serve(conn redcon.Conn, cmd redcon.Command) bool {
	var words []string
	for _, arg := range cmd.Args {
		words = append(words, string(arg))
	}
	if len(words) < 2 || !strings.HasPrefix(words[0], "H") {
		return false
	}
	fields := h[words[1]]
	if fields == nil {
		fields = map[string]string{}
		h[words[1]] = fields
	}
	before := len(fields)
	switch words[0] {
	case "HSET":
		for pair := range slices.Chunk(words[2:], 2) {
			fields[pair[0]] = pair[1]
		}
		conn.WriteInt(len(fields) - before)
	case "HDEL":
		delete(fields, words[2])
		conn.WriteInt(before - len(fields))
	case "HINCRBY":
		old, _ := strconv.Atoi(fields[words[2]])
		by, _ := strconv.Atoi(words[3])
		fields[words[2]] = strconv.Itoa(old + by)
		conn.WriteInt(old + by)
	case "HGET":
		if value, ok := fields[words[2]]; ok {
			conn.WriteBulkString(value)
		} else {
			conn.WriteNull()
		}
	case "HGETALL":
		conn.WriteArray(2 * len(fields))
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			conn.WriteBulkString(name)
			conn.WriteBulkString(fields[name])
		}
	}
	return true
}

// onHashes are options that have no faults, for all commands on hashes.
func onHashes(workload string, commands ...string) Options {
	opt := sensible()
	opt.Workload, opt.Commands, opt.Check, opt.Keys, opt.Fields, opt.Count = workload, commands, true, 20, 30, 1000
	return opt
}

func TestWorkloadsOnHashes(t *testing.T) {
	for name, tc := range map[string]struct {
		opt  Options
		want map[string]int64
	}{
		"load":   {onHashes(Load, "hget"), map[string]int64{"HSET": 20}},
		"simple": {onHashes(Simple, "hset", "HGET", "hgetall", "hincrby"), map[string]int64{"HSET": 1000, "HGET": 1000, "HGETALL": 1000, "HINCRBY": 1000}},
		"mixed":  {onHashes(Mixed, "hset", "hincrby", "hget", "hgetall"), map[string]int64{"all": 1000}},
		"batch":  {onHashes(Batch, "hget", "hset"), map[string]int64{"all": 1000}},
		"hdel":   {onHashes(Simple, "hdel", "hgetall"), map[string]int64{"all": 1000, "HGETALL": 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			h := hashes{}
			report, err := run(t, tc.opt, (&server{answer: h.serve}).start(t))
			require.NoError(t, err)
			counts := ops(report)
			for op, n := range tc.want {
				require.Equal(t, n, counts[op], op)
			}
			errors, missing, wrong := report.Total()
			require.Zero(t, errors+missing+wrong, "%+v", report.Rows)
			if name == "batch" {
				return
			}
			require.Len(t, h, 20)
			for key, fields := range h {
				require.True(t, strings.HasPrefix(key, "hash:"), key)
				require.Subset(t, slices.Collect(maps.Keys(fields)), []string{"f0000000", "f0000029"})
			}
			if name == "hdel" {
				require.Positive(t, counts["HDEL"])
				require.GreaterOrEqual(t, counts["HSET new"], counts["HDEL"])
			}
		})
	}
}

// TestALargeHashIsLoadedInPieces: in order, whoever else there is.
func TestALargeHashIsLoadedInPieces(t *testing.T) {
	const pieces = 4
	opt := onHashes(Load, "hset")
	each := loadCommand / (opt.FieldSize + opt.ValueSize)
	opt.Keys, opt.Fields = 1, pieces*each
	h := hashes{}
	var first []string
	var longest int
	s := &server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
		if len(cmd.Args) > 2 {
			first, longest = append(first, string(cmd.Args[2])), max(longest, len(cmd.Raw))
		}
		return h.serve(conn, cmd)
	}}
	report, err := run(t, opt, s.start(t))
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"HSET": pieces}, ops(report))
	require.Len(t, h["hash:00000000000"], opt.Fields)
	require.Len(t, first, pieces)
	require.True(t, slices.IsSorted(first), first)
	require.Less(t, longest, 2*loadCommand)
}

// TestWhatIsWrongWithHashesIsCounted: each server does something wrong to one field or key now and then.
func TestWhatIsWrongWithHashesIsCounted(t *testing.T) {
	const victim = "hash:00000000007"
	for name, tc := range map[string]struct {
		command        string
		lie            func(h hashes, conn redcon.Conn, cmd redcon.Command) (answered bool)
		missing, wrong bool
	}{
		"HGET of another field": {command: "hget", wrong: true, lie: func(h hashes, conn redcon.Conn, _ redcon.Command) bool {
			conn.WriteBulkString(h[victim]["f0000029"])
			return true
		}},
		"HGET of a lost field": {command: "hget", missing: true, lie: func(h hashes, _ redcon.Conn, cmd redcon.Command) bool {
			delete(h[victim], string(cmd.Args[2]))
			return false
		}},
		"HSET of a lost field": {command: "hset", missing: true, lie: func(h hashes, _ redcon.Conn, cmd redcon.Command) bool {
			delete(h[victim], string(cmd.Args[2]))
			return false
		}},
		"HGETALL without a field": {command: "hgetall", missing: true, lie: func(h hashes, _ redcon.Conn, _ redcon.Command) bool {
			delete(h[victim], "f0000012")
			return false
		}},
		"HGETALL of another hash": {command: "hgetall", wrong: true, lie: func(h hashes, _ redcon.Conn, _ redcon.Command) bool {
			h[victim] = maps.Clone(h["hash:00000000008"])
			return false
		}},
		"HGETALL with values swapped": {command: "hgetall", wrong: true, lie: func(h hashes, _ redcon.Conn, _ redcon.Command) bool {
			h[victim]["f0000001"] = h[victim]["f0000002"]
			return false
		}},
		"HGETALL with a field twice": {command: "hgetall", wrong: true, lie: func(h hashes, conn redcon.Conn, _ redcon.Command) bool {
			conn.WriteArray(2 * len(h[victim]))
			for _, name := range slices.Sorted(maps.Keys(h[victim])) {
				if name == "f0000003" {
					name = "f0000004"
				}
				conn.WriteBulkString(name)
				conn.WriteBulkString(h[victim][name])
			}
			return true
		}},
		"HINCRBY twice as far, once": {command: "hincrby", wrong: true, lie: func(_ hashes, conn redcon.Conn, cmd redcon.Command) bool {
			conn.WriteInt64(step(7) + 1)
			return true
		}},
		"HDEL of what is gone": {command: "hdel", missing: true, lie: func(h hashes, _ redcon.Conn, cmd redcon.Command) bool {
			delete(h[victim], string(cmd.Args[2]))
			return false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := hashes{}
			s := &server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
				if len(cmd.Args) > 1 && string(cmd.Args[1]) == victim && strings.EqualFold(string(cmd.Args[0]), tc.command) && len(cmd.Args) <= 4 && tc.lie(h, conn, cmd) {
					return true
				}
				return h.serve(conn, cmd)
			}}
			report, err := run(t, onHashes(Simple, tc.command), s.start(t))
			require.NoError(t, err)
			errors, missing, wrong := report.Total()
			require.Zero(t, errors)
			require.Equal(t, tc.missing, missing > 0, "%+v", report.Rows)
			require.Equal(t, tc.wrong, wrong > 0, "%+v", report.Rows)
		})
	}
}
