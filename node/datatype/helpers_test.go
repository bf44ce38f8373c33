package datatype

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// testNow is a time in 2023, with milliseconds that rounding would show.
const testNow = 1_700_000_000_400

// otherType stands for a type that is not a string.
const otherType = record.Type(77)

// ops are the commands by name.
var ops = opsByName()

func opsByName() map[string]command.Op {
	byName := map[string]command.Op{}
	for op := range command.Op(len(operations)) {
		if c := command.ByOp(op); c != nil {
			byName[strings.ToUpper(c.Name)] = op
		}
	}
	return byName
}

func request(args ...string) *command.Request {
	req := &command.Request{Op: ops[strings.ToUpper(args[0])], MaxValue: 64 << 20}
	for _, arg := range args {
		req.Args = append(req.Args, []byte(arg))
	}
	return req
}

func str(value string) record.State { return strUntil(value, 0) }

func strUntil(value string, at int64) record.State {
	return record.State{Type: record.String, ExpireAt: at, Value: buffer.Clone([]byte(value))}
}

// execute runs a command, checks everything that must hold for any command, and
// returns the reply and the state that follows.
func execute(t require.TestingT, st record.State, req *command.Request, now int64) (string, record.State, record.Effect) {
	if h, ok := t.(*testing.T); ok {
		h.Helper()
	}
	inBothForms(t, st, req, now)
	before := bytes.Clone(st.Packed().Value)
	out, eff := Execute([]byte("before"), st, req, now)
	require.True(t, bytes.HasPrefix(out, []byte("before")), "the reply is appended")

	whole := bytes.Clone(eff.State.Packed().Value)
	delta := bytes.Clone(eff.Delta)
	for _, arg := range req.Args { // they were only borrowed
		for i := range arg {
			arg[i] ^= 0x55
		}
	}
	require.Equal(t, before, bytes.Clone(st.Packed().Value), "the old value was changed")
	require.True(t, bytes.Equal(whole, eff.State.Packed().Value), "the new value aliases an argument")
	require.True(t, bytes.Equal(delta, eff.Delta), "the delta aliases an argument")
	require.Equal(t, len(eff.State.Value), cap(eff.State.Value), "the new value has spare capacity")
	return string(out[len("before"):]), follow(t, st, eff), eff
}

// inBothForms runs a command on a string that is bytes, and in parts: nobody can tell which, not by the reply, nor by the effect, nor by
// what replicas with either form make of the delta.
func inBothForms(t require.TestingT, st record.State, req *command.Request, now int64) {
	if st.Type != record.String || st.Size() == 0 {
		return
	}
	packed := st.Packed()
	packed.Value = slices.Clip(packed.Value)
	rope := record.State{Type: st.Type, ExpireAt: st.ExpireAt, Object: parts.NewRope(packed.Value)}
	want, eff := Execute(nil, packed, req, now)
	got, ropeEff := Execute(nil, rope, req, now)
	require.True(t, bytes.Equal(want, got), "%.100q and %.100q", want, got)
	require.Equal(t, eff.Kind, ropeEff.Kind)
	require.True(t, bytes.Equal(eff.Delta, ropeEff.Delta))
	require.True(t, sameState(eff.State, ropeEff.State))
	require.True(t, bytes.Equal(packed.Value, rope.Object.AppendTo(nil)), "the old value was changed")
	if eff.Kind != record.Changed {
		return
	}
	for _, replica := range []record.State{packed, rope} {
		applied, err := Apply(replica, eff.Delta)
		require.NoError(t, err)
		require.True(t, sameState(eff.State, applied))
	}
}

// sameState reports whether two states are one, whatever their forms.
func sameState(a, b record.State) bool {
	return a.Type == b.Type && a.ExpireAt == b.ExpireAt && bytes.Equal(a.Packed().Value, b.Packed().Value)
}

// follow returns the state after an effect and checks that its delta leads there too.
func follow(t require.TestingT, st record.State, eff record.Effect) record.State {
	switch eff.Kind {
	case record.Unchanged:
		require.Equal(t, record.Effect{}, eff)
		return st
	case record.Replaced:
		require.Nil(t, eff.Delta)
	case record.Patched:
		require.Equal(t, st.Packed().Value, eff.State.Value, "a patch is of the old state")
		delta := eff.Patch().Append(nil)
		p, ok := record.PatchOf(st, delta)
		require.True(t, ok)
		require.Equal(t, p.Of(st, nil), eff.Whole())
		applied, err := Apply(st, delta)
		require.NoError(t, err)
		require.Equal(t, eff.Whole(), applied)
		require.Less(t, len(delta), eff.State.Size())
	case record.Changed:
		replica := st
		if st.Object == nil {
			replica.Value = buffer.Clone(st.Value)
		}
		applied, err := Apply(replica, eff.Delta)
		require.NoError(t, err)
		require.True(t, sameState(eff.State, applied))
		require.Equal(t, eff.State.Object == nil, applied.Object == nil, "they are of different forms")
		require.Less(t, len(eff.Delta), eff.State.Size())
		require.Equal(t, len(applied.Value), cap(applied.Value))
	}
	return eff.Whole()
}

// row is one command on one state.
type row struct {
	st    record.State
	args  string // separated by spaces; "" in quotes is an empty argument
	reply string
	want  record.State
	kind  record.EffectKind
}

func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		args := strings.Split(r.args, " ")
		for i := range args {
			args[i] = strings.Trim(args[i], `"`)
		}
		reply, next, eff := execute(t, r.st, request(args...), testNow)
		require.Equal(t, r.reply, reply, "%v", r)
		require.Equal(t, r.kind, eff.Kind, "%v", r)
		require.Equal(t, r.want, next, "%v", r)
	}
}

const wrongType = "-" + errWrongType + "\r\n"
