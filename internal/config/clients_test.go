package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// loadNode loads a node of a cluster with some more flags.
func loadNode(t *testing.T, flags ...string) (Node, error) {
	n := DefaultNode()
	fs := flagsOf(&n)
	require.NoError(t, fs.Parse(append([]string{"--name=a", "--initial-cluster=a=10.0.0.1:7000", "--replicas=1", "--memory=1GiB"}, flags...)))
	return n, Load(&n, fs, nil)
}

func TestDevServesClientsAsAProxyDoes(t *testing.T) {
	d := DefaultDev()
	fs := flagsOf(&d)
	require.NoError(t, fs.Parse([]string{"--listen=0.0.0.0:6379", "--acl-file=users.acl", "--cluster-enabled", "--max-clients=7"}))
	require.NoError(t, Load(&d, fs, nil))
	p := d.Proxy()
	require.Equal(t, d.Clients, p.Clients)
	require.Equal(t, "0.0.0.0:6379", p.Exposed(), "what the file says decides")

	d.Listen, d.TLSListen = NoListener, "127.0.0.1:6380"
	require.ErrorContains(t, d.Validate(), "listen: is none")
}

func TestANodeServesClientsIfItIsToldTo(t *testing.T) {
	n, err := loadNode(t, "--cluster-enabled", "--max-clients=0") // may be variables of all processes
	require.NoError(t, err)
	require.False(t, n.Serves())
	require.Zero(t, n.ClientMemory())
	room := n.DataMemory()

	n, err = loadNode(t, "--listen=127.0.0.1:6379", "--cluster-enabled")
	require.NoError(t, err)
	require.True(t, n.Serves())
	require.Equal(t, "10.0.0.1:6379", n.ClusterAnnounce)
	require.Equal(t, room-n.ClientMemory(), n.DataMemory(), "clients have their part of the memory")
	p := n.Proxy()
	require.NoError(t, p.Validate())
	require.Equal(t, []string{"10.0.0.1:7000"}, p.Nodes)
	require.Equal(t, n.ClientMemory(), p.ClientMemory)

	n, err = loadNode(t, "--listen=none", "--tls-listen=:6380", "--tls-cert-file=c", "--tls-key-file=k", "--tls-ca-file=ca", "--tls-client-auth=required", "--cluster-enabled")
	require.NoError(t, err)
	require.Equal(t, "10.0.0.1:6380", n.ClusterAnnounce)

	for field, flags := range map[string][]string{
		"listen":           {"--listen=0.0.0.0:6379"}, // without a password
		"cluster-announce": {"--listen=127.0.0.1:0", "--cluster-enabled"},
		"max-clients":      {"--listen=127.0.0.1:6379", "--max-clients=0"},
		"tls-listen":       {"--tls-listen=127.0.0.1:6380"},

		"replica-listen":     {"--replica-listen=127.0.0.1:6390"}, // and no other port
		"replica-tls-listen": {"--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-tls-listen=127.0.0.1:6390"},
		"replica-announce":   {"--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-listen=127.0.0.1:0"},

		"tls-auth-clients-user": {"--listen=127.0.0.1:6379", "--tls-auth-clients-user=CN"}, // without TLS
	} {
		_, err := loadNode(t, flags...)
		var faults Faults
		require.ErrorAs(t, err, &faults, field)
		require.True(t, faults.has(field), "%s: %v", field, err)
	}
}
