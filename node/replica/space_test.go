package replica

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
)

// crowded is an engine that may have no room for more data.
type crowded struct {
	*memory.Engine
	err error
}

func (e *crowded) Room() error { return e.err }

// TestRoomIsThereForAWhile before it is believed, unless it is the limit that has changed.
func TestRoomIsThereForAWhile(t *testing.T) {
	none := fmt.Errorf("%w: 5 of 4 bytes", engine.ErrCrowded)
	e := &crowded{memory.New(), none}
	s := &Space{engine: e, log: slog.New(slog.DiscardHandler)}
	require.False(t, s.Crowded())
	require.False(t, s.Full())
	require.True(t, s.Crowded())
	s.LimitChanged()
	require.True(t, s.Crowded(), "there is no room by the new one either")
	require.Equal(t, none, s.Look(1000))

	e.err = nil
	require.Equal(t, none, s.Look(2000))
	require.Equal(t, none, s.Look(2999))
	require.NoError(t, s.Look(3000))
	require.False(t, s.Crowded())

	e.err = fmt.Errorf("%w: %w", none, engine.ErrBrimful)
	require.False(t, s.Full())
	require.True(t, s.Crowded() && s.Brimful())
	e.err = nil
	s.LimitChanged()
	require.False(t, s.Crowded() || s.Brimful())
	require.NoError(t, s.Look(4000))
	e.err = none
	require.False(t, s.Full())
	require.True(t, s.Crowded())
}
