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

// withTLS has the addresses at which TLS is served, with the settings of clients.
var withTLS sync.Map

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
	client := store.Client("127.0.0.1")
	client.DynamicRecordSizingDisabled = true // what is sent at once comes at once
	withTLS.Store(addr, client)
	t.Cleanup(func() { withTLS.Delete(addr) })
	return store.Server(certs.ClientAuthOptional, tls.VersionTLS12)
}

// DialConn connects, with TLS where that is served.
func DialConn(addr string) (net.Conn, error) {
	if config, ok := withTLS.Load(addr); ok {
		return tls.Dial("tcp", addr, config.(*tls.Config))
	}
	return net.Dial("tcp", addr)
}
