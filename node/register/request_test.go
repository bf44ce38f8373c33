package register

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// TestManyEmptyArgumentsHaveTheirSize: they count against what a node works on, and
// nothing is left of them in the pool.
func TestManyEmptyArgumentsHaveTheirSize(t *testing.T) {
	const many = 1 << 20
	r := NewRequest(&command.Request{Op: command.OpSet, Args: make([][]byte, many)}, nil, 1, 0)
	require.GreaterOrEqual(t, r.Size(), argSize*many)
	r.free()
	require.LessOrEqual(t, argSize*cap(r.cmd.Args), maxPooled)
}

// A request has copies of all arguments, and says of its size what they take, whether they are
// short or long.
func TestRequestCopiesItsArguments(t *testing.T) {
	for _, length := range []int{0, 10, record.CopiedValue, record.CopiedValue + 1, 1 << 20} {
		args := [][]byte{[]byte("SET"), []byte("key"), bytes.Repeat([]byte("v"), length), []byte("XX")}
		r := NewRequest(&command.Request{Op: command.OpSet, Args: args}, nil, 1, 1)
		for _, arg := range args {
			clear(arg)
		}
		require.Equal(t, "SET key XX", fmt.Sprintf("%s %s %s", r.cmd.Args[0], r.cmd.Args[1], r.cmd.Args[3]))
		require.Equal(t, bytes.Repeat([]byte("v"), length), r.cmd.Args[2])
		require.Equal(t, len(r.cmd.Args[2]), cap(r.cmd.Args[2]), "appending to one would change another")
		require.Equal(t, 8+length+4*argSize, r.Size())
		r.free()
	}
}
