package datatype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// FuzzApply compares with a splice that is done byte by byte, and takes no more memory
// than the new value needs.
func FuzzApply(f *testing.F) {
	f.Add([]byte("0123456789"), int64(0), true, encodeSplice(10, 11, 9, []byte("ab")))
	f.Add([]byte("0123456789"), int64(7), true, encodeSplice(10, 30, 25, []byte("ab")))
	f.Add([]byte("0123456789"), int64(7), true, encodeExpiry(5))
	f.Add([]byte(""), int64(0), false, []byte{deltaSplice, 0, 0, 0})
	f.Add([]byte("0123456789"), int64(7), true, record.Patch{At: 8, Bytes: []byte("ab")}.Append(nil))
	f.Add([]byte("0123456789"), int64(7), true, record.Patch{At: 9, Bytes: []byte("ab")}.Append(nil))
	f.Add([]byte("x"), int64(0), false, []byte{deltaSeveral})
	f.Add([]byte("x"), int64(0), true, []byte{deltaSeveral, 2, deltaExpiry, 5, 2, deltaExpiry, 7})
	f.Add([]byte("x"), int64(0), true, encodeSplice(1, MaxValueLen+1, 0, nil))
	f.Add([]byte("x"), int64(0), true, binary.AppendUvarint([]byte{deltaSplice, 1}, math.MaxUint64))
	f.Fuzz(func(t *testing.T, value []byte, at int64, live bool, delta []byte) {
		st := record.State{}
		if live {
			st = record.State{Type: record.String, ExpireAt: at, Value: value}
		}
		before := string(value)
		if grown, ok := growth(delta); ok && grown > 1<<20 {
			return // as valid as a SETRANGE far behind the end, and as slow
		}
		next, err := Apply(st, delta)
		require.Equal(t, before, string(value))
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			require.Equal(t, record.State{}, next)
			return
		}
		require.True(t, live)
		want := st
		switch delta[0] {
		case deltaSplice:
			want.Value = spliceSlowly(value, delta[1:])
			require.Equal(t, len(next.Value), cap(next.Value), "nothing to spare")
			inParts, err := Apply(record.State{Type: st.Type, ExpireAt: at, Object: parts.NewRope(value)}, delta)
			require.NoError(t, err)
			require.True(t, sameState(want, inParts))
		case deltaPatch:
			at, size := binary.Uvarint(delta[1:])
			want.Value = []byte(before[:at] + string(delta[1+size:]) + before[int(at)+len(delta)-1-size:])
		case deltaSeveral:
			for body := delta[1:]; len(body) > 0; {
				n, size := binary.Uvarint(body)
				want, err = Apply(want, body[size:size+int(n)])
				require.NoError(t, err)
				body = body[size+int(n):]
			}
		default:
			deadline, _ := binary.Uvarint(delta[1:])
			want.ExpireAt = int64(deadline)
		}
		require.True(t, sameState(want, next))
	})
}

// FuzzApplyFields compares changes of a hash with the same changes of a map.
func FuzzApplyFields(f *testing.F) {
	two := hashOf("a", "1", "b", "2").Value
	for _, delta := range []string{"\x02a\x01x", "\x03a", "\x03c", "\x02c\x00\x03c", "\x03a\x03b", "", "\x02", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		f.Add(two, []byte(delta))
	}
	f.Fuzz(func(t *testing.T, value, body []byte) {
		if !validHash(value) {
			value = two
		}
		before := string(value)
		next, err := Apply(record.State{Type: record.Hash, Value: value}, append([]byte{deltaFields}, body...))
		require.Equal(t, before, string(value))
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			require.Equal(t, record.State{}, next)
			return
		}
		want := mapOf(record.State{Value: value})
		e, _ := decodeEdit(edit{}, body)
		for _, c := range e.list {
			if c.remove {
				delete(want, string(c.field))
			} else {
				want[string(c.field)] = string(c.value)
			}
		}
		require.Equal(t, want, mapOf(next))
	})
}

// FuzzApplyMembers compares changes of a set, packed integers or others, with the same changes of a map.
func FuzzApplyMembers(f *testing.F) {
	ints, others := setOf("1", "-5", "300").Value, setOf("a", "1").Value
	for _, delta := range []string{"\x02a\x00", "\x03a", "\x03c", "\x021\x00", "\x0280\x00", "\x031", "", "\x02", "\x02a\x01x", "\x0499\x00\x031"} {
		f.Add(ints, []byte(delta))
		f.Add(others, []byte(delta))
	}
	f.Fuzz(func(t *testing.T, value, body []byte) {
		if !validSet(value) {
			value = ints
		}
		before := string(value)
		st := record.State{Type: record.Set, Value: value}
		if live, ok := Live(st); ok {
			st = live
		}
		next, err := Apply(st, append([]byte{deltaFields}, body...))
		require.Equal(t, before, string(value))
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			require.Equal(t, record.State{}, next)
			return
		}
		want := setIn(st)
		e, _ := decodeEdit(edit{}, body)
		for _, c := range e.list {
			if c.remove {
				delete(want, string(c.field))
			} else {
				want[string(c.field)] = true
			}
		}
		require.Equal(t, want, setIn(next))
		require.True(t, validSet(next.Packed().Value))
		requireForm(t, next)
	})
}

// FuzzSets: whatever the bytes of a set are, nothing panics, and those that are valid are all the same when they are written again.
func FuzzSets(f *testing.F) {
	f.Add(setOf("1", "-5", "300").Value)
	f.Add(setOf("a", "1").Value)
	f.Add([]byte{integersTag, 2, 1, 0, 1, 0})
	f.Add([]byte{integersTag, 3, 1, 0, 1})
	f.Fuzz(func(t *testing.T, value []byte) {
		damaged := record.State{Type: record.Set, Value: bytes.Clone(value)}
		for _, command := range []string{"SMEMBERS k", "SISMEMBER k a", "SISMEMBER k 1", "SCARD k", "SSCAN k 0", "SRANDMEMBER k -3"} {
			if membersIn(damaged).count() > 0 && validSet(value) || !strings.HasPrefix(command, "SRAND") {
				Execute(nil, damaged, request(strings.Fields(command)...), testNow)
			}
		}
		st, err := decodeState(encodeState(damaged))
		require.Equal(t, err == nil, validSet(value))
		if err == nil {
			require.True(t, bytes.Equal(value, st.Packed().Value) || st.Object != nil)
			requireForm(t, st)
		}
	})
}

// mapOf returns the fields of a hash.
func mapOf(st record.State) map[string]string {
	all := map[string]string{}
	for field, value := range hashIn(st).all() {
		all[string(field)] = string(value)
	}
	return all
}

// growth returns by how much a splice makes its value longer.
func growth(delta []byte) (n uint64, ok bool) {
	if len(delta) == 0 || delta[0] != deltaSplice {
		return 0, false
	}
	_, size := binary.Uvarint(delta[1:])
	if size <= 0 {
		return 0, false
	}
	n, size = binary.Uvarint(delta[1+size:])
	return n, size > 0 && n <= MaxValueLen
}

// spliceSlowly does what the comment at deltaSplice says.
func spliceSlowly(value, numbers []byte) []byte {
	_, n := binary.Uvarint(numbers)
	growth, m := binary.Uvarint(numbers[n:])
	offset, k := binary.Uvarint(numbers[n+m:])
	out := append([]byte{}, value...)
	for range growth {
		out = append(out, 0)
	}
	for i, b := range numbers[n+m+k:] {
		out[int(offset)+i] = b
	}
	return out
}

// FuzzDump: a dumped state comes back, and nothing but a dumped state is taken for one.
func FuzzDump(f *testing.F) {
	f.Add(encodeState(str("value")), int64(testNow))
	f.Add(encodeState(strUntil("", testNow+1)), int64(testNow))
	f.Add(encodeState(hashOf("field", "value", "", "")), int64(testNow))
	f.Add(encodeState(listOf("element", "", "element")), int64(testNow))
	f.Add([]byte{dumpFormat, byte(record.String)}, int64(1))
	f.Add(binary.AppendUvarint([]byte{dumpFormat, byte(record.String)}, math.MaxUint64), int64(1))
	f.Fuzz(func(t *testing.T, blob []byte, now int64) {
		st, err := decodeState(blob)
		if err != nil {
			require.ErrorIs(t, err, errDump)
			require.Equal(t, record.State{}, st)
			return
		}
		same, err := decodeState(encodeState(st))
		require.NoError(t, err)
		require.Equal(t, st, same)
		if now <= 0 {
			return
		}
		_, restored, _ := execute(t, record.State{}, request("RESTORESTATE", "k", string(blob)), now)
		require.False(t, restored.Expired(now))
		if restored.Live() {
			require.Equal(t, st, restored)
		} else {
			require.True(t, st.Expired(now))
		}
	})
}

// FuzzExecute gives any operation any arguments. execute checks what must hold whatever
// they are: nothing borrowed is kept, and a delta leads where the effect says.
func FuzzExecute(f *testing.F) {
	g := randomGenerator(1)
	for range 100 {
		words := g.command("k")
		f.Add([]byte(g.value()), int64(0), uint16(ops[strings.ToUpper(words[0])]), strings.Join(words[2:], "\n"))
	}
	for _, words := range []string{
		"SETRANGE\n536870912\nx", "SETRANGE\n-1\nx", "SETBIT\n4294967296\n1", "GETBIT\n4294967295", "BITFIELD\nSET\nu63\n#9223372036854775807\n1",
		"BITFIELD\nINCRBY\ni64\n0\n9223372036854775807\nOVERFLOW\nSAT\nINCRBY\ni64\n0\n-9223372036854775808", "GETRANGE\n-9223372036854775808\n9223372036854775807",
		"BITCOUNT\n-9223372036854775808\n9223372036854775807\nBIT", "BITPOS\n1\n-1\n-9223372036854775808\nBIT", "SET\nv\nPX\n9223372036854775807",
		"EXPIRE\n-9223372036854775808", "INCRBYFLOAT\n1e4932", "INCRBYFLOAT\n0x1p-16446", "INCRBYFLOAT\n" + strings.Repeat("9", 5000) + "e-5000",
	} {
		name, rest, _ := strings.Cut(words, "\n")
		f.Add([]byte("12"), int64(0), uint16(ops[name]), rest)
	}
	f.Fuzz(func(t *testing.T, value []byte, expireAt int64, op uint16, rest string) {
		st := record.State{Type: record.String, ExpireAt: expireAt, Value: buffer.Clone(value)}
		switch o := command.Op(op); {
		case command.OpHSet <= o && o <= command.OpHScan:
			st.Type = record.Hash
			if !validHash(value) {
				st.Value = hashOf("12", "3", "f1", "x", "", "").Value
			}
		case command.OpZAdd <= o && o <= command.OpZScan, command.OpGeoAdd <= o && o <= command.OpGeoRadiusByMember:
			st.Type = record.SortedSet
			if !validZset(value) {
				st.Value = zsetOf("12", "3", "1.5", "m1", "-inf", "").Value
			}
		}
		if o := command.Op(op); command.OpSAdd <= o && o <= command.OpSMove {
			st.Type = record.Set
			if !validSet(value) {
				st.Value = setOf("12", "3", "f1", "x", "").Value
			}
		}
		if o := command.Op(op); command.OpLPush <= o && o <= command.OpLMPop {
			st.Type = record.List
			if !listVerbs.valid(value) {
				st.Value = listOf("12", "a", "", "a").Value
			}
			if live, ok := Live(st); ok {
				st = live
			}
		}
		if st.Expired(testNow) || expireAt < 0 {
			st = record.State{}
		}
		req := &command.Request{Op: command.Op(op), Args: [][]byte{nil, []byte("k")}}
		var args []string
		if rest != "" {
			args = strings.Split(rest, "\n")
		}
		for _, arg := range args {
			if len(arg) > 6 && op == uint16(command.OpSetRange) || len(arg) > 7 && (op == uint16(command.OpSetBit) || op == uint16(command.OpBitField)) {
				return // offsets that are far away are valid, and slow
			}
			req.Args = append(req.Args, []byte(arg))
		}
		reply, next, effect := execute(t, st, req, testNow)
		require.NotEmpty(t, reply)
		require.True(t, strings.HasSuffix(reply, "\r\n"))
		require.False(t, next.Expired(testNow), "made a state that is expired already")
		require.LessOrEqual(t, next.Size(), MaxValueLen)
		if reply[0] == '-' {
			require.Equal(t, record.Unchanged, effect.Kind, "what is refused has no effect")
		}
	})
}

// FuzzLongDouble compares the parser of INCRBYFLOAT with math/big's, which rounds twice:
// they may differ in the last of 64 bits.
func FuzzLongDouble(f *testing.F) {
	for _, seed := range []string{"0", "-0", "1e4932", "1.2e4932", "3.6e-4951", "1e-4951", "0x1p-16445", "0x1.8p-16446", "0x.8", "1e", "e1", ".", "1.", ".1",
		"inf", "-INFINITY", "nan", "0x", "0x1p+99999999999999999999", "1e-99999999999999999999", "+1", "1_0", "1e5000", "0e9227000000000000000", strings.Repeat("9", 5119)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseLongDouble([]byte(text))
		if !ok || got.IsInf() {
			return
		}
		require.EqualValues(t, 64, got.Prec())
		if strings.ContainsAny(text, "xX") && !strings.ContainsAny(text, "pP") {
			text += "p0" // math/big wants it
		}
		want, _, err := big.ParseFloat(text, 0, 64, big.ToNearestEven)
		if errors.Is(err, strconv.ErrRange) {
			return // an exponent that math/big cannot hold, of a zero
		}
		require.NoError(t, err, "%q", text)
		difference := new(big.Float).Sub(got, want)
		if difference.Sign() != 0 {
			require.LessOrEqual(t, difference.MantExp(nil), want.MantExp(nil)-63)
		}
		again, ok := parseLongDouble(formatLongDouble(got))
		if !ok {
			require.Greater(t, len(formatLongDouble(got)), maxFloatText)
			return
		}
		require.Equal(t, string(formatLongDouble(got)), string(formatLongDouble(again)), "what is stored is read back")
	})
}
