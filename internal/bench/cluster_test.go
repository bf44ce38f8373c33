package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"

	"github.com/quolldb/quoll/ring"
)

func TestParseNodes(t *testing.T) {
	addresses, owner, err := parseNodes("x 10.0.0.1:6379@16379 myself,master - 0 0 0 connected 0-5 7 [93->-x]\ny [::1]:6380@16380 master - 0 0 0 connected 6 8-16383\nz 10.0.0.3:6379@16379 master,fail - 0 0 0 disconnected\n")
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.1:6379", "[::1]:6380"}, addresses)
	for slot, of := range owner {
		want := uint16(1)
		if slot <= 5 || slot == 7 {
			want = 0
		}
		require.Equal(t, want, of, slot)
	}
	for _, wrong := range []string{"", "x h:1@2 master - 0 0 0 connected 0-16382", "x h:1@2 master - 0 0 0 connected 0-16384", "x h:1@2 master - 0 0 0 connected a-b"} {
		_, _, err := parseNodes(wrong)
		require.ErrorContains(t, err, "CLUSTER NODES: ", wrong)
	}
}

// TestACluster: each node is sent what is of its slots, and all keys are written and read.
func TestACluster(t *testing.T) {
	servers := []*server{{}, {}}
	addresses := []string{servers[0].start(t), servers[1].start(t)}
	asked := &server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
		if string(cmd.Args[0]) == "CLUSTER" {
			conn.WriteBulkString(fmt.Sprintf("x %s@1 master - 0 0 0 connected 0-9999\ny %s@2 master - 0 0 0 connected 10000-16383\n", addresses[0], addresses[1]))
			return true
		}
		return false
	}}
	for _, workload := range []string{Simple, Batch, Load} {
		opt := sensible()
		opt.Workload, opt.Count, opt.Check, opt.Cluster = workload, 5000, true, true
		report, err := run(t, opt, asked.start(t))
		require.NoError(t, err)
		errors, missing, wrong := report.Total()
		require.Zero(t, errors+wrong)
		if workload != Batch {
			require.Zero(t, missing)
		}
		require.Len(t, append(servers[0].keys(), servers[1].keys()...), opt.Keys)
		for i, s := range servers {
			require.NotEmpty(t, s.keys())
			for _, key := range s.keys() {
				require.Equal(t, i == 0, ring.SlotOf([]byte(key)) < 10000, key)
			}
		}
	}
	opt := sensible()
	opt.Cluster, opt.Addresses = true, []string{(&server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
		if string(cmd.Args[0]) != "CLUSTER" {
			return false
		}
		conn.WriteError("ERR This instance has cluster support disabled")
		return true
	}}).start(t)}
	_, err := Open(t.Context(), opt)
	require.EqualError(t, err, opt.Addresses[0]+" is no node of a Redis Cluster: ERR This instance has cluster support disabled")
}
