package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestNothingOfARefusedTransactionIsExecuted: client libraries send MULTI, the commands and EXEC in one write, and tell the
// application that nothing was done when EXEC fails.
func TestNothingOfARefusedTransactionIsExecuted(t *testing.T) {
	proxytest.EachWay(t, testNothingOfARefusedTransactionIsExecuted)
}

func testNothingOfARefusedTransactionIsExecuted(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	in := errorReply(errInMulti)
	for _, round := range []struct{ commands, replies string }{
		{"SET before 1|MULTI|INCR n|SET k v|MULTI|WATCH k|EXEC|INCR n",
			"+OK\r\n|" + errorReply(errNoMulti) + "|" + in + "|" + in + "|" + errorReply(errNestedMulti) + "|" + in + "|" + errorReply(errExecAbort) + "|:1\r\n"},
		{"MULTI|FLUSHALL|PING|SELECT 0|GET|NOSUCH|DISCARD|GET n",
			errorReply(errNoMulti) + "|" + in + "|" + in + "|" + in + "|-ERR wrong number of arguments for 'get' command\r\n|" +
				"-ERR unknown command 'NOSUCH', with args beginning with: \r\n|+OK\r\n|$1\r\n1\r\n"},
		{"MULTI x|GET n|EXEC|DISCARD", "-ERR wrong number of arguments for 'multi' command\r\n|$1\r\n1\r\n|" + errorReply(errNoExec) + "|" + errorReply(errNoDiscard)},
		{"MULTI|INCR n|RESET|GET n", errorReply(errNoMulti) + "|" + in + "|+RESET\r\n|$1\r\n1\r\n"},
	} {
		commands, replies := strings.Split(round.commands, "|"), strings.Split(round.replies, "|")
		c.Send(commands...)
		for i := range replies {
			require.Equal(t, replies[i], c.Reply(), "%s of %s", commands[i], round.commands)
		}
		for i, cmd := range strings.Split("MULTI|SET slowly 1|EXEC", "|") { // the same one by one
			require.Equal(t, []string{errorReply(errNoMulti), in, errorReply(errExecAbort)}[i], c.Do(cmd))
		}
	}
	require.Equal(t, "$-1\r\n", c.Do("GET slowly"))
	c.Send("MULTI", "SET k v", "QUIT", "SET k v")
	require.Equal(t, errorReply(errNoMulti)+in+"+OK\r\n", c.Rest())
}

// TestNothingIsDoneInADatabaseThatThereIsNot: a client that asked for another one would read and write this one.
func TestNothingIsDoneInADatabaseThatThereIsNot(t *testing.T) {
	proxytest.EachWay(t, testNothingIsDoneInADatabaseThatThereIsNot)
}

func testNothingIsDoneInADatabaseThatThereIsNot(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	refused := errorReply(errInNoDB)
	c.Send("SET k v", "SELECT 1", "GET k", "SET k w", "MGET k", "FLUSHALL", "DBSIZE", "SCAN 0", "COPY k l", "PING", "SELECT 2", "SELECT x", "GET k", "SELECT 0", "GET k")
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, errorReply(errDBIndex), c.Reply())
	for range 7 {
		require.Equal(t, refused, c.Reply())
	}
	require.Equal(t, "+PONG\r\n", c.Reply())
	require.Equal(t, errorReply(errDBIndex), c.Reply())
	require.Equal(t, errorReply(errNotInteger), c.Reply())
	require.Equal(t, refused, c.Reply())
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, "$1\r\nv\r\n", c.Reply())

	require.Equal(t, errorReply(errDBIndex), c.Do("SELECT 15"))
	require.Equal(t, refused, c.Do("GET k"))
	require.Equal(t, "+RESET\r\n", c.Do("RESET"))
	require.Equal(t, "$1\r\nv\r\n", c.Do("GET k"))
}

// TestWebPagesExecuteNothing: a browser can be made to send a request to this port with commands in its body.
func TestWebPagesExecuteNothing(t *testing.T) { proxytest.EachWay(t, testWebPagesExecuteNothing) }

func testWebPagesExecuteNothing(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	server, addr := serve(t, w, Config{}, cluster)
	body := "\r\nSET pwned yes\r\nFLUSHALL\r\n"
	for i, request := range []string{
		"POST / HTTP/1.1\r\nHost: localhost:6379\r\nContent-Length: 30\r\n\r\n" + body,
		"post / HTTP/1.1\r\n\r\n" + body,
		"PUT / HTTP/1.1\r\nHost: localhost:6379\r\n\r\n" + body,
		"OPTIONS / HTTP/1.1\r\nOrigin: x\r\nhost: localhost:6379\r\n\r\n" + body,
		"*1\r\n$5\r\nHOST:\r\n" + body,
		// A page whose own name is made to point here may use any method.
		"SET pwned HTTP/1.1\r\nHost: localhost:6379\r\n\r\n",
		"GETSET pwned HTTP/1.0\r\n\r\n",
		"PING\r\nSET pwned HTTP/1.1\nHost: localhost:6379\r\n\r\n" + body,
		"SET pwned ' HTTP/1.1\r\nhost: localhost:6379\r\n\r\n" + body,
	} {
		c := proxytest.Dial(t, addr)
		_, err := c.Write([]byte(request))
		require.NoError(t, err)
		require.NotContains(t, c.Rest(), "OK")
		require.EqualValues(t, i+1, server.attacks.count.Load())
	}
	require.Equal(t, "$-1\r\n", proxytest.Dial(t, addr).Do("GET pwned"))
}

// TestCommandListNamesNothingThatIsRefused: nor do COMMAND INFO and DOCS.
func TestCommandListNamesNothingThatIsRefused(t *testing.T) {
	for name, c := range map[string]*container{
		"client": &clientCommand, "command": &commandCommand, "config": &configCommand, "latency": &latencyCommand,
		"memory": &memoryCommand, "slowlog": &slowlogCommand, "cluster": &clusterCommand,
	} {
		for _, listed := range command.Lookup([]byte(name)).Subcommands {
			_, sub, _ := strings.Cut(listed.Name, "|")
			found := sub == "help"
			for _, have := range c.subcommands {
				found = found || is([]byte(sub), have.name) && have.help != nil // what is refused has no help
			}
			require.True(t, found, "%s is listed and refused", listed.Name)
		}
	}
}

// errorReply is an error as a client sees it.
func errorReply(err error) string { return string(route.AppendReply(nil, err)) }
