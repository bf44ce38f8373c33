package datatype

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// TestAFieldIsInAHashOnce: bytes from elsewhere in which one is twice are no hash.
func TestAFieldIsInAHashOnce(t *testing.T) {
	packed := func(fields ...string) record.State {
		value := []byte{byte(len(fields))}
		for _, field := range fields {
			value = parts.AppendItem(value, []byte(field), []byte("v"))
		}
		return record.State{Type: record.Hash, Value: value}
	}
	_, err := decodeState(encodeState(packed("a", "b")))
	require.NoError(t, err)
	_, err = decodeState(encodeState(packed("a", "a")))
	require.ErrorIs(t, err, errDump, "a field twice")
	restore := request("RESTORESTATE", "k", string(encodeState(packed("a", "b", "a"))))
	reply, st, _ := execute(t, record.State{}, restore, testNow)
	require.Equal(t, "-"+errBadDump+"\r\n", reply)
	require.False(t, st.Live())
}

// TestTheLastFieldIsNoDelta: who removes it deletes the key, however long the hash was; and a delta that would leave none is refused.
func TestTheLastFieldIsNoDelta(t *testing.T) {
	st := hashOf("a", strings.Repeat("x", 1000), "b", "y")
	_, less, eff := execute(t, st, request("HDEL", "k", "b"), testNow)
	require.Equal(t, record.Changed, eff.Kind)
	_, gone, eff := execute(t, less, request("HDEL", "k", "a"), testNow)
	require.Equal(t, record.Effect{Kind: record.Replaced}, eff)
	require.False(t, gone.Live())
	e := edit{list: []fieldChange{{field: []byte("a"), remove: true}}}
	_, err := Apply(less, e.appendDelta(nil))
	require.ErrorIs(t, err, ErrDelta)
}

// TestWhatSetsTheSameIsAWrite, as it is in Redis and with SET: only what finds nothing to do is none.
func TestWhatSetsTheSameIsAWrite(t *testing.T) {
	st := hashOf("a", "1")
	for command, kind := range map[string]record.EffectKind{
		"HSET k a 1": record.Replaced, "HINCRBY k a 0": record.Replaced, "HSETNX k a 1": record.Unchanged, "HDEL k b": record.Unchanged,
	} {
		_, after, eff := execute(t, st, request(strings.Fields(command)...), testNow)
		require.Equal(t, kind, eff.Kind, command)
		require.Equal(t, st, after, command)
	}
}

// TestAReplicaHasTheFormOfTheHome: a hash becomes long and short again, a replica gets it whole at any time, and deltas from then on. It
// holds what the home does, to the byte: one version names one state.
func TestAReplicaHasTheFormOfTheHome(t *testing.T) {
	home, changes := record.State{}, 0
	replicas := map[int]record.State{}
	var fields []string
	for step := range 7 * packedFields {
		args := []string{"HSET", "k", fmt.Sprint("field", step), "value of a field"}
		if step > 2*packedFields && step%3 > 0 { // one comes, two go
			args = []string{"HDEL", "k", fields[0]}
			fields = fields[1:]
		} else {
			fields = append(fields, args[2])
		}
		_, next, eff := execute(t, home, request(args...), testNow)
		for i, replica := range replicas {
			switch eff.Kind {
			case record.Changed:
				replica, _ = Apply(replica, eff.Delta)
			case record.Replaced:
				replica = arrived(next)
			}
			replicas[i] = replica
			require.Equal(t, next.Packed(), replica.Packed(), "step %d, replica since %d", step, i)
		}
		if (next.Object != nil) != (home.Object != nil) {
			changes++
		}
		if home = next; step%20 == 0 {
			replicas[step] = arrived(home)
		}
	}
	require.Greater(t, changes, 1, "the hash did not change its form and back")
}

// arrived is what a replica makes of a state that it is sent.
func arrived(st record.State) record.State {
	st, _ = Live(st.Packed())
	return st
}

// TestACursorOutlivesWhatWasScanned: a cursor names a position that nothing else moves. Fields behind it go, so that all others have
// other places in the hash, and none of them is missed; nor is the field at the cursor itself.
func TestACursorOutlivesWhatWasScanned(t *testing.T) {
	args := []string{"HSET", "k"}
	for i := range 3 * wholeScan {
		args = append(args, fmt.Sprint("field", i), "v")
	}
	_, st, _ := execute(t, record.State{}, request(args...), testNow)
	scanned := map[string]bool{}
	for cursor, pages := "0", 0; cursor != "0" || pages == 0; pages++ {
		require.Less(t, pages, 100)
		reply, _, _ := execute(t, st, request("HSCAN", "k", cursor, "COUNT", "100"), testNow)
		lines := strings.Split(reply, "\r\n")
		cursor = lines[2]
		gone := []string{"HDEL", "k"}
		for i := 5; i < len(lines); i += 4 {
			scanned[lines[i]] = true
			if len(gone) < wholeScan/10 && st.Live() {
				gone = append(gone, lines[i])
			}
		}
		if len(gone) > 2 {
			_, st, _ = execute(t, st, request(gone...), testNow)
		}
	}
	require.Len(t, scanned, 3*wholeScan, "fields were there all the time and were not returned")

	field := "field1100"
	at := strconv.FormatUint(parts.Position([]byte(field)), 10)
	_, st, _ = execute(t, record.State{}, request(args...), testNow)
	reply, _, _ := execute(t, st, request("HSCAN", "k", at, "MATCH", field), testNow)
	require.Contains(t, reply, field, "the field at the cursor")
}
