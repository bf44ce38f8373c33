package register

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
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
