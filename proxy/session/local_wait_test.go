package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestWaitSaysWhatIsCertain: of three replicas a majority has what was acknowledged, which is one beside the first.
func TestWaitSaysWhatIsCertain(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for line, want := range map[string]string{
		"WAIT 0 0": ":1\r\n", "WAIT -3 0": ":1\r\n",
		"WAIT 1 0": ":1\r\n", "WAIT 1 9000000000000000": ":1\r\n", // at once
		"WAIT 2 0": ":1\r\n", "WAIT 2 30": ":1\r\n",
		"WAIT x -1":                   "-ERR value is not an integer or out of range\r\n",
		"WAIT 1 -1":                   "-ERR timeout is negative\r\n",
		"WAIT 1 1.5":                  "-ERR timeout is not an integer or out of range\r\n",
		"WAIT 1 9223372036854775807":  ":1\r\n",
		"WAIT 1 99223372036854775807": "-ERR timeout is not an integer or out of range\r\n",
		"WAIT 1":                      "-ERR wrong number of arguments for 'wait' command\r\n",
	} {
		require.Equal(t, want, c.Do(line), line)
	}
	begun := time.Now()
	require.Equal(t, ":1\r\n", c.Do("WAIT 2 150"))
	require.GreaterOrEqual(t, time.Since(begun), 150*time.Millisecond, "it waits for more")
	c.Do("MULTI")
	c.Do("SET a x")
	c.Do("WAIT 2 9000000000")
	require.Equal(t, "*2\r\n+OK\r\n:1\r\n", c.Do("EXEC"), "at once")
}

// TestWhoWaitsIsAnsweredBefore, and ends with its connection.
func TestWhoWaitsIsAnsweredBefore(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	c.Do("CLIENT SETNAME waits")
	c.Send("SET a x", "WAIT 7 9000000000")
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, ":1\r\n", other.Do("CLIENT KILL TYPE normal SKIPME yes"))
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
}
