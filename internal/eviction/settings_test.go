package eviction

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettingsAreSetByTheirNames(t *testing.T) {
	t.Parallel()
	s := DefaultSettings()
	for name, value := range map[string]string{MaxMemoryPolicy: "Volatile-LRU", MaxMemorySamples: "64", LfuLogFactor: "0", LfuDecayTime: "2147483647"} {
		require.NoError(t, s.Set(name, value))
	}
	want := Settings{Policy: VolatileLRU, Samples: 64, LogFactor: 0, DecayTime: MostLFU}
	require.Equal(t, want, s)
	for _, of := range []struct {
		name, value string
		want        error
	}{
		{MaxMemoryPolicy, "lru", ErrPolicy}, {MaxMemorySamples, "0", ErrValue}, {MaxMemorySamples, "65", ErrValue}, {LfuLogFactor, "-1", ErrValue}, {LfuDecayTime, "2147483648", ErrValue},
		{LfuDecayTime, "x", ErrValue}, {LfuDecayTime, "", ErrValue}, {MaxMemory, "5", ErrUnknown}, {"", "5", ErrUnknown},
	} {
		require.ErrorIs(t, s.Set(of.name, of.value), of.want, "%s %s", of.name, of.value)
		require.Equal(t, want, s)
	}
}
