package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol/answer"
)

// TestUnknownIsNoRetryWord: client libraries repeat commands on some words, with which nothing may begin that may have had an effect.
func TestUnknownIsNoRetryWord(t *testing.T) {
	require.Equal(t, answer.Unknown, errPartly.Outcome)
	require.Regexp(t, "^UNKNOWN ", errPartly.Error())
}
