package datatype

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// TestALongStringIsInPartsOnceItIsChanged, and remains bytes as long as it is only set and read.
func TestALongStringIsInPartsOnceItIsChanged(t *testing.T) {
	for _, words := range [][]string{{"SETRANGE", "k", "70000", "x"}, {"APPEND", "k", "x"}, {"SETBIT", "k", "8", "1"}, {"BITFIELD", "k", "SET", "u8", "0", "1"}} {
		for _, length := range []int{longText - 1, longText, 100_000} {
			_, st, _ := execute(t, record.State{}, request("SET", "k", strings.Repeat("v", length)), testNow)
			require.Nil(t, st.Object)
			_, st, _ = execute(t, st, request("EXPIRE", "k", "100"), testNow)
			require.Nil(t, st.Object)
			_, changed, _ := execute(t, st, request(words...), testNow)
			require.Equal(t, changed.Size() > longText, changed.Object != nil, "%s of %d bytes", words[0], length)
			require.Equal(t, st.ExpireAt, changed.ExpireAt)
			_, again, _ := execute(t, changed, request("SET", "k", strings.Repeat("v", length)), testNow)
			require.Nil(t, again.Object)
		}
	}
}

// TestAStringInPartsIsAString: commands that know nothing of parts take it as one, too.
func TestAStringInPartsIsAString(t *testing.T) {
	value := strings.Repeat("value", 10_000)
	_, st, _ := execute(t, str(value), request("SETRANGE", "k", "0", "V"), testNow)
	require.NotNil(t, st.Object)
	bulk := fmt.Sprintf("$%d\r\nV%s\r\n", len(value), value[1:])
	for line, want := range map[string]string{
		"GET k": bulk, "MGET k": bulk, "GETDEL k": bulk, "GETEX k PERSIST": bulk, "SET k new GET": bulk, "GETSET k new": bulk, "STRLEN k": ":50000\r\n", "TYPE k": "+string\r\n",
		"INCR k": "-" + errNotInteger + "\r\n", "INCRBYFLOAT k 1": "-" + errNotFloat + "\r\n", "HGET k f": wrongType, "HSET k f v": wrongType, "EXISTS k": ":1\r\n",
		"GETRANGE k 2046 2055": "$10\r\n" + value[2046:2056] + "\r\n", "SETNX k x": ":0\r\n",
	} {
		reply, _, _ := execute(t, st, request(strings.Fields(line)...), testNow)
		require.Equal(t, want, reply, line)
	}
	dumped, err := decodeState(encodeState(st))
	require.NoError(t, err)
	require.True(t, sameState(st, dumped))
}

// TestAReplicaHasTheBytesOfTheHome, whether it has seen all changes, was sent the string after some, or has it in parts from the beginning.
func TestAReplicaHasTheBytesOfTheHome(t *testing.T) {
	model := bytes.Repeat([]byte("v"), 2*longText)
	home := record.State{Type: record.String, Value: bytes.Clone(model)}
	replicas := []record.State{home, {Type: record.String, Object: parts.NewRope(model)}}
	for i, step := range []struct {
		words  string
		change func()
	}{
		{"SETRANGE k 5 abc", func() { copy(model[5:], "abc") }},
		{"APPEND k tail", func() { model = append(model, "tail"...) }},
		{"SETBIT k 80000 1", func() { model[10000] |= 0x80 }},
		{"BITFIELD k OVERFLOW FAIL INCRBY u8 320000 300", func() { model = append(model, make([]byte, 40001-len(model))...) }},
		{"SETRANGE k 50000 end", func() { model = append(append(model, make([]byte, 50000-len(model))...), "end"...) }},
	} {
		_, eff := Execute(nil, home, request(strings.Fields(step.words)...), testNow)
		require.Equal(t, record.Changed, eff.Kind, step.words)
		step.change()
		home = eff.State
		require.True(t, bytes.Equal(model, home.Packed().Value), "%s: not the bytes of the model", step.words)
		for j, replica := range replicas {
			changed, err := Apply(replica, eff.Delta)
			require.NoError(t, err)
			require.True(t, sameState(home, changed), "%s: replica %d", step.words, j)
			replicas[j] = changed
		}
		if i%2 == 0 {
			replicas = append(replicas, arrived(home))
		}
	}
}

// TestADeltaIsForOneLength, in both forms.
func TestADeltaIsForOneLength(t *testing.T) {
	value := bytes.Repeat([]byte("v"), 2*longText)
	_, eff := Execute(nil, record.State{Type: record.String, Value: value}, request("SETRANGE", "k", "5", "abc"), testNow)
	for _, st := range []record.State{{Type: record.String, Value: value[:len(value)-1]}, {Type: record.String, Object: parts.NewRope(value[:len(value)-1])}} {
		_, err := Apply(st, eff.Delta)
		require.ErrorIs(t, err, ErrDelta)
	}
}

// TestReplicasOfALongStringAgree: a replica gets it whole at any time, as bytes, and deltas from then on. It has the bytes that the home has.
func TestReplicasOfALongStringAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, home, _ := execute(t, record.State{}, request("SET", "k", strings.Repeat("v", rapid.IntRange(longText-50, 3*longText).Draw(t, "length"))), testNow)
		replicas := []record.State{home}
		for range rapid.IntRange(1, 20).Draw(t, "commands") {
			at := fmt.Sprint(rapid.IntRange(0, home.Size()+100).Draw(t, "at"))
			words := rapid.SampledFrom([][]string{{"SETRANGE", "k", at, "patch"}, {"APPEND", "k", "tail"}, {"SETBIT", "k", at, "1"},
				{"BITFIELD", "k", "SET", "i64", at, "-77", "INCRBY", "u7", "131000", "5", "OVERFLOW", "FAIL", "SET", "u3", at, "99"}, {"EXPIRE", "k", at}}).Draw(t, "words")
			_, next, eff := execute(t, home, request(words...), testNow)
			for i, replica := range replicas {
				switch eff.Kind {
				case record.Changed:
					changed, err := Apply(replica, eff.Delta)
					require.NoError(t, err)
					replica = changed
				case record.Replaced:
					replica = arrived(next)
				}
				require.True(t, sameState(next, replica), "replica %d after %s", i, words)
				replicas[i] = replica
			}
			home = next
			replicas = append(replicas, arrived(home))
			if !home.Live() {
				break
			}
		}
	})
}

// TestALongStringCostsWhatItsChangeIs, at the home and at a replica.
func TestALongStringCostsWhatItsChangeIs(t *testing.T) {
	_, st, _ := execute(t, record.State{}, request("SETRANGE", "k", "10485750", "x"), testNow)
	for _, words := range [][]string{{"SETRANGE", "k", "5000000", "0123456789"}, {"APPEND", "k", "0123456789"}, {"SETBIT", "k", "4000001", "1"}, {"BITFIELD", "k", "INCRBY", "u8", "40001", "7"}} {
		req, delta := request(words...), []byte(nil)
		require.Less(t, allocated(func() {
			_, eff := Execute(nil, st, req, testNow)
			delta = eff.Delta
		}), 8000, words)
		require.Less(t, allocated(func() {
			_, err := Apply(st, delta)
			require.NoError(t, err)
		}), 8000, words)
		require.Less(t, len(delta), 40)
	}
}

// allocated returns how many bytes a call allocates.
func allocated(call func()) int {
	const calls = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc-before.TotalAlloc) / calls
}
