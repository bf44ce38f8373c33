package session

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestKnownScripts checks what a proxy remembers of a script, and for how long.
func TestKnownScripts(t *testing.T) {
	var s scripts
	body := []byte("return 1")
	sha := shaOf(body)
	require.Equal(t, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", sha)
	known := func(want []byte, guesses bool) {
		t.Helper()
		got, g := s.fresh(sha)
		require.Equal(t, want, got)
		require.Equal(t, guesses, g)
	}
	s.saw(sha, nil) // of what nobody knows
	s.guessed(body) // likewise
	known(nil, false)
	s.saw(sha, body)
	known(body, false)
	s.guessed(body)
	known(body, true)
	s.known[sha].seen = time.Now().Add(-scriptFresh)
	known(nil, false) // it is not taken for what is there any more,
	s.saw(sha, body)
	known(body, true) // and what it does has not changed when it is
	s.saw(sha, nil)
	known(nil, false)
	s.saw(sha, body)
	s.forget()
	known(nil, false)
	require.Zero(t, s.bytes)
}

// TestKnownScriptsAreBounded checks the count of bytes, and that the last script is always known.
func TestKnownScriptsAreBounded(t *testing.T) {
	large := make([]byte, knownScripts/2)
	rapid.Check(t, func(t *rapid.T) {
		var s scripts
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			sha := rapid.StringMatching("[a-e]").Draw(t, "sha")
			body := large[:int(sha[0]-'a')*len(large)/4]
			if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
				body = nil
			}
			s.saw(sha, body)
			total := 0
			for _, k := range s.known {
				total += len(k.body)
			}
			require.Equal(t, total, s.bytes)
			require.LessOrEqual(t, total, knownScripts)
			got, _ := s.fresh(sha)
			require.True(t, bytes.Equal(body, got) && (body == nil) == (got == nil))
		}
	})
}
