package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// transactionsOfRedis are commands of one client, or of two of which the second one's begin with "2>", whose replies must be Redis', byte for byte.
const transactionsOfRedis = `
MULTI|EXEC|MULTI|DISCARD|EXEC|DISCARD|EXEC x|DISCARD x|MULTI x|UNWATCH|UNWATCH x|WATCH|MULTI|EXEC
MULTI|SET a 1|INCR a|GET a|GET {a}n|EXEC|GET a
MULTI|SET a x|INCR a|SET a 2 y z|SET a 3|EXEC|GET a
MULTI|SET a 9|DISCARD|GET a|EXEC
MULTI|MULTI|SET a 1|WATCH a|GET a|EXEC
MULTI|SET a 4|NOSUCH a b|SET a 5|EXEC|GET a|EXEC
MULTI|SET a 4|GET|EXEC|GET a
MULTI|EXEC x|EXEC|MULTI|DISCARD x|DISCARD|MULTI|MULTI x|EXEC|MULTI|WATCH|EXEC|MULTI|UNWATCH x|EXEC|MULTI|QUIT x
MULTI|MSET a 1 b|MSET a|EXEC|MULTI|MSET a 1 b|GET a|MSET a|EXEC
MULTI|MSET {a}1 1 {a}2 2|MGET {a}1 {a}2 {a}3|DEL {a}1 {a}2 {a}3|EXISTS {a}1 {a}1|EXEC|MULTI|UNLINK {a}1 {a}2|SET {a}1 7|TOUCH {a}1 {a}1|EXISTS {a}1 {a}1 {a}2|EXEC
MULTI|PING|PING x|ECHO y|PING a b|SELECT 0|SELECT x|CLIENT SETNAME me|CLIENT GETNAME|SET {a}1 2|CONFIG GET maxclients|GET {a}1|UNWATCH|EXEC|CLIENT GETNAME
MULTI|COMMAND COUNT x|EXEC|MULTI|CLIENT FOO|EXEC|MULTI|CLIENT|EXEC|MULTI|CLIENT HELP x|EXEC|MULTI|OBJECT FOO a|EXEC|MULTI|MEMORY USAGE|EXEC|MULTI|LATENCY FOO|CONFIG FOO|SLOWLOG FOO|EXEC
MULTI|COMMAND GETKEYS get a|COMMAND INFO nosuch|LATENCY LATEST|SLOWLOG LEN|CLIENT KILL ID 99999|CLIENT REPLY ON|READONLY|EXEC
MULTI|OBJECT ENCODING {a}n|MEMORY USAGE {a}n|MEMORY USAGE a b|MEMORY USAGE a SAMPLES x|CLIENT GETREDIR|EXEC
MULTI|HELLO 9|HELLO 3|CLIENT TRACKINGINFO|EXEC|MULTI|GET {a}n|CLIENT TRACKINGINFO|MGET {a}n|EXEC|MULTI|HELLO 2|CLIENT TRACKINGINFO|EXEC
HELLO 3|MULTI|HELLO|EXEC|MULTI|EXEC|WATCH w|SET w 1|MULTI|EXEC|WATCH w|SET w 1|MULTI|PING|EXEC
MULTI|AUTH x|AUTH a b c|AUTH default x|EXEC
MULTI|FLUSHALL|DBSIZE|KEYS *|RANDOMKEY|EXEC|MULTI|DBSIZE|FLUSHDB foo|FLUSHALL SYNC|EXEC
SET a 0|SELECT 3|SET a 3|MULTI|GET a|SELECT 4|SET a 4|GET a|SELECT x|SELECT 16|SELECT 0|GET a|SELECT 3|EXEC|GET a|MULTI|SELECT 5|DISCARD|GET a|SELECT 4|GET a|SELECT 0|FLUSHALL
SET a 0|SELECT 2|WATCH a|2>SET a 5|MULTI|GET a|EXEC|2>SELECT 2|WATCH a|2>SET a 6|MULTI|GET a|EXEC|GET a|RESET|GET a|2>RESET|FLUSHALL
SET a 0|MULTI|MOVE a 3|MOVE a 3|MOVE a 0|MOVE a x|MOVE a 16|GET a|EXEC|SELECT 3|GET a|FLUSHALL|SELECT 0
MULTI|SET a 1|RESET|EXEC|GET a|DISCARD
MULTI|SET a 1|QUIT
WATCH a|MULTI|SET a 1|EXEC|WATCH a|SET a 2|MULTI|SET a 3|EXEC|GET a|MULTI|GET a|EXEC
WATCH a|2>SET a 5|MULTI|GET a|EXEC|MULTI|GET a|EXEC
WATCH {a}1 {a}2 {a}1|2>SET {a}2 5|MULTI|EXEC|WATCH {a}1|WATCH {a}2 {a}1|2>SET {a}3 1|MULTI|EXEC|WATCH {a}1|WATCH {a}2|2>DEL {a}2|MULTI|EXEC
WATCH a|2>SET a 6|WATCH a|MULTI|GET a|EXEC
WATCH {a}n|2>SET {a}n 6|MULTI|GET {a}n|EXEC|DEL {a}n
WATCH {a}n|2>DEL {a}n|MULTI|GET {a}n|EXEC
SET a 1|WATCH a|2>DEL a|MULTI|GET a|EXEC
SET a 1|WATCH a|2>EXPIRE a 1000|MULTI|GET a|EXEC
SET a 1|WATCH a|2>FLUSHALL|MULTI|GET a|EXEC
WATCH a|2>FLUSHALL|MULTI|GET a|EXEC
SET a 1|WATCH a|2>FLUSHDB|MULTI|PING|EXEC
SET a 1|WATCH a|2>GET a|2>EXISTS a|2>EXPIRE {a}n 10|MULTI|GET a|EXEC
WATCH a|2>SET a 1|UNWATCH|MULTI|GET a|EXEC
WATCH a|2>SET a 1|MULTI|UNWATCH|EXEC|MULTI|GET a|EXEC
WATCH a|2>SET a 1|MULTI|DISCARD|MULTI|GET a|EXEC
WATCH a|MULTI|EXEC|2>SET a 1|MULTI|GET a|EXEC
WATCH a|2>SET a 1|MULTI|NOSUCH|EXEC|MULTI|GET a|EXEC
WATCH a|2>SET a 1|EXEC|MULTI|GET a|EXEC
WATCH a|2>SET a 1|RESET|MULTI|GET a|EXEC
WATCH a|2>SET a 1|EXEC x|MULTI|GET a|EXEC
WATCH a|2>MULTI|2>SET a 1|MULTI|GET a|EXEC|2>EXEC|WATCH a|2>MULTI|2>SET a 2|2>EXEC|MULTI|GET a|EXEC
WATCH a|MULTI|INCR a|2>INCR a|EXEC|GET a
MULTI|SET a 1|2>GET a|EXEC|2>GET a
CLIENT REPLY SKIP|MULTI|SET a 1|EXEC|CLIENT REPLY OFF|MULTI|SET a 2|EXEC|CLIENT REPLY ON|GET a
`

// TestTransactionsSameAsRedis compares two clients of Quoll with two of Redis: each command sent when the one before is answered and, where there is one client, all in one
// write.
func TestTransactionsSameAsRedis(t *testing.T) {
	redisAddr := redistest.Start(t)
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		_, quollAddr := serve(t, w, Config{}, proxytest.NewCluster())
		for _, line := range strings.Split(strings.TrimSpace(transactionsOfRedis), "\n") {
			commands := strings.Split(line, "|")
			if !strings.Contains(line, "REPLY") {
				require.Equal(t, oneByOne(t, redisAddr, commands), oneByOne(t, quollAddr, commands), line)
			}
			if strings.Contains(line, "2>") {
				continue
			}
			require.Equal(t, pipeline(t, redisAddr, commands), pipeline(t, quollAddr, commands), line)
		}
	})
}

// oneByOne sends the commands of two clients, after what others have left was deleted, and returns the replies.
func oneByOne(t *testing.T, addr string, commands []string) (replies []string) {
	clients := [2]*proxytest.Client{proxytest.Dial(t, addr), proxytest.Dial(t, addr)}
	for _, c := range clients {
		defer c.Close()
	}
	clients[0].Do("FLUSHALL")
	for _, line := range commands {
		command, second := strings.CutPrefix(line, "2>")
		c := clients[0]
		if second {
			c = clients[1]
		}
		reply := identity.ReplaceAllString(c.Do(command), "")
		replies = append(replies, line+" -> "+reply)
		if strings.HasPrefix(command, "QUIT") {
			break
		}
	}
	return replies
}
