//go:build unix

package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestBytesAcrossRacks are told from others by nodes and proxies, also after the racks have changed.
func TestBytesAcrossRacks(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Node: []string{"--rack", "r1"}, Proxy: []string{"--rack", "r1"}})
	client := connect(t, c.Proxies[0].Client)
	value := strings.Repeat("v", 1000)
	// across is how much the members sent to other racks, and received from there, for so many SETs and GETs.
	across := func(kind string) (sent, received float64) {
		total := func() (sent, received float64) {
			for _, m := range map[string][]*cluster.Member{"node": c.Nodes, "proxy": c.Proxies}[kind] {
				s, r := bytesToOtherRacks(t, m)
				sent, received = sent+s, received+r
			}
			return sent, received
		}
		s, r := total()
		for i := range 100 {
			require.NoError(t, client.Set(t.Context(), fmt.Sprint("key:", i), value, 0).Err())
			require.NoError(t, client.Get(t.Context(), fmt.Sprint("key:", i)).Err())
		}
		sent, received = total()
		return sent - s, received - r
	}
	sent, received := across("node")
	require.Zero(t, sent+received)

	for _, args := range [][]string{{"plan", "rack", "b", "r2", "rack", "c", "r3"}, {"commit"}, {"wait", "--timeout", "1m"}} {
		_, stderr, code := cluster.Run(t, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, append([]string{"ring"}, args...)...)
		require.Zero(t, code, stderr)
	}
	sent, received = across("node")
	require.Greater(t, sent, 200*1000.0, "each home sends the value to two replicas in other racks")
	require.Greater(t, received, 0.0)
	sent, received = across("proxy")
	require.Greater(t, sent, 50*1000.0, "two thirds of the homes are in other racks")
	require.Less(t, received, 100*500.0, "no value is read from there")
	require.Greater(t, received, 0.0)
}

var toOtherRacks = regexp.MustCompile(`(?m)^quoll_\w+_rack_(sent|received)_bytes_total\{.*rack="other"\} (\S+)$`)

// bytesToOtherRacks returns what a member says that it sent to nodes in other racks, and received from them.
func bytesToOtherRacks(t *testing.T, m *cluster.Member) (sent, received float64) {
	t.Helper()
	found := toOtherRacks.FindAllStringSubmatch(metricsPage(t, m), -1)
	require.Len(t, found, 2)
	for _, line := range found {
		n, err := strconv.ParseFloat(line[2], 64)
		require.NoError(t, err)
		if line[1] == "sent" {
			sent += n
		} else {
			received += n
		}
	}
	return sent, received
}
