package front_test

import (
	"bufio"
	"context"
	"fmt"
	"net"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// A client that has asked for nothing is told something. Nobody waits for it to listen.
func ExampleConn_Push() {
	server := proxy.NewServer(proxy.ServerConfig{}, proxytest.NewCluster())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(client)
	fmt.Fprint(client, "PING\r\n")
	lines.Scan()

	message := []byte(">2\r\n")
	message = resp.AppendBulk(message, "invalidate")
	message = resp.AppendBulk(message, "key")
	for _, conn := range server.Conns() {
		conn.Push(message)
	}
	for range 5 {
		lines.Scan()
		fmt.Println(lines.Text())
	}
	_ = server.Shutdown(context.Background())
	<-served
	// Output:
	// >2
	// $10
	// invalidate
	// $3
	// key
}
