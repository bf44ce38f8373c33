package session

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestDatabases: each has keys of its own.
func TestDatabases(t *testing.T) { proxytest.EachWay(t, testDatabases) }

func testDatabases(t *testing.T, w proxytest.Way) {
	const ok, queued, null = "+OK\r\n", "+QUEUED\r\n", "$-1\r\n"
	outOfRange := "-" + command.ErrDatabase + "\r\n"
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for _, step := range []struct{ command, reply string }{
		{"SET k zero", ok},
		{"SELECT 15", ok},
		{"GET k", null},
		{"SET k fifteen", ok},
		{"MSET {k}1 a {k}2 b", ok},
		{"MGET k {k}1 {k}2 {k}3", "*4\r\n$7\r\nfifteen\r\n$1\r\na\r\n$1\r\nb\r\n$-1\r\n"},
		{"DBSIZE", ":3\r\n"},
		{"SCAN 0 COUNT 100", "*2\r\n$1\r\n0\r\n*3\r\n$1\r\nk\r\n$4\r\n{k}1\r\n$4\r\n{k}2\r\n"},
		{"KEYS {*", "*2\r\n$4\r\n{k}1\r\n$4\r\n{k}2\r\n"},
		{"COPY k l DB 0", errorReply(errCrossSlot)},
		{"SELECT 16", outOfRange},
		{"SELECT -1", outOfRange},
		{"GET k", "$7\r\nfifteen\r\n"},
		{"MULTI", ok},
		{"SELECT 0", queued},
		{"GET k", queued},
		{"SELECT 15", queued},
		{"GET k", queued},
		{"EXEC", "*4\r\n+OK\r\n$4\r\nzero\r\n+OK\r\n$7\r\nfifteen\r\n"},
		{"FLUSHDB nosuch", errorReply(errSyntax)},
		{"FLUSHDB", ok},
		{"DBSIZE", ":0\r\n"},
		{"RANDOMKEY", null},
		{"SET k again", ok},
		{"RANDOMKEY", "$1\r\nk\r\n"},
		{"RESET", "+RESET\r\n"},
		{"GET k", "$4\r\nzero\r\n"},
		{"DBSIZE", ":1\r\n"},
		{"FLUSHALL", ok},
		{"SELECT 15", ok},
		{"GET k", null},
	} {
		require.Equal(t, step.reply, c.Do(step.command), step.command)
	}
	require.Contains(t, c.Do("CLIENT LIST"), " db=15 ")
	require.Contains(t, c.Do("CONFIG GET databases"), "$2\r\n16\r\n")
	c.Do("SET k 1")
	require.Contains(t, c.Do("INFO keyspace"), "db15:keys=1,")
	require.NotContains(t, c.Do("INFO keyspace"), "db0:")
}

// TestADatabaseThatIsPlacedTogether has all its keys in one slot, so that commands on several are one, and other names for them than before. While the placement is being changed
// nothing is done in it.
func TestADatabaseThatIsPlacedTogether(t *testing.T) {
	proxytest.EachWay(t, testADatabaseThatIsPlacedTogether)
}

func testADatabaseThatIsPlacedTogether(t *testing.T, w proxytest.Way) {
	const ok, queued, null = "+OK\r\n", "+QUEUED\r\n", "$-1\r\n"
	closed := "-" + command.ErrClosed + "\r\n"
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	do := func(command, reply string) { t.Helper(); require.Equal(t, reply, c.Do(command), command) }
	do("MULTI", ok)
	do("SET a 1", queued)
	require.Contains(t, c.Do("SET b 1"), "CROSSSLOT")
	do("EXEC", errorReply(errExecAbort))

	cluster.Place(database.Placements{}.Place(0, true).Place(3, true))
	for _, number := range []string{"0", "3"} {
		do("SELECT "+number, ok)
		do("MULTI", ok)
		do("SET a 1", queued)
		do("SET b 1", queued)
		do("EXEC", "*2\r\n"+ok+ok)
		do("DBSIZE", ":2\r\n")
		do("SCAN 0 COUNT 100", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n")
		do("MGET a b c", "*3\r\n$1\r\n1\r\n$1\r\n1\r\n$-1\r\n")
		require.Contains(t, c.Do("INFO keyspace"), "db"+number+":keys=2,")
		do("MOVE a 4", errorReply(errDatabases))
		do("COPY a a DB 4", errorReply(errDatabases))
		do("MULTI", ok)
		do("SET a 1", queued)
		do("MOVE a 4", errorReply(errDatabases))
		do("EXEC", errorReply(errExecAbort))
		do("MULTI", ok)
		do("SET a 1", queued)
		do("SELECT 4", queued)
		do("SET a 1", errorReply(errDatabases))
		do("EXEC", errorReply(errExecAbort))
	}
	cluster.Place(database.Placements{}.Place(3, true).Close(3))
	do("GET a", closed)
	do("WATCH a", closed)
	do("MULTI", ok)
	do("SET a 2", queued)
	do("SELECT 4", queued)
	do("SET a 4", queued)
	do("EXEC", "*3\r\n"+closed+ok+ok)
	do("SELECT 4", ok)
	do("GET a", "$1\r\n4\r\n")
	do("MOVE a 3", closed)
	do("COPY a b DB 3", closed)
	cluster.Place(database.Placements{})
	do("SELECT 3", ok)
	do("GET a", null)
	cluster.Place(database.Placements{}.Place(3, true))
	do("GET a", "$1\r\n1\r\n")
	do("FLUSHDB", ok)
	do("DBSIZE", ":0\r\n")
}

// TestAllKeysInATransaction: what is on all keys of a database that is placed together goes with the commands on keys, and by itself if there are none.
func TestAllKeysInATransaction(t *testing.T) {
	const ok, queued = "+OK\r\n", "+QUEUED\r\n"
	cluster := proxytest.NewCluster()
	cluster.Place(database.Placements{}.Place(1, true).Place(2, true))
	sent := make(chan *command.Batch, 10)
	cluster.Intercept = func(op *route.Op) bool {
		if op.Req.Op != command.OpBatch {
			return false
		}
		b, err := command.ParseBatch(&op.Req)
		require.NoError(t, err)
		sent <- b
		op.Outcome, op.Reply = answer.Done, []byte("*2\r\n+OK\r\n:7\r\n")
		if b.Listing == nil {
			op.Reply = command.AppendMissingKeys(nil, [][]byte{database.IDOf(1, true).All()})
		}
		return true
	}
	_, addr := serve(t, proxytest.ByFront, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	do := func(command, reply string) { t.Helper(); require.Equal(t, reply, c.Do(command), command) }
	do("SELECT 1", ok)
	for _, key := range []string{"a", "b"} {
		do("SET "+key+" 1", ok)
	}
	do("MULTI", ok)
	do("SET c 1", queued)
	do("DBSIZE", queued)
	do("EXEC", "*2\r\n+OK\r\n:7\r\n")
	require.Nil(t, (<-sent).Listing)
	b := <-sent
	require.Equal(t, database.IDOf(1, true), b.Listing.Database)
	require.Equal(t, []command.Op{command.OpSet, command.OpDBSize}, []command.Op{b.Commands[0].Op, b.Commands[1].Op})
	id := database.IDOf(1, true)
	require.Equal(t, [][]byte{id.All(), id.Key([]byte("a")), id.Key([]byte("b"))}, b.Also)

	do("MULTI", ok)
	do("DBSIZE", queued)
	do("FLUSHDB", queued)
	do("EXEC", "*2\r\n:2\r\n+OK\r\n")
	require.Empty(t, sent, "without commands on keys they are what they are outside of a transaction")

	add := func(keys int) {
		cluster.Lock()
		defer cluster.Unlock()
		for range keys {
			cluster.Data[string(id.Key(strconv.AppendInt(nil, int64(len(cluster.Data)), 10)))] = "1"
		}
	}
	add(command.MostListed)
	do("MULTI", ok)
	do("SET c 1", queued)
	do("FLUSHDB", queued)
	do("EXEC", "*2\r\n+OK\r\n:7\r\n")
	<-sent
	<-sent
	add(1)
	do("MULTI", ok)
	do("SET c 1", queued)
	do("FLUSHDB", queued)
	do("EXEC", errorReply(errManyKeys))
	<-sent

	do("MULTI", ok)
	do("SET c 1", queued)
	do("SELECT 2", queued)
	do("KEYS *", errorReply(errDatabases))
	do("EXEC", errorReply(errExecAbort))
	do("MULTI", ok)
	do("DBSIZE", queued)
	do("SELECT 3", queued)
	do("DBSIZE", queued)
	do("SELECT 1", queued)
	do("SET c 1", errorReply(errEverywhere("dbsize")))
	do("EXEC", errorReply(errExecAbort))
}

// TestNoClientNamesReservedKeys: neither Quoll's own, nor those of another database by what they are kept under.
func TestNoClientNamesReservedKeys(t *testing.T) {
	proxytest.EachWay(t, testNoClientNamesReservedKeys)
}

func testNoClientNamesReservedKeys(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	refused := "-" + command.ErrReserved + "\r\n"
	for _, key := range []string{"\xffquoll:batch", "\xffquoll:\x05{a}", "\xffquoll:"} {
		for _, line := range []string{"GET KEY", "SET KEY 1", "MSET {a} 1 KEY 2", "MGET {a} KEY", "DEL KEY", "WATCH {a} KEY", "RENAME {a} KEY", "COPY KEY {a}", "MOVE KEY 3", "OBJECT ENCODING KEY",
			"MEMORY USAGE KEY", "SUNION {a} KEY", "EVAL x 1 KEY", "SORT {a} STORE KEY"} {
			require.Equal(t, refused, c.Do(strings.ReplaceAll(line, "KEY", key)), line)
		}
		require.Equal(t, "+OK\r\n", c.Do("MULTI"))
		require.Equal(t, "+QUEUED\r\n", c.Do("SET "+key+" 1"))
		require.Equal(t, "*1\r\n"+refused, c.Do("EXEC"))
		require.Equal(t, "+OK\r\n", c.Do("SET value "+key), "a value may be anything")
		require.Equal(t, "+OK\r\n", c.Do("SELECT 5"))
		require.Equal(t, "+OK\r\n", c.Do("SET "+key+" 1"), "with another database's name before it no key is reserved")
		require.Equal(t, "+OK\r\n", c.Do("SELECT 0"))
	}
}
