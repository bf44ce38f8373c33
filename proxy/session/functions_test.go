package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
)

func librarySet(t *testing.T, code string, names ...string) *function.Set {
	l := &function.Library{Name: "a", Code: []byte(code)}
	for _, name := range names {
		l.Functions = append(l.Functions, function.Function{Name: name})
	}
	set, err := function.NewSet(l)
	require.NoError(t, err)
	return set
}

// TestKnownFunctions checks what a proxy remembers of functions, and for how long.
func TestKnownFunctions(t *testing.T) {
	var f functions
	known := func(want, planned bool) {
		t.Helper()
		c, p := f.fresh([]byte("G"))
		require.Equal(t, want, c != nil)
		require.Equal(t, planned, p)
	}
	known(false, false)
	f.guessed([]byte("g")) // of which nobody knows
	now := time.Now()
	f.saw(librarySet(t, "x", "f", "g", "G"), []byte("1"), now, 0)
	known(true, true)
	f.guessed([]byte("g"))
	known(true, false)

	f.seen = now.Add(-functionsFresh)
	known(false, false) // it is not taken for what is there any more,
	set, ok := f.confirm([]byte("1"), now)
	require.True(t, ok && set != nil)
	known(true, false) // and what it does has not changed when it is
	_, ok = f.confirm([]byte("2"), now.Add(1))
	require.False(t, ok, "another version is there")
	_, ok = f.confirm(nil, now.Add(1))
	require.False(t, ok)
	_, ok = f.confirm(nil, now.Add(-1))
	require.True(t, ok, "what is known was read later than that")
	f.saw(librarySet(t, "x", "g"), []byte("2"), now.Add(1), 0)
	known(true, false)
	f.saw(librarySet(t, "y", "g"), []byte("3"), now.Add(2), 0)
	known(true, true) // it is another one
	f.saw(librarySet(t, "z"), []byte("2"), now.Add(1), 0)
	known(true, true) // what was read before is not kept

	changes := f.made()
	f.forget()
	known(false, false)
	_, ok = f.confirm([]byte("3"), now.Add(3))
	require.False(t, ok, "this proxy has changed it")
	f.saw(librarySet(t, "y", "g"), []byte("3"), now.Add(3), changes)
	known(false, false) // it was read before that
	f.saw(librarySet(t, "y", "g"), []byte("4"), now.Add(4), f.made())
	known(true, true)
}

// TestChangesOfLibraries checks what is written so that other libraries are there: what goes, and what comes or is not as it was.
func TestChangesOfLibraries(t *testing.T) {
	a, b, c := &function.Library{Name: "a", Code: []byte("1")}, &function.Library{Name: "b", Code: []byte("1")}, &function.Library{Name: "c", Code: []byte("1")}
	have, err := function.NewSet(a, b)
	require.NoError(t, err)
	want, err := function.NewSet(a, &function.Library{Name: "c", Code: []byte("1")})
	require.NoError(t, err)
	require.Equal(t, []command.Request{
		{Op: command.OpHDel, Args: [][]byte{[]byte("HDEL"), libraries, []byte("b")}},
		{Op: command.OpHSet, Args: [][]byte{[]byte("HSET"), libraries, []byte("c"), c.Encode()}},
	}, changes(have, want))
	require.Empty(t, changes(have, have))
	require.Empty(t, changes(nil, nil))
	require.Len(t, changes(have, nil)[0].Args, 4)
	replaced, err := have.With(&function.Library{Name: "b", Code: []byte("2")})
	require.NoError(t, err)
	require.Equal(t, "b", string(changes(have, replaced)[0].Args[2]))
}

// TestCallsAsNodesExecuteThem: with the code, and as a read if the function says that it does not write.
func TestCallsAsNodesExecuteThem(t *testing.T) {
	args := [][]byte{[]byte("FCALL"), []byte("F"), []byte("1"), []byte("k"), []byte("a")}
	sent := [][]byte{[]byte("FCALL"), []byte("code"), []byte("1"), []byte("k"), []byte("a"), []byte("f")}
	writes := &callable{Function: &function.Function{Name: "f"}, code: []byte("code")}
	reads := &callable{Function: &function.Function{Name: "f", Flags: function.NoWrites}, code: []byte("code")}
	require.Equal(t, command.Request{Op: command.OpCall, Args: sent}, writes.call(command.OpFCall, args, false))
	require.Equal(t, command.Request{Op: command.OpCallRO, Args: sent, RESP3: true}, writes.call(command.OpFCallRO, args, true))
	require.Equal(t, command.OpCallRO, reads.call(command.OpFCall, args, false).Op)
	require.Equal(t, command.OpFCall, (*callable)(nil).call(command.OpFCall, args, false).Op)
	require.True(t, command.ByOp(command.OpCall).Writes() && !command.ByOp(command.OpCallRO).Writes())
	keys, ok := command.ByOp(command.OpCall).AllKeys(sent)
	require.True(t, ok)
	require.Equal(t, [][]byte{[]byte("k")}, keys)
}
