package session

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// messagesOfRedis are commands of up to three clients, each of which is sent when the one before is answered. "2>" before a command is the client, if it is not the first one; "*3" behind it
// says that there are three replies, and "*0" that there is none. "2<3" has a client read three messages. All must be Redis', byte for byte.
const messagesOfRedis = `
SUBSCRIBE|SUBSCRIBE x y x*3|GET k|FOO|PING|PING hi|PING a b|ECHO|MULTI|EXEC|SPUBLISH x y|HELLO|HELLO 3|CLIENT FOO|CLIENT LIST ID|COMMAND FOO|UNSUBSCRIBE zz|UNSUBSCRIBE x x*2|UNSUBSCRIBE|UNSUBSCRIBE|GET k
PUNSUBSCRIBE|SUNSUBSCRIBE|UNSUBSCRIBE|PUNSUBSCRIBE a b*2|SUNSUBSCRIBE c|PSUBSCRIBE|SSUBSCRIBE|PUBLISH|PUBLISH x|PUBLISH x y z|SPUBLISH x|PUBSUB
PSUBSCRIBE h*|SUBSCRIBE hello|SSUBSCRIBE hello {x}b*2|2>PUBLISH hello m|1<2|2>SPUBLISH hello m|1<1|2>PUBLISH hell m|1<1|2>SPUBLISH hell m|PUNSUBSCRIBE h*|UNSUBSCRIBE|SUNSUBSCRIBE hello|2>SPUBLISH hello x|SUNSUBSCRIBE|GET k
SUBSCRIBE hello|2>PSUBSCRIBE h?llo|3>PUBSUB CHANNELS|3>PUBSUB CHANNELS h*|3>PUBSUB CHANNELS x*|3>PUBSUB CHANNELS h x|3>PUBSUB NUMSUB|3>PUBSUB NUMSUB hello x hello|3>PUBSUB NUMPAT|3>PUBSUB NUMPAT x
SSUBSCRIBE hello|3>PUBSUB SHARDCHANNELS|3>PUBSUB SHARDCHANNELS x|3>PUBSUB SHARDNUMSUB|3>PUBSUB SHARDNUMSUB hello x|3>PUBSUB CHANNELS|3>PUBSUB HELP|3>PUBSUB FOO|3>PUBSUB HELP x|3>PUBSUB NUMSUB HELP
SUBSCRIBE x|2>SUBSCRIBE x|3>PUBLISH x 1|1<1|2<1|UNSUBSCRIBE x|3>PUBLISH x 2|2<1|2>RESET|3>PUBLISH x 3|2>GET k
PSUBSCRIBE [xy] a*b*2|2>PUBLISH y 1|1<1|2>PUBLISH z 2|2>PUBLISH ab 1|1<1|2>PUBLISH "" 1|PSUBSCRIBE *|2>PUBLISH "" 1|PUNSUBSCRIBE *|PSUBSCRIBE ""|SUBSCRIBE ""|2>PUBLISH "" ""|1<2|3>PUBSUB CHANNELS *|3>PUBSUB CHANNELS ""
HELLO 3|SUBSCRIBE x y*2|SUBSCRIBE x|PING|PING a|GET k|SET k 1|HELLO 2|GET k|HELLO 3|PUBLISH x m|SUBSCRIBE z|2>PUBLISH z q|1<1|CLIENT REPLY ON|RESET|PING|HELLO 3|UNSUBSCRIBE|PUNSUBSCRIBE|DEL k
HELLO 3|PSUBSCRIBE x*|SUBSCRIBE x|PUBLISH x hi*3|UNSUBSCRIBE|PUBLISH x ho*2|PUNSUBSCRIBE|PUBLISH x hu|SSUBSCRIBE s|SPUBLISH s 1*2|2>HELLO 3|2>SSUBSCRIBE s|SPUBLISH s 2*2|2<1
MULTI|SUBSCRIBE x y|PING|EXEC*2|PING|2>PUBLISH x 1|1<1|RESET|MULTI|PUBLISH x 1|SET k 1|SPUBLISH y 1|GET k|EXEC|MULTI|PUBLISH x|EXEC|MULTI|UNSUBSCRIBE|PSUBSCRIBE a|PUNSUBSCRIBE|EXEC|DEL k
MULTI|SUBSCRIBE x|2>PUBLISH x 1|DISCARD|2>PUBLISH x 2|MULTI|SUBSCRIBE x|EXEC|2>PUBLISH x 3|1<1|MULTI|UNSUBSCRIBE|2>PUBLISH x 4
CLIENT REPLY OFF*0|SUBSCRIBE x|2>PUBLISH x m|1<1|PING*0|UNSUBSCRIBE x|CLIENT REPLY ON
CLIENT REPLY SKIP*0|SUBSCRIBE x y*2|PING|UNSUBSCRIBE x|2>PUBLISH y m|1<1
CLIENT REPLY OFF*0|MULTI*0|SUBSCRIBE x*0|EXEC|2>PUBLISH x m|1<1
SUBSCRIBE x|QUIT
2>SUBSCRIBE x|2>PSUBSCRIBE a|2>SSUBSCRIBE b|CLIENT KILL TYPE pubsub|CLIENT KILL TYPE pubsub
COMMAND GETKEYS SSUBSCRIBE a b|COMMAND GETKEYS PUBLISH a b|SELECT 3|SUBSCRIBE x|2>SELECT 4|2>PUBLISH x 1|1<1
`

// TestMessagesSameAsRedis compares clients of Quoll with those of Redis that publish and subscribe.
func TestMessagesSameAsRedis(t *testing.T) {
	redisAddr := redistest.Start(t)
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		_, quollAddr := serve(t, w, Config{}, proxytest.NewCluster())
		for _, line := range strings.Split(strings.TrimSpace(messagesOfRedis), "\n") {
			steps := strings.Split(line, "|")
			want := inSteps(t, redisAddr, steps)
			require.Equal(t, want, inSteps(t, quollAddr, steps), line)
		}
	})
}

// inSteps executes the steps of a line, and returns what the clients have got.
func inSteps(t *testing.T, addr string, steps []string) (got []string) {
	var clients [4]*proxytest.Client
	for i := range clients {
		clients[i] = proxytest.Dial(t, addr)
		defer clients[i].Close()
	}
	clients[0].Do("PING") // the one before has ended
	for _, step := range steps {
		c, line, replies := clients[0], step, 1
		switch {
		case len(step) > 2 && step[1] == '>':
			c, line = clients[step[0]-'1'], step[2:]
		case len(step) > 2 && step[1] == '<':
			c, line, replies = clients[step[0]-'1'], "", int(step[2]-'0')
		}
		if at := len(line) - 2; at > 0 && line[at] == '*' && line[at-1] != ' ' {
			n, err := strconv.Atoi(line[at+1:])
			require.NoError(t, err, step)
			line, replies = line[:at], n
		}
		if line != "" {
			c.Send(line)
		}
		for range replies {
			got = append(got, fmt.Sprintf("%s -> %q", step, identity.ReplaceAllString(c.Reply(), "")))
		}
	}
	awaitNobody(t, clients[3], clients[:3])
	return got
}

// awaitNobody ends the clients, and returns when nobody subscribes to anything any more.
func awaitNobody(t *testing.T, watcher *proxytest.Client, clients []*proxytest.Client) {
	for _, c := range clients {
		c.Close()
	}
	const none, nothing = ":0\r\n", "*0\r\n"
	for strings.Contains(watcher.Do("CLIENT LIST TYPE pubsub"), "id=") || watcher.Do("PUBSUB NUMPAT") != none || watcher.Do("PUBSUB CHANNELS") != nothing || watcher.Do("PUBSUB SHARDCHANNELS") != nothing {
		time.Sleep(time.Millisecond) // the deadline of the client's connection ends this
	}
}
