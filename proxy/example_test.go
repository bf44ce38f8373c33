package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"net"

	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// A server answers Redis clients with what a cluster holds. Here that is in memory; a proxy has a route.Coordinator.
func Example() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := proxy.NewServer(proxy.ServerConfig{}, proxytest.NewCluster())
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()

	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	fmt.Fprint(conn, "SET greeting hello\r\nGET greeting\r\nQUIT\r\n")
	for replies := bufio.NewScanner(conn); replies.Scan(); {
		fmt.Println(replies.Text())
	}
	fmt.Println(server.Shutdown(context.Background()), <-served)
	// Output:
	// +OK
	// $5
	// hello
	// +OK
	// <nil> proxy: server closed
}
