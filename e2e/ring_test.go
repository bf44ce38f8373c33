//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// status is what `quoll ring status -o json` prints.
type status struct {
	Cluster  string
	Epoch    int
	Formed   bool
	Replicas int
	Seen     string
	Warnings []string
	Nodes    []struct {
		Name, Peer, Rack, Version, Generation, State string
		HomeSlots                                    int `json:"home_slots"`
		ReplicaSlots                                 int `json:"replica_slots"`
		LeadingSlots                                 int `json:"leading_slots"`
		Keys, Bytes                                  int
		SeenBy                                       map[string]string `json:"seen_by"`
	}
}

func ringStatus(t testing.TB, admin string) (status, int) {
	return cluster.RunJSON[status](t, "ring", "status", "-o", "json", "--admin", admin)
}

func (s status) states() map[string]string {
	states := map[string]string{}
	for _, n := range s.Nodes {
		states[n.Name] = n.State
	}
	return states
}

func TestRingStatus(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Node: []string{"--rack", "r1", "--cluster-name", "zoo"}, Proxy: []string{"--cluster-name", "zoo"}})
	client := connect(t, c.Proxies[0].Client)
	require.NoError(t, client.MSet(t.Context(), "a", "12345", "b", "12345", "c", "12345").Err())
	for _, asked := range []*cluster.Member{c.Proxies[0], c.Nodes[1]} {
		var s status
		cluster.Await(t, "everybody sees everybody, as "+asked.Name+" says", func() bool {
			var code int
			s, code = ringStatus(t, asked.Admin)
			alive := 0
			for _, n := range s.Nodes {
				for _, state := range n.SeenBy {
					if state == "alive" {
						alive++
					}
				}
			}
			return code == 0 && alive == 6
		})
		require.Equal(t, "zoo", s.Cluster)
		require.Equal(t, 1, s.Epoch)
		require.Equal(t, 3, s.Replicas)
		homes := 0
		for i, n := range s.Nodes {
			require.Equal(t, []any{c.Nodes[i].Node, c.Nodes[i].Peer, "r1", "voting"}, []any{n.Name, n.Peer, n.Rack, n.State})
			require.Equal(t, 16384, n.ReplicaSlots)
			require.InDelta(t, 16384/3, n.HomeSlots, 16384/3*0.05)
			require.NotEmpty(t, n.Version)
			homes += n.HomeSlots
		}
		require.Equal(t, 16384, homes)
		cluster.Await(t, "every node holds every key", func() bool {
			s, _ = ringStatus(t, asked.Admin)
			return s.Nodes[0].Keys == 3 && s.Nodes[1].Keys == 3 && s.Nodes[2].Keys == 3
		})
		require.Equal(t, 18, s.Nodes[0].Bytes)
	}
	table, _, code := cluster.Run(t, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, "ring", "status")
	require.Equal(t, 0, code)
	require.Contains(t, table, "Cluster zoo, epoch 1: 3 nodes, 3 replicas of each key.")
	stdout, _, code := cluster.Run(t, nil, "health", "--admin", c.Proxies[0].Admin)
	require.Equal(t, []any{"ready\n", 0}, []any{stdout, code})
}

// location is what `quoll ring locate -o json` prints.
type location struct {
	Key      string
	Slot     int
	Epoch    int
	Home     string
	Replicas []holding
}

type holding struct {
	Node, State, Version, Type string
	Home, Preferred            bool
	Present, Tombstone         bool
	Size                       int
	ExpireAt                   *time.Time `json:"expire_at"`
}

func TestRingLocate(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client := connect(t, c.Proxies[0].Client)
	require.NoError(t, client.Set(t.Context(), "user:{1}", "12345", time.Hour).Err())
	for _, asked := range []*cluster.Member{c.Proxies[0], c.Nodes[0], c.Nodes[2]} {
		locate := func(key string) (l location) {
			cluster.Await(t, "all replicas hold "+key, func() bool {
				l, _ = cluster.RunJSON[location](t, "ring", "locate", key, "-o", "json", "--admin", asked.Admin)
				return len(l.Replicas) == 3 && l.Replicas[0].Present && l.Replicas[1].Present && l.Replicas[2].Present
			})
			return l
		}
		l := locate("user:{1}")
		require.Equal(t, []any{"user:{1}", 9842, 1}, []any{l.Key, l.Slot, l.Epoch}) // CLUSTER KEYSLOT 1
		require.True(t, l.Replicas[0].Preferred)
		require.Contains(t, []string{"a", "b", "c"}, l.Home, "some node leads, the preferred one or another")
		for _, r := range l.Replicas {
			require.Equal(t, r.Node == l.Home, r.Home)
			require.Equal(t, []any{"voting", "string", 5, l.Replicas[0].Version, false}, []any{r.State, r.Type, r.Size, r.Version, r.Tombstone})
			require.NotNil(t, r.ExpireAt)
			require.WithinDuration(t, time.Now().Add(time.Hour), *r.ExpireAt, time.Minute)
		}
		l, _ = cluster.RunJSON[location](t, "ring", "locate", "-o", "json", "--admin", asked.Admin, "--", "-nothing")
		require.Equal(t, "-nothing", l.Key)
		require.False(t, l.Replicas[0].Present)
		require.Nil(t, l.Replicas[0].ExpireAt)
	}
	table, _, code := cluster.Run(t, nil, "ring", "locate", "user:{1}", "--admin", c.Proxies[0].Admin)
	require.Equal(t, 0, code)
	require.Contains(t, table, `Key "user:{1}": slot 9842, epoch 1, home `)
	_, stderr, code := cluster.Run(t, nil, "ring", "status", "--admin", cluster.FreeAddress(t))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "connection refused")
}

func TestFlagsEnvironmentAndFileAgree(t *testing.T) {
	t.Parallel()
	settings := map[string]string{"name": "one", "cluster-name": "lone", "peer": cluster.FreeAddress(t), "gossip": cluster.FreeAddress(t),
		"admin": cluster.FreeAddress(t), "rack": "r7", "replicas": "1", "operation-timeout": "700ms"}
	settings["initial-cluster"] = "one=" + settings["peer"]
	var flags, env, yaml []string
	for name, value := range settings {
		flags = append(flags, "--"+name+"="+value)
		variable := "QUOLL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if name == "admin" { // QUOLL_ADMIN is whom to ask
			variable = "QUOLL_ADMIN_LISTEN"
		}
		env = append(env, variable+"="+value)
		yaml = append(yaml, name+": "+value+"\n")
	}
	file := filepath.Join(t.TempDir(), "node.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(yaml, "")), 0o600))

	shown := map[string]string{}
	for how, start := range map[string]struct{ args, env []string }{
		"flags": {args: flags}, "environment": {env: env}, "file": {args: []string{"--config", file}}, "file named by environment": {env: []string{"QUOLL_CONFIG=" + file}},
	} {
		m := cluster.Member{Process: cluster.NewProcess(t, "node by "+how, append([]string{"node"}, start.args...)...), Admin: settings["admin"]}
		m.Env = start.env
		m.Start()
		m.AwaitReady()
		s, code := ringStatus(t, m.Admin)
		m.Kill()
		require.Equal(t, 0, code)
		require.Len(t, s.Nodes, 1)
		s.Nodes[0].Generation = "" // another one with every start
		text, err := json.Marshal(s)
		require.NoError(t, err)
		shown[how] = string(text)
	}
	require.Contains(t, shown["flags"], `"Name":"one"`)
	require.Contains(t, shown["flags"], `"Rack":"r7"`)
	for how, text := range shown {
		require.JSONEq(t, shown["flags"], text, how)
	}
}
