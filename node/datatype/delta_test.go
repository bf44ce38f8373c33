package datatype

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

func TestDeltasAreUsedWhereTheySave(t *testing.T) {
	const far = testNow + 100_000
	x65, x256, x1000 := strings.Repeat("x", 65), strings.Repeat("x", 256), strings.Repeat("x", 1000)
	zeros := strings.Repeat("\x00", 999)
	runRows(t, []row{
		{str(x256), "APPEND k v", ":257\r\n", str(x256 + "v"), changed},
		{str(x256[1:]), "APPEND k v", ":256\r\n", str(x256[1:] + "v"), written},
		{str(x1000), "APPEND k " + x1000, ":2000\r\n", str(x1000 + x1000), written},
		{str(x1000), `APPEND k ""`, ":1000\r\n", str(x1000), changed},
		{strUntil(x1000, far), "SETRANGE k 10 ab", ":1000\r\n", strUntil(x1000[:10]+"ab"+x1000[12:], far), changed},
		{str(x1000), "SETRANGE k 1999 a", ":2000\r\n", str(x1000 + zeros + "a"), changed},
		{absent, "SETRANGE k 999 a", ":1000\r\n", str(zeros + "a"), written},
		{str(x1000), "SETBIT k 0 1", ":0\r\n", str("\xf8" + x1000[1:]), changed},
		{str(x1000), "BITFIELD k SET u8 #1 0 SET u8 #3 0", "*2\r\n:120\r\n:120\r\n", str("x\x00x\x00" + x1000[4:]), changed},
		{str(x1000), "BITFIELD k SET u8 #0 0 SET u8 #999 0", "*2\r\n:120\r\n:120\r\n", str("\x00" + x1000[2:] + "\x00"), written},
		{str(x1000), "BITFIELD k OVERFLOW FAIL SET u8 15984 256", "*1\r\n$-1\r\n", str(x1000 + zeros), changed},
		{str(x65), "EXPIRE k 100", ":1\r\n", strUntil(x65, far), changed},
		{str(x65[1:]), "EXPIRE k 100", ":1\r\n", strUntil(x65[1:], far), written},
		{strUntil(x65, far), "PERSIST k", ":1\r\n", str(x65), changed},
		{str(x65), "GETEX k EX 100", "$65\r\n" + x65 + "\r\n", strUntil(x65, far), changed},
	})
}

func TestApplyRefusesWhatDoesNotFit(t *testing.T) {
	splice := func(numbers ...uint64) []byte {
		delta := []byte{deltaSplice}
		for _, n := range numbers {
			delta = binary.AppendUvarint(delta, n)
		}
		return append(delta, "ab"...)
	}
	st := str("0123456789")
	cases := map[string]struct {
		st    record.State
		delta []byte
	}{
		"empty":              {st, nil},
		"unknown tag":        {st, []byte{99}},
		"no numbers":         {st, []byte{deltaSplice}},
		"other length":       {st, splice(9, 0, 0)},
		"other type":         {record.State{Type: otherType, Value: st.Value}, splice(10, 0, 0)},
		"absent":             {absent, splice(0, 2, 0)},
		"beyond the end":     {st, splice(10, 0, 9)},
		"grows too much":     {st, splice(10, MaxValueLen, 0)},
		"number too large":   {st, splice(10, math.MaxUint64, 12)},
		"expiry too large":   {st, binary.AppendUvarint([]byte{deltaExpiry}, math.MaxInt64+1)},
		"expiry cut":         {st, []byte{deltaExpiry, 0x80}},
		"expiry with a tail": {st, append(encodeExpiry(5), 0)},
		"expiry of nothing":  {absent, encodeExpiry(5)},
	}
	for name, c := range cases {
		_, err := Apply(c.st, c.delta)
		require.ErrorIs(t, err, ErrDelta, name)
	}
	next, err := Apply(st, splice(10, 1, 9))
	require.NoError(t, err)
	require.Equal(t, "012345678ab", string(next.Value))
}
