package register

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
)

// TestWhoTellsLooks: a write that needs no state before it is executed on the state that there is if that has to be known for what is told.
func TestWhoTellsLooks(t *testing.T) {
	cmd := command.Request{Op: command.OpSet, Args: [][]byte{[]byte("SET"), []byte("k"), []byte("v")}}
	for _, c := range []struct {
		events notify.Class
		blind  bool
	}{{0, true}, {notify.String | notify.Generic, true}, {notify.New, false}, {notify.Expired, false}} {
		r := NewRequest(&cmd, nil, 0, 0)
		r.Tell(c.events)
		require.Equal(t, c.blind, r.blind, c.events.String())
		require.Equal(t, c.events != 0, r.Tells())
		r.free()
		require.False(t, NewRequest(&cmd, nil, 0, 0).Tells(), "of the request before nothing is left")
	}
}
