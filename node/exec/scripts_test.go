package exec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompiledScriptsAreBounded: those that were used last are kept.
func TestCompiledScriptsAreBounded(t *testing.T) {
	var s scripts
	text := func(i byte) []byte {
		return []byte("return '" + strings.Repeat(string('a'+rune(i)), compiledBytes/4) + "'")
	}
	first, err := s.get(text(0))
	require.NoError(t, err)
	for i := range byte(12) {
		_, err := s.get(text(i))
		require.NoError(t, err)
		again, err := s.get(text(0))
		require.NoError(t, err)
		require.Same(t, first, again, "it is used all the time")
		require.LessOrEqual(t, len(s.new)+len(s.old), 8)
	}
	require.Nil(t, s.find(text(1)), "nobody has asked for it for long")
	_, err = s.get([]byte("return ("))
	require.ErrorContains(t, err, "ERR Error compiling script")
}
