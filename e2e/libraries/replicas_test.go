//go:build unix

package libraries

import (
	"fmt"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"github.com/valkey-io/valkey-go"

	"github.com/quolldb/quoll/e2e/cluster"
)

// reader writes to masters, and reads from replicas.
type reader interface {
	set(key, value string) error
	get(key string) (string, error)
}

// startReplicaPorts starts three nodes with replica ports, and waits until each knows all.
func startReplicaPorts(t *testing.T) *cluster.Cluster {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Serving: true, ReplicaPorts: true, Node: []string{"--cluster-enabled"}})
	awaitShown(t, c.Nodes, 3)
	return c
}

// awaitShown waits until each of some nodes shows so many masters that answer, and as many replicas.
func awaitShown(t *testing.T, nodes []*cluster.Member, n int) {
	for _, m := range nodes {
		client := goredis.NewClient(&goredis.Options{Addr: m.Client})
		cluster.Await(t, "each node knows all", func() bool {
			text := client.ClusterNodes(t.Context()).Val()
			return strings.Count(text, "slave ") == n && strings.Count(text, "connected") == 2*n+strings.Count(text, "disconnected")
		})
		require.NoError(t, client.Close())
	}
}

// lastAt returns the last commands of the clients of one port of a node, one a line.
func lastAt(t *testing.T, m *cluster.Member, port string) (commands string) {
	client := goredis.NewClient(&goredis.Options{Addr: m.Client})
	defer client.Close()
	for _, line := range strings.Split(client.ClientList(t.Context()).Val(), "\n") {
		if _, after, found := strings.Cut(line, " cmd="); found && strings.Contains(line, " laddr="+port+" ") {
			command, _, _ := strings.Cut(after, " ")
			commands += command + "\n"
		}
	}
	return commands
}

// TestLibrariesReadFromReplicaPorts: rueidis and valkey-go find them, read from them only and write to masters only, and go on when a node dies.
func TestLibrariesReadFromReplicaPorts(t *testing.T) {
	for name, dial := range map[string]func(t *testing.T, addrs []string) reader{
		"rueidis": func(t *testing.T, addrs []string) reader {
			c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs, SendToReplicas: func(cmd rueidis.Completed) bool { return cmd.IsReadOnly() }})
			require.NoError(t, err)
			t.Cleanup(c.Close)
			return rueidisClient{c}
		},
		"valkey-go": func(t *testing.T, addrs []string) reader {
			c, err := valkey.NewClient(valkey.ClientOption{InitAddress: addrs, SendToReplicas: func(cmd valkey.Completed) bool { return cmd.IsReadOnly() }})
			require.NoError(t, err)
			t.Cleanup(c.Close)
			return valkeyClient{c}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := startReplicaPorts(t)
			var addrs []string
			for _, m := range c.Nodes {
				addrs = append(addrs, m.Client)
			}
			client := dial(t, addrs)
			const keys = 100
			key := func(i int) string { return fmt.Sprint("key:", i) }
			read := func(i int, want string) func() bool {
				return func() bool { got, err := client.get(key(i)); return err == nil && got == want }
			}
			for round := range 3 {
				for i := range keys {
					require.NoError(t, client.set(key(i), fmt.Sprint(round)))
				}
				for i := range keys {
					cluster.Await(t, "what was written is read", read(i, fmt.Sprint(round)))
				}
			}
			for _, m := range c.Nodes {
				require.Contains(t, lastAt(t, m, m.Replica), "get\n", "%s is read from", m.Name)
				require.NotContains(t, lastAt(t, m, m.Replica), "set\n")
				require.Contains(t, lastAt(t, m, m.Client), "set\n")
				require.NotContains(t, lastAt(t, m, m.Client), "get\n")
			}

			c.Nodes[2].Kill()
			awaitShown(t, c.Nodes[:2], 2)
			late := time.Now().Add(30 * time.Second)
			for i := range keys {
				require.Eventually(t, func() bool { return client.set(key(i), "after") == nil }, time.Until(late), time.Millisecond, "it goes on")
				require.Eventually(t, read(i, "after"), time.Until(late), time.Millisecond)
			}
		})
	}
}
