package datatype

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

var (
	absent = record.State{}
	other  = record.State{Type: otherType}
)

const (
	same    = record.Unchanged
	written = record.Replaced
	changed = record.Changed
)

func TestGet(t *testing.T) {
	runRows(t, []row{
		{absent, "GET k", "$-1\r\n", absent, same},
		{str(""), "GET k", "$0\r\n\r\n", str(""), same},
		{str("v"), "GET k", "$1\r\nv\r\n", str("v"), same},
		{other, "GET k", wrongType, other, same},
		{other, "MGET k", "$-1\r\n", other, same},
		{str("v"), "MGET k", "$1\r\nv\r\n", str("v"), same},
		{str("four"), "STRLEN k", ":4\r\n", str("four"), same},
		{absent, "STRLEN k", ":0\r\n", absent, same},
		{other, "STRLEN k", wrongType, other, same},
		{str("v"), "GETDEL k", "$1\r\nv\r\n", absent, written},
		{absent, "GETDEL k", "$-1\r\n", absent, same},
		{other, "GETDEL k", wrongType, other, same},
	})
	reply, _, _ := execute(t, absent, &command.Request{Op: command.OpGet, RESP3: true, Args: request("GET", "k").Args}, testNow)
	require.Equal(t, "_\r\n", reply)
}

func TestSet(t *testing.T) {
	const far = testNow + 100_000
	runRows(t, []row{
		{absent, "SET k v", "+OK\r\n", str("v"), written},
		{str("v"), "SET k v", "+OK\r\n", str("v"), written},
		{strUntil("v", far), "SET k w", "+OK\r\n", str("w"), written},
		{strUntil("v", far), "SET k w KEEPTTL", "+OK\r\n", strUntil("w", far), written},
		{absent, "SET k w KeepTTL", "+OK\r\n", str("w"), written},
		{other, "SET k v", "+OK\r\n", str("v"), written},
		{other, "SET k v GET", wrongType, other, same},
		{str("o"), "SET k v GET", "$1\r\no\r\n", str("v"), written},
		{absent, "SET k v GET", "$-1\r\n", str("v"), written},
		{str("o"), "SET k v NX", "$-1\r\n", str("o"), same},
		{str("o"), "SET k v NX GET", "$1\r\no\r\n", str("o"), same},
		{absent, "SET k v NX GET", "$-1\r\n", str("v"), written},
		{absent, "SET k v XX", "$-1\r\n", absent, same},
		{str("o"), "SET k v xx", "+OK\r\n", str("v"), written},
		{str("o"), "SET k v NX XX", "-ERR syntax error\r\n", str("o"), same},
		{absent, "SET k v EX 100", "+OK\r\n", strUntil("v", far), written},
		{absent, "SET k v px 100000", "+OK\r\n", strUntil("v", far), written},
		{absent, "SET k v EXAT 1700000001", "+OK\r\n", strUntil("v", 1_700_000_001_000), written},
		{absent, "SET k v PXAT 1700000001234", "+OK\r\n", strUntil("v", 1_700_000_001_234), written},
		{str("o"), "SET k v EXAT 1", "+OK\r\n", absent, written},
		{absent, "SET k v EX 1 EX 100", "+OK\r\n", strUntil("v", far), written},
		{absent, "SET k v EX 1 PX 100", "-ERR syntax error\r\n", absent, same},
		{absent, "SET k v EX 1 KEEPTTL", "-ERR syntax error\r\n", absent, same},
		{absent, "SET k v EX", "-ERR syntax error\r\n", absent, same},
		{absent, "SET k v PERSIST", "-ERR syntax error\r\n", absent, same},
		{absent, "SET k v EX 0", "-ERR invalid expire time in 'set' command\r\n", absent, same},
		{absent, "SET k v EX -1", "-ERR invalid expire time in 'set' command\r\n", absent, same},
		{absent, "SET k v EX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n", absent, same},
		{absent, "SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n", absent, same},
		{absent, "SET k v EX x", "-ERR value is not an integer or out of range\r\n", absent, same},
		{absent, "SETEX k 100 v", "+OK\r\n", strUntil("v", far), written},
		{absent, "SETEX k 0 v", "-ERR invalid expire time in 'setex' command\r\n", absent, same},
		{absent, "pSETeX k 100000 v", "+OK\r\n", strUntil("v", far), written},
		{absent, "PSETEX k -5 v", "-ERR invalid expire time in 'psetex' command\r\n", absent, same},
		{absent, "SETNX k v", ":1\r\n", str("v"), written},
		{str("o"), "SETNX k v", ":0\r\n", str("o"), same},
		{other, "SETNX k v", ":0\r\n", other, same},
		{strUntil("o", far), "GETSET k v", "$1\r\no\r\n", str("v"), written},
		{other, "GETSET k v", wrongType, other, same},
		{other, "MSET k v", "+OK\r\n", str("v"), written},
	})
}

func TestGetEx(t *testing.T) {
	const far = testNow + 100_000
	runRows(t, []row{
		{str("v"), "GETEX k", "$1\r\nv\r\n", str("v"), same},
		{absent, "GETEX k EX 100", "$-1\r\n", absent, same},
		{absent, "GETEX k EX x", "$-1\r\n", absent, same},
		{absent, "GETEX k foo", "-ERR syntax error\r\n", absent, same},
		{str("v"), "GETEX k KEEPTTL", "-ERR syntax error\r\n", str("v"), same},
		{str("v"), "GETEX k EX 100", "$1\r\nv\r\n", strUntil("v", far), written},
		{str("v"), "GETEX k EX 0", "-ERR invalid expire time in 'getex' command\r\n", str("v"), same},
		{strUntil("v", far), "GETEX k PERSIST", "$1\r\nv\r\n", str("v"), written},
		{str("v"), "GETEX k PERSIST", "$1\r\nv\r\n", str("v"), same},
		{str("v"), "GETEX k PERSIST EX 1", "-ERR syntax error\r\n", str("v"), same},
		{str("v"), "GETEX k PXAT 1", "$1\r\nv\r\n", absent, written},
		{other, "GETEX k", wrongType, other, same},
	})
}

func TestRanges(t *testing.T) {
	const tooLong = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"
	runRows(t, []row{
		{absent, "APPEND k v", ":1\r\n", str("v"), written},
		{strUntil("v", testNow+5), "APPEND k w", ":2\r\n", strUntil("vw", testNow+5), written},
		{other, "APPEND k v", wrongType, other, same},
		{str("hello"), "GETRANGE k 1 -2", "$3\r\nell\r\n", str("hello"), same},
		{str("hello"), "SUBSTR k -100 0", "$1\r\nh\r\n", str("hello"), same},
		{str("hello"), "GETRANGE k -10 -20", "$0\r\n\r\n", str("hello"), same},
		{str("hello"), "GETRANGE k 5 9", "$0\r\n\r\n", str("hello"), same},
		{other, "GETRANGE k x 1", "-ERR value is not an integer or out of range\r\n", other, same},
		{other, "GETRANGE k 0 1", wrongType, other, same},
		{absent, "SETRANGE k 2 ab", ":4\r\n", str("\x00\x00ab"), written},
		{str("hello"), "SETRANGE k 1 EL", ":5\r\n", str("hELlo"), written},
		{absent, `SETRANGE k 2 ""`, ":0\r\n", absent, same},
		{str("hello"), `SETRANGE k 99 ""`, ":5\r\n", str("hello"), same},
		{absent, "SETRANGE k -1 a", "-ERR offset is out of range\r\n", absent, same},
		{absent, "SETRANGE k 536870912 a", tooLong, absent, same},
		{absent, "SETRANGE k 9223372036854775807 a", tooLong, absent, same},
		{other, "SETRANGE k 0 a", wrongType, other, same},
	})
}

func TestRefusesWhatTheCallerShouldHave(t *testing.T) {
	runRows(t, []row{
		{absent, "GET", "-ERR wrong number of arguments for 'get' command\r\n", absent, same},
		{absent, "Set k", "-ERR wrong number of arguments for 'set' command\r\n", absent, same},
		{absent, "TTL k l", "-ERR wrong number of arguments for 'ttl' command\r\n", absent, same},
	})
	for _, op := range []command.Op{command.OpNone, command.OpLCS, command.OpWait, 60000} {
		reply, _, _ := execute(t, str("v"), &command.Request{Op: op}, testNow)
		require.Contains(t, reply, "-ERR operation ")
	}
	for op := range operations {
		if operations[op].run != nil {
			reply, _, _ := execute(t, str("v"), &command.Request{Op: command.Op(op)}, testNow)
			require.Equal(t, "-ERR wrong number of arguments for '' command\r\n", reply)
		}
	}
}

func TestAllocations(t *testing.T) {
	dst := make([]byte, 0, 1024)
	st := str("12345")
	cases := map[string]struct {
		req  *command.Request
		want float64
	}{
		"GET":    {request("GET", "k"), 0},
		"TTL":    {request("TTL", "k"), 0},
		"SET":    {request("SET", "k", "value"), 1},
		"SET EX": {request("SET", "k", "value", "EX", "10"), 1},
		"INCR":   {request("INCR", "k"), 1},
	}
	for name, c := range cases {
		got := testing.AllocsPerRun(100, func() { Execute(dst, st, c.req, testNow) })
		require.Equal(t, c.want, got, name)
	}
}

// The arguments of a request that owns them become the value, others are copied.
func TestSetKeepsArgumentsThatAreOwned(t *testing.T) {
	for _, test := range []struct {
		owned  bool
		length int
		kept   bool
	}{{true, 1, true}, {true, record.CopiedValue + 1, true}, {false, 1, false}, {false, 1 << 20, false}} {
		for _, args := range [][]string{{"set", "k", ""}, {"setnx", "k", ""}, {"getset", "k", ""}} {
			req := request(args...)
			req.Owned = test.owned
			req.Args[2] = make([]byte, test.length)
			_, effect := Execute(nil, record.State{}, req, testNow)
			require.Len(t, effect.State.Value, test.length)
			require.Equal(t, test.kept, &effect.State.Value[0] == &req.Args[2][0], "%s %+v", args[0], test)
		}
	}
}
