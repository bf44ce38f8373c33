package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/redistest"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestRandomTransactionsSameAsRedis lets two clients of each server send random commands, most of them in transactions, some of them several in one write.
func TestRandomTransactionsSameAsRedis(t *testing.T) {
	redisAddr := redistest.Start(t)
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		_, quollAddr := serve(t, w, Config{}, proxytest.NewCluster())
		var all [2][2]*proxytest.Client // of Redis and Quoll
		for i := range all {
			all[0][i], all[1][i] = proxytest.Dial(t, redisAddr), proxytest.Dial(t, quollAddr)
		}
		rapid.Check(t, func(t *rapid.T) {
			said := []string{}
			for range rapid.IntRange(1, 25).Draw(t, "turns") {
				who := rapid.IntRange(0, 1).Draw(t, "who")
				lines := rapid.SliceOfN(rapid.Custom(transactionLine), 1, 4).Draw(t, "lines")
				for i := range all {
					all[i][who].Send(lines...)
				}
				for _, line := range lines {
					said = append(said, fmt.Sprint(who, "> ", line))
					redis, quoll := all[0][who].Reply(), all[1][who].Reply()
					require.Equal(t, identity.ReplaceAllString(redis, ""), identity.ReplaceAllString(quoll, ""), strings.Join(said, "|"))
				}
			}
			for i := range all {
				for _, c := range all[i] {
					require.Equal(t, "+RESET\r\n", c.Do("RESET"))
				}
				require.Equal(t, "+OK\r\n", all[i][0].Do("FLUSHALL"))
			}
		})
	})
}

// transactionLine draws a command on keys of one slot that the cluster in memory has, or one that is about transactions.
func transactionLine(t *rapid.T) string {
	key := func() string { return rapid.SampledFrom([]string{"a", "{a}1", "{a}2"}).Draw(t, "key") }
	switch rapid.IntRange(0, 27).Draw(t, "kind") {
	case 0, 1, 2, 3:
		return "MULTI"
	case 4, 5, 6, 7:
		return "EXEC"
	case 8:
		return "DISCARD"
	case 9, 10:
		return "WATCH " + key()
	case 11:
		return "WATCH " + key() + " " + key()
	case 12:
		return "UNWATCH"
	case 13, 14:
		return "SET " + key() + " " + rapid.SampledFrom([]string{"1", "x", "1 y"}).Draw(t, "value")
	case 15, 16:
		return "GET " + key()
	case 17:
		return "INCR " + key()
	case 18:
		return "DEL " + key() + " " + key()
	case 19:
		return "MGET " + key() + " " + key()
	case 20:
		return rapid.SampledFrom([]string{"MSET " + key() + " 1 " + key() + " 2", "MSET " + key()}).Draw(t, "mset")
	case 21:
		return "EXPIRE " + key() + " 1000"
	case 22:
		return "EXISTS " + key() + " " + key()
	}
	return rapid.SampledFrom([]string{"PING", "ECHO x", "NOSUCH", "GET", "EXEC x", "MULTI x", "CLIENT GETNAME", "CLIENT SETNAME x", "CLIENT FOO", "RESET", "SELECT 0", "SELECT 1", "SELECT x", "SELECT 16", "HELLO 9",
		"CLIENT TRACKINGINFO", "OBJECT FOO", "AUTH x y z"}).Draw(t, "other")
}
