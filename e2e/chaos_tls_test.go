//go:build unix

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/certs"
)

// chaosLogin says where clients connect and as whom: in a cluster with certificates with TLS, as a user who may do what they do.
func chaosLogin(t *testing.T, c *cluster.Cluster) (addresses []string, who login, secured bool) {
	if c.Certs() == "" {
		return c.Clients(), login{}, false
	}
	require.NoError(t, connectFor(t, c.Proxies[0].Client, 15*time.Second).Do(t.Context(), "ACL", "SETUSER", "worker", "on", ">pw", "~*", "+@all", "-@admin").Err())
	return c.SecureClients(), login{"worker", "pw", clientTLS(t, c.Certs(), "alice")}, true
}

// rotation replaces the certificates of all processes of a cluster, again and again. A nil one does nothing.
type rotation struct {
	c     *cluster.Cluster
	l     *load
	every time.Duration
	last  time.Time
	done  int
}

// rotate replaces them if it is time. It belongs to the goroutine that starts processes: one that starts between the two files of a certificate would find that they do not fit.
func (r *rotation) rotate() {
	if time.Since(r.last) < r.every {
		return
	}
	r.last = time.Now()
	ca, err := certs.OpenAuthority(r.c.Certs())
	require.NoError(r.l.t, err)
	owners := []certs.Request{{Role: certs.Proxy, Name: "p1"}}
	for _, m := range r.c.Nodes {
		owners = append(owners, certs.Request{Role: certs.Node, Name: m.Node})
	}
	for _, owner := range owners {
		owner.Dir = r.c.Certs()
		cluster.Replace(r.l.t, ca, owner)
	}
	r.done++
	r.l.note("all certificates are replaced")
}

func (r *rotation) count() int {
	if r == nil {
		return 0
	}
	return r.done
}

// requireInForce: each process shows what is in its file now, and nobody was refused for a certificate meanwhile, neither a client nor a peer.
func (r *rotation) requireInForce() {
	if r == nil {
		return
	}
	t := r.l.t
	require.Positive(t, r.done, "certificates were replaced")
	shown := map[string]string{} // which file, by address
	for _, address := range r.c.SecureClients() {
		shown[address] = certs.FileOf(certs.Proxy, "p1")
	}
	for _, m := range r.c.Nodes {
		shown[m.Peer] = certs.FileOf(certs.Node, m.Node)
		if m.Secure != "" {
			shown[m.Secure] = certs.FileOf(certs.Node, m.Node)
		}
	}
	for address, file := range shown {
		cluster.Await(t, address+" shows "+file, func() bool { return shows(address, filepath.Join(r.c.Certs(), file+".crt")) })
	}
	for _, f := range r.l.failures {
		require.NotRegexp(t, "tls: |x509: |WRONGPASS|NOAUTH|NOPERM", f.err.Error())
	}
	for _, m := range append(append([]*cluster.Member{}, r.c.Nodes...), r.c.Proxies...) {
		for line := range strings.Lines(m.Log()) {
			require.NotRegexp(t, "refuses this side's certificate|certs: |x509: |make no sense|not who it says", line, m.Name)
		}
	}
}

// shows reports whether a port with TLS has the certificate that is in a file.
func shows(address, file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(text)
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return false
	}
	defer conn.Close()
	return bytes.Equal(conn.ConnectionState().PeerCertificates[0].Raw, block.Bytes)
}
