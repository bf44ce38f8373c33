//go:build unix

package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/certs"
)

// withTLS reports whether clusters have TLS between their processes: if the test says so, or $QUOLL_TLS is set.
func (cfg Config) withTLS() bool { return cfg.Certs != "" || os.Getenv("QUOLL_TLS") != "" }

// Certs is the directory with the certificates of the processes, empty if the cluster has no TLS.
func (c *Cluster) Certs() string { return c.cfg.Certs }

// certsDir returns the directory with the cluster's certificates, which it makes if the test has not.
func (cfg Config) certsDir(t testing.TB, nodes []*Member) string {
	if cfg.Certs != "" {
		return cfg.Certs
	}
	dir := t.TempDir()
	MakeCerts(t, dir, nodes)
	return dir
}

// MakeCerts makes a CA in a directory, and certificates of nodes, proxy p1 and client alice, for this machine.
func MakeCerts(t testing.TB, dir string, nodes []*Member) {
	ca, err := certs.NewAuthority(dir, "quoll", 24*time.Hour)
	require.NoError(t, err)
	for _, m := range nodes {
		Issue(t, ca, certs.Request{Role: certs.Node, Name: m.Node})
	}
	Issue(t, ca, certs.Request{Role: certs.Proxy, Name: "p1"})
	Issue(t, ca, certs.Request{Role: certs.Client, Name: "alice"})
}

// certify makes a certificate for a node that comes later.
func (c *Cluster) certify(m *Member) {
	if _, err := os.Stat(filepath.Join(c.cfg.Certs, certs.FileOf(certs.Node, m.Node)+".crt")); err == nil {
		return
	}
	ca, err := certs.OpenAuthority(c.cfg.Certs)
	require.NoError(c.t, err)
	Issue(c.t, ca, certs.Request{Role: certs.Node, Name: m.Node})
}

// Issue makes a certificate for this machine.
func Issue(t testing.TB, ca *certs.Authority, r certs.Request) (cert, key string) {
	r.Hosts = []string{"127.0.0.1"}
	if r.Valid == 0 {
		r.Valid = 24 * time.Hour
	}
	cert, key, err := ca.Issue(r)
	require.NoError(t, err)
	return cert, key
}

// Replace makes a certificate as Issue does, elsewhere, and puts it in the place of the one of the same owner in the request's directory.
func Replace(t testing.TB, ca *certs.Authority, r certs.Request) {
	dir := r.Dir
	r.Dir = t.TempDir()
	cert, key := Issue(t, ca, r)
	for _, file := range []string{key, cert} {
		require.NoError(t, os.Rename(file, filepath.Join(dir, filepath.Base(file))))
	}
}

// QuollDir returns a directory in which the command quoll is, for scripts.
func QuollDir(t testing.TB) string {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(binary, filepath.Join(dir, "quoll")))
	return dir
}
