package datatype

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// withElements returns a value of n elements, made by commands of one word for each and a hundred elements at a time.
func withElements(t *testing.T, n int, words string, element func(i int) string) record.State {
	t.Helper()
	var st record.State
	for i := 0; i < n; {
		line := words
		for range min(100, n-i) {
			line += " " + element(i)
			i++
		}
		_, effect := Execute(nil, st, request(strings.Fields(line)...), testNow)
		st = effect.Whole()
	}
	return st
}

func TestLengthy(t *testing.T) {
	t.Parallel()
	const n = manyElements + 1000
	plain := func(i int) string { return fmt.Sprintf("e%05d", i) }
	values := map[string]record.State{
		"list":  withElements(t, n, "RPUSH k", plain),
		"few":   withElements(t, 300, "RPUSH k", plain),
		"wide":  withElements(t, 300, "RPUSH k", func(int) string { return strings.Repeat("x", 5000) }),
		"hash":  withElements(t, n, "HSET k", func(i int) string { return plain(i) + " v" }),
		"set":   withElements(t, n, "SADD k", plain),
		"zset":  withElements(t, n, "ZADD k", func(i int) string { return fmt.Sprint(i, " ", plain(i)) }),
		"small": withElements(t, 3, "RPUSH k", plain),
	}
	for _, tt := range []struct {
		value, command string
		lengthy        bool
	}{
		{"list", "LRANGE k 0 -1", true},
		{"list", "LRANGE k -10 -1", false},
		{"list", "LRANGE k 0 8191", false},
		{"list", "LRANGE k 0 8192", true},
		{"list", "LRANGE k a b", false},
		{"list", "LPOS k x", true},
		{"list", "LINDEX k 5000", false},
		{"list", "LLEN k", false},
		{"list", "SORT_RO k ALPHA", true},
		{"list", "DUMP k", true},
		{"few", "LRANGE k 0 -1", false},
		{"wide", "LRANGE k 0 -1", true},
		{"wide", "LRANGE k 0 9", false},
		{"small", "LRANGE k 0 -1", false},
		{"hash", "HGETALL k", true},
		{"hash", "HKEYS k", true},
		{"hash", "HVALS k", true},
		{"hash", "HGET k e00001", false},
		{"hash", "HRANDFIELD k", false},
		{"hash", "HRANDFIELD k 5", false},
		{"hash", "HRANDFIELD k 9000", true},
		{"hash", "HRANDFIELD k -9000 WITHVALUES", true},
		{"hash", "HRANDFIELD k -9223372036854775808", false},
		{"hash", "HSCAN k 0", false},
		{"hash", "HSCAN k 0 MATCH * COUNT 100000", true},
		{"set", "SMEMBERS k", true},
		{"set", "SISMEMBER k e00001", false},
		{"set", "SRANDMEMBER k 9000", true},
		{"zset", "ZRANGE k 0 9", false},
		{"zset", "ZRANGE k 0 -1", true},
		{"zset", "ZRANGE k 0 100 BYSCORE", false},
		{"zset", "ZRANGE k -inf +inf BYSCORE", true},
		{"zset", "ZRANGE k -inf +inf BYSCORE LIMIT 0 10", false},
		{"zset", "ZRANGE k 0 -1 SIDEWAYS", false},
		{"zset", "ZREVRANGE k 0 -1", true},
		{"zset", "ZRANGEBYSCORE k 5 10", false},
		{"zset", "ZREVRANGEBYSCORE k +inf -inf", true},
		{"zset", "ZRANGEBYLEX k - +", true},
		{"zset", "ZREVRANGEBYLEX k + -", true},
		{"zset", "LRANGE k 0 -1", true}, // refused as quickly there
		{"list", "ZRANGE k 0 -1", false},
	} {
		st := values[tt.value]
		require.Equal(t, tt.lengthy, Lengthy(&st, request(strings.Fields(tt.command)...)), "%s: %s", tt.value, tt.command)
	}
}

// TestExtentsAreOfReads: what is read apart must have no effect.
func TestExtentsAreOfReads(t *testing.T) {
	t.Parallel()
	for op, extent := range extents {
		if extent != nil {
			require.False(t, command.Op(op) != command.OpMembers && command.ByOp(command.Op(op)).Flags&command.FlagWrite != 0, op)
		}
	}
}
