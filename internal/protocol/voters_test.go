package protocol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/wire"
)

func TestVotersOfAHello(t *testing.T) {
	want := Properties{Voters: Voters{Formation: 1<<64 - 1, Index: 7, IDs: []uint64{1, 1 << 63, 255}}}
	hello := want.Encode(wire.Hello{})
	require.Equal(t, "ffffffffffffffff 7 1 8000000000000000 ff", hello.Properties[PropertyVoters])
	got, err := DecodeProperties(hello)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NotContains(t, Properties{}.Encode(wire.Hello{}).Properties, PropertyVoters)
	for _, bad := range []string{"1", "1 2", "1 2 x", "1 2 ", "1 2 -3", "1 2 10000000000000000", "1 2" + strings.Repeat(" 1", maxVoters+1)} {
		_, err := DecodeProperties(wire.Hello{Properties: map[string]string{PropertyVoters: bad}})
		require.ErrorContains(t, err, "voters", bad)
	}
}
