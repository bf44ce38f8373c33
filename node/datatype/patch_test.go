package datatype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestWhatIsAPatch: one field of a hash that is bytes beside the key gets a value as long as it has, and that is much less than the hash.
func TestWhatIsAPatch(t *testing.T) {
	small, number := smallHash(), hashOf("n", "41", "wide", strings.Repeat("w", 400))
	number.ExpireAt = testNow + 1000
	value := strings.Repeat("w", 64)
	for _, c := range []struct {
		st      record.State
		words   string
		patches bool
	}{
		{small, "HSET k field000 " + value, true},
		{small, "HSET k field009 " + value, true},
		{small, "HMSET k field004 " + value, true},
		{small, "HSET k field004 " + value[1:], false},
		{small, "HSET k field004 " + value + "w", false},
		{small, "HSET k new " + value, false},
		{small, "HSET k field004 " + value + " field005 " + value, false},
		{small, "HSETNX k field004 " + value, false},
		{small, "HDEL k field004", false},
		{number, "HINCRBY k n 1", true},
		{number, "HINCRBY k n 59", false},
		{number, "HINCRBYFLOAT k n 1", true},
		{number, "HSET k wide " + strings.Repeat("x", 400), false},
		{hashOf("n", "41"), "HINCRBY k n 1", false},
		{hashOf("n", "41", "wide", strings.Repeat("w", record.CopiedValue)), "HINCRBY k n 1", false},
	} {
		_, _, eff := execute(t, c.st, request(strings.Fields(c.words)...), testNow)
		require.Equal(t, c.patches, eff.Kind == record.Patched, "%.40s", c.words)
	}
}

// TestAPatchOfAnotherValueIsRefused: it says so, and changes nothing.
func TestAPatchOfAnotherValueIsRefused(t *testing.T) {
	patch := record.Patch{At: 4, Bytes: []byte("pp")}.Append(nil)
	for name, st := range map[string]record.State{"short": str("value"), "deleted": {}, "shared": str(strings.Repeat("v", record.CopiedValue+1))} {
		_, err := Apply(st, patch)
		require.ErrorIs(t, err, ErrDelta, name)
	}
	next, err := Apply(strUntil("values", 7), patch)
	require.NoError(t, err)
	require.Equal(t, strUntil("valupp", 7), next)
}
