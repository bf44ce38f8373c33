package proxytest

import (
	"crypto/tls"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/certs"
)

// withTLS has the addresses at which TLS is served, with the CA.
var withTLS sync.Map

// authority is a CA in a directory.
type authority struct {
	*certs.Authority
	dir string
}

// client are the settings of a client with a certificate of that name, or with none.
func (a authority) client(name string) (*tls.Config, error) {
	files := certs.Files{CA: a.dir + "/" + certs.CAFile}
	if name != "" {
		var err error
		if files.Cert, files.Key, err = a.Issue(certs.Request{Role: certs.Client, Name: name, Valid: time.Hour}); err != nil {
			return nil, err
		}
	}
	store, err := certs.Open("clients", files)
	if err != nil {
		return nil, err
	}
	client := store.Client("127.0.0.1")
	client.DynamicRecordSizingDisabled = true // what is sent at once comes at once
	return client, nil
}

// serveTLS returns settings for a server at an address, for which Dial has those of clients from now on.
func serveTLS(t testing.TB, addr string) *tls.Config {
	t.Helper()
	dir := t.TempDir()
	ca, err := certs.NewAuthority(dir, "test", time.Hour)
	require.NoError(t, err)
	cert, key, err := ca.Issue(certs.Request{Role: certs.Proxy, Name: "p", Hosts: []string{"127.0.0.1"}, Valid: time.Hour})
	require.NoError(t, err)
	store, err := certs.Open("clients", certs.Files{Cert: cert, Key: key, CA: dir + "/" + certs.CAFile})
	require.NoError(t, err)
	withTLS.Store(addr, authority{ca, dir})
	t.Cleanup(func() { withTLS.Delete(addr) })
	return store.Server(certs.ClientAuthOptional, tls.VersionTLS12)
}

// DialConn connects, with TLS where that is served.
func DialConn(addr string) (net.Conn, error) {
	if ca, ok := withTLS.Load(addr); ok {
		return dialTLS(addr, ca.(authority), "")
	}
	return net.Dial("tcp", addr)
}

func dialTLS(addr string, ca authority, name string) (net.Conn, error) {
	config, err := ca.client(name)
	if err != nil {
		return nil, err
	}
	return tls.Dial("tcp", addr, config)
}

// DialAs is Dial with a certificate of that name, which nobody else has yet, where TLS is served.
func DialAs(t testing.TB, addr, name string) *Client {
	t.Helper()
	ca, ok := withTLS.Load(addr)
	require.True(t, ok, "TLS is not served")
	conn, err := dialTLS(addr, ca.(authority), name)
	require.NoError(t, err)
	return newClient(t, conn)
}
