package datatype

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/hyperloglog"
	"github.com/quolldb/quoll/internal/record"
)

// sketchOf returns a HyperLogLog with n elements.
func sketchOf(t *testing.T, n int) (st record.State) {
	for i := range n {
		_, st, _ = execute(t, st, request("PFADD", "k", strconv.Itoa(i)), testNow)
	}
	return st
}

// TestAnElementIsASmallDelta: to add an element, or to keep an estimate, is a delta of its own size, however many there are.
func TestAnElementIsASmallDelta(t *testing.T) {
	for _, n := range []int{300, 5000} {
		st := sketchOf(t, n)
		_, counted, eff := execute(t, st, request("PFCOUNT", "k"), testNow)
		require.Equal(t, record.Changed, eff.Kind)
		require.Less(t, len(eff.Delta), 20)
		_, _, eff = execute(t, counted, request("PFCOUNT", "k"), testNow)
		require.Equal(t, noEffect, eff, "the value has the estimate")
		for i := n; ; i++ {
			if _, _, eff = execute(t, counted, request("PFADD", "k", strconv.Itoa(i)), testNow); eff.Kind != record.Unchanged {
				break
			}
		}
		require.Equal(t, record.Changed, eff.Kind)
		require.Less(t, len(eff.Delta), 8)
	}
}

// TestASketchKeepsItsExpiry: PFADD does not touch it.
func TestASketchKeepsItsExpiry(t *testing.T) {
	for _, n := range []int{1, 300, 5000} {
		st := sketchOf(t, n)
		st.ExpireAt = testNow + 1
		_, next, _ := execute(t, st, request("PFADD", "k", "a", "b", "c", "d", "e", "f", "g"), testNow)
		require.Equal(t, st.ExpireAt, next.ExpireAt)
	}
}

// TestWhatIsNoSketch: strings that are none, and those whose registers cannot be read, are refused by all commands.
func TestWhatIsNoSketch(t *testing.T) {
	valid := string(hyperloglog.New())
	for value, want := range map[string]string{
		"":                             errNoSketch,
		"HYLL":                         errNoSketch,
		"12":                           errNoSketch,
		"HYLX" + valid[4:]:             errNoSketch,
		valid[:4] + "\x02" + valid[5:]: errNoSketch,
		valid[:4] + "\x00" + valid[5:]: errNoSketch,
		valid[:16]:                     errCorruptSketch,
		valid[:17]:                     errCorruptSketch,
		valid[:16] + "\x00":            errCorruptSketch,
	} {
		for _, args := range [][]string{{"PFADD", "k", "element"}, {"PFCOUNT", "k"}, {"PFMERGE", "k"}, {"PFREAD", "k"}} {
			st := str(value)
			if args[0] == "PFCOUNT" && want == errCorruptSketch { // not of the estimate that a value has
				st.Value = append(append([]byte(value)[:15:15], 1<<7), value[16:]...)
			}
			reply, _, _ := execute(t, st, request(args...), testNow)
			require.Equal(t, "-"+want+"\r\n", reply, "%q %s", value, args)
		}
	}
	reply, _, _ := execute(t, record.State{Type: otherType}, request("PFADD", "k"), testNow)
	require.Equal(t, "-"+errWrongType+"\r\n", reply)
}

// TestASketchThatWouldBeTooLong: it becomes dense only if a value may be so long.
func TestASketchThatWouldBeTooLong(t *testing.T) {
	st := sketchOf(t, 300)
	req := request("PFADD", "k")
	for i := range 2000 {
		req.Args = append(req.Args, fmt.Append(nil, "more", i))
	}
	req.MaxValue = 12000
	reply, next, _ := execute(t, st, req, testNow)
	require.Equal(t, "-"+ErrTooLong+"\r\n", reply)
	require.Equal(t, st, next)
	req.MaxValue++
	req.MaxValue += 303
	reply, next, _ = execute(t, st, req, testNow)
	require.Equal(t, ":1\r\n", reply)
	require.Equal(t, 12304, next.Size())
}

// TestPFReadIsTheValue for PFCOUNT of several keys.
func TestPFReadIsTheValue(t *testing.T) {
	st := sketchOf(t, 10)
	reply, _, eff := execute(t, st, request("PFREAD", "k"), testNow)
	require.Equal(t, noEffect, eff)
	require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(st.Value), st.Value), reply)
	reply, _, _ = execute(t, record.State{}, request("PFREAD", "k"), testNow)
	require.Equal(t, "$-1\r\n", reply)
}

// FuzzApplyRegisters: whatever a delta says, the value stays a HyperLogLog, and none of its registers becomes smaller.
func FuzzApplyRegisters(f *testing.F) {
	f.Add(hyperloglog.New(), encodeRegisters([]hyperloglog.Register{{Index: 3, Value: 5}, {Index: 16383, Value: 51}})[1:])
	f.Add([]byte("HYLL"+strings.Repeat("\x00", 12300)), []byte{1, 2, 0x83, 0x7f})
	f.Fuzz(func(t *testing.T, value, body []byte) {
		before := string(value)
		next, err := Apply(str(before), append([]byte{deltaRegisters}, body...))
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			return
		}
		require.NoError(t, hyperloglog.Check(next.Value))
		var was, is, both hyperloglog.Registers
		if was.Merge([]byte(before)) != nil {
			return
		}
		require.NoError(t, is.Merge(next.Value))
		both = is
		require.NoError(t, both.Merge([]byte(before)))
		require.Equal(t, is, both)
	})
}
