package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/route"
)

// TestUnknownIsNoRetryWord: client libraries repeat commands on some words, with which nothing may begin that may have had an effect.
func TestUnknownIsNoRetryWord(t *testing.T) {
	for _, err := range []*route.ReplyError{errPartly, errInternal} {
		require.Equal(t, route.Unknown, err.Outcome, err)
		require.Regexp(t, "^UNKNOWN ", err.Error())
	}
}
