package wire

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/certs"
)

// owners makes what owners of certificates of a CA of the test's have.
func owners(t *testing.T) func(role certs.Role, cluster, name string) *TLS {
	t.Helper()
	dir := t.TempDir()
	_, err := certs.NewAuthority(dir, "test", time.Hour)
	require.NoError(t, err)
	return func(role certs.Role, cluster, name string) *TLS {
		ca, err := certs.OpenAuthority(dir)
		require.NoError(t, err)
		cert, key, err := ca.Issue(certs.Request{Role: role, Name: name, Valid: time.Hour})
		require.NoError(t, err)
		store, err := certs.Open("peer", certs.Files{Cert: cert, Key: key, CA: filepath.Join(dir, certs.CAFile)})
		require.NoError(t, err)
		peers, err := certs.NewPeers(store, certs.Identity{Cluster: cluster, Role: role, Name: name})
		require.NoError(t, err)
		return &TLS{Peers: peers}
	}
}

func optional(t *TLS) *TLS { return &TLS{Peers: t.Peers, Optional: true} }

// said has a link say of itself who it is.
func said(role Role, cluster, name string) func() Hello {
	return func() Hello { return Hello{Role: role, Cluster: cluster, Name: name} }
}

// TestFramesGoEncrypted: large ones and small ones, there and back, with the secret as a second lock.
func TestFramesGoEncrypted(t *testing.T) {
	owner := owners(t)
	server, node := owner(certs.Node, "test", "server"), owner(certs.Node, "test", "n1")
	listener := loopback(t)
	serve(t, listener, ServerConfig{Handler: newEcho(), Options: Options{Secret: []byte("s"), TLS: server}})
	link := connect(t, LinkConfig{Address: listener.Addr().String(), Hello: said(RoleNode, "test", "n1"), Options: Options{Secret: []byte("s"), TLS: node}})
	<-link.up
	for _, size := range []int{0, 1, 100, 16 << 10, 1 << 20, 5 << 20} {
		body := bytes.Repeat([]byte("x"), size)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, body)))
		require.Equal(t, string(body), <-link.frames)
	}
	wrong := connect(t, LinkConfig{Address: listener.Addr().String(), Hello: said(RoleNode, "test", "n1"), Options: Options{Secret: []byte("wrong"), TLS: node}})
	require.Eventually(t, func() bool { return wrong.Err() != nil }, 5*time.Second, time.Millisecond)
	require.ErrorIs(t, wrong.Err(), ErrRefused)
}

// TestACertificateIsItsOwners: whoever has the certificate of one node, of a proxy or of a client does not speak as somebody else, at neither side of a connection.
func TestACertificateIsItsOwners(t *testing.T) {
	owner := owners(t)
	server, n1, proxy, client := owner(certs.Node, "test", "server"), owner(certs.Node, "test", "n1"), owner(certs.Proxy, "test", "p1"), owner(certs.Client, "test", "alice")
	listener := loopback(t)
	serve(t, listener, ServerConfig{Handler: newEcho(), Options: Options{TLS: server}})
	dial := func(tls *TLS, hello func() Hello) *observed {
		return connect(t, LinkConfig{Address: listener.Addr().String(), Hello: hello, Options: Options{TLS: tls}})
	}
	<-dial(n1, said(RoleNode, "test", "n1")).up
	<-dial(proxy, said(RoleProxy, "test", "proxy 10.0.0.9:6379")).up
	<-dial(n1, said(RoleProxy, "test", "proxy 10.0.0.1:6379")).up // a node that serves clients
	foreign := owners(t)(certs.Node, "test", "n1")
	for name, wrong := range map[string]struct {
		tls  *TLS
		as   func() Hello
		says string
	}{
		"n1 as n2":          {n1, said(RoleNode, "test", "n2"), "it says that it is node n2, and its certificate is for urn:quoll:test:node:n1"},
		"a proxy as a node": {proxy, said(RoleNode, "test", "p1"), "it says that it is a node, and its certificate is for urn:quoll:test:proxy:p1"},
		"a client":          {client, said(RoleProxy, "test", "alice"), "it says that it is a proxy, and its certificate is for urn:quoll:test:client:alice"},
		"another cluster":   {n1, said(RoleNode, "other", "n1"), "it says that it is of cluster other"},
		"another CA":        {foreign, said(RoleNode, "test", "n1"), "unknown authority"},
		"no TLS":            {nil, said(RoleNode, "test", "n1"), "it is required here"},
	} {
		t.Run(name, func(t *testing.T) {
			link := dial(wrong.tls, wrong.as)
			require.Eventually(t, func() bool { return link.Err() != nil }, 5*time.Second, time.Millisecond)
			require.ErrorContains(t, link.Err(), wrong.says)
			require.Zero(t, link.Generation())
		})
	}

	t.Run("who answers", func(t *testing.T) {
		listener := loopback(t)
		serve(t, listener, ServerConfig{Handler: newEcho(), Options: Options{TLS: owner(certs.Node, "test", "n3")}}) // it says that it is "server"
		link := connect(t, LinkConfig{Address: listener.Addr().String(), Hello: said(RoleNode, "test", "n1"), Options: Options{TLS: n1}})
		require.Eventually(t, func() bool { return link.Err() != nil }, 5*time.Second, time.Millisecond)
		require.ErrorContains(t, link.Err(), "it says that it is node server, and its certificate is for urn:quoll:test:node:n3")
	})
}

// TestFromPlainToTLS: each step of the way, from no TLS to TLS that is required, connects everybody.
func TestFromPlainToTLS(t *testing.T) {
	owner := owners(t)
	server, n1 := owner(certs.Node, "test", "server"), owner(certs.Node, "test", "n1")
	for _, step := range []struct {
		name           string
		server, dialer *TLS
		connects       bool
	}{
		{"off, off", nil, nil, true},
		{"optional, off", optional(server), nil, true},
		{"off, optional", nil, optional(n1), true},
		{"optional, optional", optional(server), optional(n1), true},
		{"required, optional", server, optional(n1), true},
		{"optional, required", optional(server), n1, true},
		{"required, required", server, n1, true},
		{"required, off", server, nil, false},
		{"off, required", nil, n1, false},
	} {
		t.Run(step.name, func(t *testing.T) {
			listener := loopback(t)
			serve(t, listener, ServerConfig{Handler: newEcho(), Options: Options{TLS: step.server}})
			link := connect(t, LinkConfig{Address: listener.Addr().String(), Hello: said(RoleNode, "test", "n1"), Options: Options{TLS: step.dialer}})
			if !step.connects {
				require.Eventually(t, func() bool { return link.Err() != nil }, 5*time.Second, time.Millisecond)
				require.ErrorContains(t, link.Err(), "peer-tls")
				return
			}
			<-link.up
			require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte("x"))))
			require.Equal(t, "x", <-link.frames)
		})
	}
}

// TestStrangersAtATLSPort: who speaks something else is told so in words, as without TLS; who says nothing is given up.
func TestStrangersAtATLSPort(t *testing.T) {
	listener := loopback(t)
	serve(t, listener, ServerConfig{Options: Options{TLS: owners(t)(certs.Node, "test", "server"), HandshakeTimeout: 50 * time.Millisecond}})
	for send, answer := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n": "HTTP/1.0 400 Bad Request",
		"*1\r\n$4\r\nPING\r\n":   "-ERR this is the peer port of a node",
		"":                       "",
		"\x16\x03\x01":           "",
	} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = io.WriteString(conn, send)
		require.NoError(t, err)
		text, _ := io.ReadAll(conn)
		require.Contains(t, string(text), answer, "%q", send)
	}
}
