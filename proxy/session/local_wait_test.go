package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestWaitSaysWhatIsCertain: of three replicas a majority has what was acknowledged, which is one beside the first. What was not written all hold.
func TestWaitSaysWhatIsCertain(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for line, want := range map[string]string{
		"WAIT 0 0": ":1\r\n", "WAIT -3 0": ":1\r\n",
		"WAIT 1 0": ":1\r\n", "WAIT 1 9000000000000000": ":1\r\n", // at once
		"WAIT 2 0": ":2\r\n", "WAIT 2 9000000000000000": ":2\r\n", "WAIT 3 30": ":2\r\n", "WAIT 3 0": ":2\r\n", "WAIT 9223372036854775807 1": ":2\r\n",
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
	require.Equal(t, ":2\r\n", c.Do("WAIT 3 150"))
	require.GreaterOrEqual(t, time.Since(begun), 150*time.Millisecond, "it waits for more")
}

// TestWaitAwaitsAllReplicas: who wants more copies than a majority waits until they are there.
func TestWaitAwaitsAllReplicas(t *testing.T) {
	cluster := proxytest.NewCluster()
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	missed := func(yes bool) {
		cluster.Lock()
		defer cluster.Unlock()
		if cluster.Missed.Remove(0); yes { // the slot of all operations here
			cluster.Missed.Add(0)
		}
	}
	asked := func() int {
		cluster.Lock()
		defer cluster.Unlock()
		return cluster.Asked
	}
	for _, write := range []string{"SET a x", "MSET a x b y", "FLUSHALL", "INCR n"} {
		missed(true)
		c.Do(write)
		require.Equal(t, ":1\r\n", c.Do("WAIT 2 30"), write)
		require.Equal(t, ":1\r\n", c.Do("WAIT 2 1"), "%s: it is still missed", write)
		require.Equal(t, ":1\r\n", c.Do("WAIT 3 1"), write)
		require.Equal(t, ":1\r\n", c.Do("WAIT 1 0"), write)
		before := asked()
		c.Send("WAIT 2 0")
		require.Eventually(t, func() bool { return asked() > before+3 }, 10*time.Second, time.Millisecond, "it does not ask again")
		missed(false)
		require.Equal(t, ":2\r\n", c.Reply(), write)
		missed(true)
		require.Equal(t, ":2\r\n", c.Do("WAIT 2 1"), "%s: nothing was written since", write)
		c.Do("GET a")
		require.Equal(t, ":2\r\n", c.Do("WAIT 2 1"), "a read is no write")
	}
	c.Do("MULTI")
	c.Do("SET a x")
	c.Do("WAIT 2 9000000000")
	require.Equal(t, "*2\r\n+OK\r\n:1\r\n", c.Do("EXEC"), "at once")
	require.Equal(t, ":1\r\n", c.Do("WAIT 2 1"), "a transaction writes")
}

// TestUnheldSlots: a bit stands for 64 slots.
func TestUnheldSlots(t *testing.T) {
	var u unheld
	require.Zero(t, u.slots().Len())
	u.add(16383)
	u.add(130)
	require.Equal(t, "128-191,16320-16383", u.slots().String())
	u.wroteAll()
	require.Equal(t, "0-16383", u.slots().String())
}

// TestWhoWaitsIsAnsweredBefore, and ends with its connection.
func TestWhoWaitsIsAnsweredBefore(t *testing.T) {
	cluster := proxytest.NewCluster()
	cluster.Missed.Add(0)
	_, addr := startServer(t, Config{}, cluster)
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	c.Do("CLIENT SETNAME waits")
	c.Send("SET a x", "WAIT 7 9000000000")
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, ":1\r\n", other.Do("CLIENT KILL TYPE normal SKIPME yes"))
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
}
