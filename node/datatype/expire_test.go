package datatype

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

func TestExpire(t *testing.T) {
	const far = testNow + 100_000
	v, vFar := str("v"), strUntil("v", far)
	runRows(t, []row{
		{v, "EXPIRE k 100", ":1\r\n", vFar, written},
		{other, "EXPIRE k 100", ":1\r\n", record.State{Type: otherType, ExpireAt: far}, written},
		{absent, "EXPIRE k 100", ":0\r\n", absent, same},
		{v, "PEXPIRE k 100000", ":1\r\n", vFar, written},
		{v, "EXPIREAT k 1700000001", ":1\r\n", strUntil("v", 1_700_000_001_000), written},
		{v, "PEXPIREAT k 1700000001234", ":1\r\n", strUntil("v", 1_700_000_001_234), written},
		{v, "EXPIRE k 0", ":1\r\n", absent, written},
		{v, "EXPIRE k -1", ":1\r\n", absent, written},
		{v, "PEXPIREAT k 0", ":1\r\n", absent, written},
		{v, "EXPIRE k 1 XX", ":0\r\n", v, same},
		{vFar, "EXPIRE k 1 NX", ":0\r\n", vFar, same},
		{vFar, "EXPIRE k 100 GT", ":0\r\n", vFar, same},
		{v, "EXPIRE k 100 GT", ":0\r\n", v, same},
		{vFar, "EXPIRE k 100 LT", ":0\r\n", vFar, same},
		{v, "EXPIRE k 100 LT", ":1\r\n", vFar, written},
		{vFar, "EXPIRE k 99 XX lt", ":1\r\n", strUntil("v", far-1000), written},
		{v, "EXPIRE k 1 NX GT", "-" + errNXWithOther + "\r\n", v, same},
		{v, "EXPIRE k 1 LT GT", "-" + errGTWithLT + "\r\n", v, same},
		{v, "EXPIRE k x foo", "-ERR Unsupported option foo\r\n", v, same},
		{v, "EXPIRE k x foo\nbar\r\n", "-ERR Unsupported option foo bar\r\n", v, same},
		{v, "EXPIRE k x foo\x00bar", "-ERR Unsupported option foo\r\n", v, same},
		{v, "EXPIRE k x", "-ERR value is not an integer or out of range\r\n", v, same},
		{absent, "EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command\r\n", absent, same},
		{absent, "EXPIREAT k -9223372036854775808", "-ERR invalid expire time in 'expireat' command\r\n", absent, same},
		{absent, "PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command\r\n", absent, same},
		{v, "PEXPIRE k -9223372036854775808", ":1\r\n", absent, written},
		{vFar, "PERSIST k", ":1\r\n", v, written},
		{v, "PERSIST k", ":0\r\n", v, same},
		{absent, "PERSIST k", ":0\r\n", absent, same},
	})
}

func TestTTL(t *testing.T) {
	st := strUntil("v", testNow+1499)
	runRows(t, []row{
		{absent, "TTL k", ":-2\r\n", absent, same},
		{str("v"), "TTL k", ":-1\r\n", str("v"), same},
		{st, "TTL k", ":1\r\n", st, same},
		{st, "PTTL k", ":1499\r\n", st, same},
		{st, "EXPIRETIME k", ":1700000002\r\n", st, same},
		{st, "PEXPIRETIME k", ":1700000001899\r\n", st, same},
		{strUntil("v", testNow+1500), "TTL k", ":2\r\n", strUntil("v", testNow+1500), same},
		{strUntil("v", math.MaxInt64), "EXPIRETIME k", ":9223372036854776\r\n", strUntil("v", math.MaxInt64), same},
	})
}

func TestKeys(t *testing.T) {
	v := str("v")
	runRows(t, []row{
		{v, "DEL k", ":1\r\n", absent, written},
		{absent, "DEL k", ":0\r\n", absent, same},
		{other, "UNLINK k", ":1\r\n", absent, written},
		{v, "EXISTS k", ":1\r\n", v, same},
		{absent, "TOUCH k", ":0\r\n", absent, same},
		{v, "TYPE k", "+string\r\n", v, same},
		{absent, "TYPE k", "+none\r\n", absent, same},
	})
}

func TestDumpAndRestore(t *testing.T) {
	for _, st := range []record.State{str(""), str("v"), strUntil("\x00\xff", testNow+1), strUntil(strings.Repeat("x", 999), math.MaxInt64)} {
		blob := string(encodeState(st))
		reply, next, eff := execute(t, absent, request("RESTORESTATE", "k", blob), testNow)
		require.Equal(t, ":1\r\n", reply)
		require.Equal(t, record.Replaced, eff.Kind)
		require.Equal(t, st, next)

		reply, _, eff = execute(t, str("o"), request("RESTORESTATE", "k", blob), testNow)
		require.Equal(t, ":0\r\n", reply)
		require.Equal(t, record.Unchanged, eff.Kind)

		reply, next, _ = execute(t, other, request("RESTORESTATE", "k", blob, "Replace"), testNow)
		require.Equal(t, ":1\r\n", reply)
		require.Equal(t, st, next)
	}
	past := string(encodeState(strUntil("v", testNow)))
	runRows(t, []row{
		{absent, "SIZESTATE k", "$-1\r\n", absent, same},
		{str("value"), "SIZESTATE k", ":5\r\n", str("value"), same},
		{hashOf("f", "v"), "SIZESTATE k", ":5\r\n", hashOf("f", "v"), same},
		{absent, "DUMPSTATE k", "$-1\r\n", absent, same},
		{str("v"), "DUMPSTATE k", "$4\r\n\x01\x01\x00v\r\n", str("v"), same},
		{absent, "RESTORESTATE k \x01\x01\x00v foo", "-ERR syntax error\r\n", absent, same},
		{str("v"), "RESTORESTATE k " + past + " REPLACE", ":1\r\n", absent, written},
		{absent, `RESTORESTATE k ""`, "-ERR Bad data format\r\n", absent, same},
		{absent, "RESTORESTATE k \x02\x01\x00v", "-ERR Bad data format\r\n", absent, same},
		{absent, "RESTORESTATE k \x01\x02\x00v", "-ERR Bad data format\r\n", absent, same},
		{absent, "RESTORESTATE k \x01\x01\x80", "-ERR Bad data format\r\n", absent, same},
		{absent, "RESTORESTATE k \x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01v", "-ERR Bad data format\r\n", absent, same},
	})
}
