package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAReplicaPortIsBesideAnotherOne, for clients of a Redis Cluster, is reached where that is, and guarded as that is.
func TestAReplicaPortIsBesideAnotherOne(t *testing.T) {
	n, err := loadNode(t, "--listen=127.0.0.1:6379", "--cluster-enabled")
	require.NoError(t, err)
	require.False(t, n.ServesReplicas())
	require.Empty(t, n.ReplicaAnnounce)

	n, err = loadNode(t, "--listen=127.0.0.1:6379", "--cluster-enabled", "--cluster-announce=example.com:7777", "--replica-listen=127.0.0.1:6390")
	require.NoError(t, err)
	require.True(t, n.ServesReplicas())
	require.Equal(t, "example.com:6390", n.ReplicaAnnounce)
	p := n.Proxy()
	require.NoError(t, p.Validate())
	require.Empty(t, n.ExposedReplica())

	n, err = loadNode(t, "--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-listen=127.0.0.1:0", "--replica-announce=10.0.0.9:1")
	require.NoError(t, err)
	require.Equal(t, "10.0.0.9:1", n.ReplicaAnnounce)

	secure := []string{"--listen=none", "--tls-listen=127.0.0.1:6380", "--tls-cert-file=c", "--tls-key-file=k", "--cluster-enabled", "--acl-file=users.acl"}
	n, err = loadNode(t, append(secure, "--replica-tls-listen=:6391")...)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.1:6391", n.ReplicaAnnounce)
	require.Equal(t, ":6391", n.ExposedReplica(), "what the file says decides")
	n, err = loadNode(t, append(secure, "--replica-listen=:6390")...)
	require.NoError(t, err)
	require.Equal(t, ":6390", n.ExposedReplica())

	for _, test := range []struct {
		field string
		flags []string
	}{
		{"replica-listen", []string{"--listen=127.0.0.1:6379", "--replica-listen=127.0.0.1:6390"}},                         // no cluster
		{"replica-listen", []string{"--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-listen=:6390"}},             // no password
		{"replica-listen", []string{"--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-listen=nonsense"}},          // no port
		{"replica-announce", []string{"--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-announce=10.0.0.1:6390"}}, // of nothing
		{"replica-announce", []string{"--listen=127.0.0.1:6379", "--cluster-enabled", "--replica-listen=127.0.0.1:6390", "--replica-announce=x"}},
		{"replica-tls-listen", []string{"--tls-listen=127.0.0.1:6380", "--tls-cert-file=c", "--tls-key-file=k", "--cluster-enabled", "--replica-tls-listen=:6391"}},
	} {
		_, err := loadNode(t, test.flags...)
		var faults Faults
		require.ErrorAs(t, err, &faults, "%v", test.flags)
		require.True(t, faults.has(test.field), "%s: %v", test.field, err)
	}
}
