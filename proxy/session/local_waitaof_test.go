package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestWaitAOF: the first replica is the local one. What all have on their disks is not asked about again.
func TestWaitAOF(t *testing.T) {
	cluster := proxytest.NewCluster()
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for line, want := range map[string]string{
		"WAITAOF 0 0 0": "*2\r\n:1\r\n:0\r\n", "WAITAOF 1 0 0": "*2\r\n:1\r\n:0\r\n", "WAITAOF 0 1 0": "*2\r\n:1\r\n:1\r\n", "WAITAOF 1 2 9000000000000000": "*2\r\n:1\r\n:2\r\n",
		"WAITAOF 1 3 0": "*2\r\n:1\r\n:2\r\n", "WAITAOF 1 9223372036854775807 1": "*2\r\n:1\r\n:2\r\n",
		"WAITAOF x -1 -1": "-ERR value is not an integer or out of range\r\n",
		"WAITAOF 2 -1 -1": "-ERR value is out of range, value must between 0 and 1\r\n",
		"WAITAOF -1 1 1":  "-ERR value is out of range, value must between 0 and 1\r\n",
		"WAITAOF 1 -1 -1": "-ERR value is out of range, must be positive\r\n",
		"WAITAOF 1 x -1":  "-ERR value is out of range, must be positive\r\n",
		"WAITAOF 1 1 -1":  "-ERR timeout is negative\r\n",
		"WAITAOF 1 1":     "-ERR wrong number of arguments for 'waitaof' command\r\n",
	} {
		require.Equal(t, want, c.Do(line), line)
	}
	begun := time.Now()
	require.Equal(t, "*2\r\n:1\r\n:2\r\n", c.Do("WAITAOF 1 3 150"))
	require.GreaterOrEqual(t, time.Since(begun), 150*time.Millisecond, "it waits for more")

	unsynced := func(yes bool) {
		cluster.Lock()
		defer cluster.Unlock()
		if cluster.Unsynced.Remove(0); yes { // the slot of all operations here
			cluster.Unsynced.Add(0)
		}
	}
	unsynced(true)
	c.Do("SET a x")
	require.Equal(t, ":2\r\n", c.Do("WAIT 2 0"), "all hold it")
	require.Equal(t, "*2\r\n:1\r\n:1\r\n", c.Do("WAITAOF 1 2 30"), "one of them not on its disk, though all hold it")
	require.Equal(t, "*2\r\n:1\r\n:1\r\n", c.Do("WAITAOF 1 1 0"))
	unsynced(false)
	require.Equal(t, "*2\r\n:1\r\n:2\r\n", c.Do("WAITAOF 1 2 0"))
	unsynced(true)
	require.Equal(t, "*2\r\n:1\r\n:2\r\n", c.Do("WAITAOF 1 2 1"), "nothing was written since")
	c.Do("MULTI")
	c.Do("SET a x")
	c.Do("WAITAOF 1 2 9000000000")
	require.Equal(t, "*2\r\n+OK\r\n*2\r\n:1\r\n:1\r\n", c.Do("EXEC"), "at once")
}

// TestWaitAOFWithoutDisks: what all nodes keep in memory is never on a disk.
func TestWaitAOFWithoutDisks(t *testing.T) {
	cluster := proxytest.NewCluster()
	cluster.InMemory = true
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	c.Do("SET a x")
	require.Equal(t, "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled. All nodes keep their data in memory: see --engine\r\n", c.Do("WAITAOF 1 1 0"))
	require.Equal(t, "*2\r\n:0\r\n:0\r\n", c.Do("WAITAOF 0 0 0"))
	require.Equal(t, "*2\r\n:0\r\n:0\r\n", c.Do("WAITAOF 0 1 0"), "there will be none")
	require.Equal(t, "*2\r\n:0\r\n:0\r\n", c.Do("WAITAOF 0 1 9000000000"), "there will be none")
}
