package resp_test

import (
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

// A client has sent a pipeline of two commands. Both are read at once; their arguments are views into the reader's buffer.
func ExampleReader() {
	in := strings.NewReader("*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING\r\n")
	r := resp.NewReader(in, resp.Limits{})
	var commands resp.Batch
	for r.ReadBatch(&commands) == nil {
		for i := range commands.Len() {
			fmt.Printf("%s\n", commands.Command(i))
		}
	}
	// Output:
	// [GET a]
	// [PING]
}

// The same reply in both versions of the protocol.
func ExampleAppendMap() {
	for _, resp3 := range []bool{false, true} {
		reply := resp.AppendMap(nil, 1, resp3)
		reply = resp.AppendBulk(reply, "field")
		reply = resp.AppendNull(reply, resp3)
		fmt.Printf("%q\n", reply)
	}
	// Output:
	// "*2\r\n$5\r\nfield\r\n$-1\r\n"
	// "%1\r\n$5\r\nfield\r\n_\r\n"
}

// What a client has sent may come back in an error, but not as a second reply.
func ExampleAppendError() {
	fmt.Printf("%q\n", resp.AppendError(nil, "ERR unknown command 'a\r\n+OK'"))
	// Output: "-ERR unknown command 'a  +OK'\r\n"
}
