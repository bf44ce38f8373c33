package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

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
		"acl": &aclCommand, "client": &clientCommand, "command": &commandCommand, "config": &configCommand, "latency": &latencyCommand,
		"memory": &memoryCommand, "object": &objectCommand, "slowlog": &slowlogCommand, "cluster": &clusterCommand,
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
