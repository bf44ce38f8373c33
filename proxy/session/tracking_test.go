package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestNothingIsCachedByAClient: rueidis and valkey-go send CLIENT CACHING YES and what they would cache in one write, and look at the last reply only.
func TestNothingIsCachedByAClient(t *testing.T) {
	proxytest.EachWay(t, testNothingIsCachedByAClient)
}

func testNothingIsCachedByAClient(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	cached := errorReply(errToBeCached)
	for _, round := range []struct{ commands, replies string }{
		{"SET k v|CLIENT TRACKING ON OPTIN|GET k", "+OK\r\n|+OK\r\n|$1\r\nv\r\n"},
		{"CLIENT CACHING YES|GET k|GET k", errorReply(errNoCaching) + "|" + cached + "|$1\r\nv\r\n"},
		{"client caching yes|CLIENT ID|PING|PING", errorReply(errNoCaching) + "|:1\r\n|" + cached + "|+PONG\r\n"},
		{"CLIENT CACHING YES|MULTI|PTTL k|GET k|EXEC|GET k",
			errorReply(errNoCaching) + "|" + "+OK\r\n" + "|" + cached + "|" + cached + "|" + errorReply(errExecAbort) + "|$1\r\nv\r\n"},
		{"CLIENT CACHING YES|MULTI|GET k|DISCARD|GET k", errorReply(errNoCaching) + "|" + "+OK\r\n" + "|" + cached + "|+OK\r\n|$1\r\nv\r\n"},
		{"CLIENT CACHING YES|RESET|GET k|CLIENT CACHING YES|GET k",
			errorReply(errNoCaching) + "|+RESET\r\n|$1\r\nv\r\n|" + errorReply(errCachingWithout) + "|$1\r\nv\r\n"},
	} {
		commands, replies := strings.Split(round.commands, "|"), strings.Split(round.replies, "|")
		c.Send(commands...)
		for i := range replies {
			require.Equal(t, replies[i], c.Reply(), "%s of %s", commands[i], round.commands)
		}
	}
}

// TestOnlyATrackingThatTracksNothing: whoever would wait for a word that a key has changed is told that there will be none.
func TestOnlyATrackingThatTracksNothing(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	refused := errorReply(errNoTracking)
	for _, options := range []string{
		"ON", "ON NOLOOP", "ON OPTOUT", "ON OPTIN OPTOUT", "ON BCAST", "ON OPTIN BCAST", "ON BCAST PREFIX a", "ON REDIRECT 1", "ON OPTIN REDIRECT 1", "OFF OPTIN", "foo", "foo OPTIN",
	} {
		require.Equal(t, refused, c.Do("CLIENT TRACKING "+options), options)
		require.Equal(t, ":-1\r\n", c.Do("CLIENT GETREDIR"), options)
	}
	require.Equal(t, "+OK\r\n", c.Do("CLIENT TRACKING on noloop optin"))
	require.Equal(t, ":0\r\n", c.Do("CLIENT GETREDIR"))
	require.Equal(t, refused, c.Do("CLIENT TRACKING ON BCAST"), "what was before stays")
	require.Contains(t, c.Do("CLIENT INFO"), " flags=t ")
}
