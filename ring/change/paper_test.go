package change

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

var writePaper = flag.Bool("change.paper", false, "write the figures of TestOnPaper into docs/scale.md")

// TestOnPaper works out how many bytes rings of some sizes take, and that docs/scale.md
// says so. After a change: go test ./ring/change -run OnPaper -change.paper
func TestOnPaper(t *testing.T) {
	needsAllSlots(t)
	const page = "../../docs/scale.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var rows []string
	for _, n := range []int{3, 10, 100, 1000} {
		if n > 100 && testing.Short() {
			break
		}
		row := paperRow(t, n)
		rows = append(rows, row)
		if !*writePaper {
			require.Contains(t, string(text), row)
		}
	}
	if *writePaper {
		require.NoError(t, os.WriteFile(page, []byte(withRows(string(text), rows)), 0o644))
	}
}

// withRows puts rows in the place of those of the page's table.
func withRows(text string, rows []string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|---") {
			kept = append(kept, line, strings.Join(rows, ""))
		} else if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Members") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// paperRow lets one member join a ring so that it has n members then.
func paperRow(t *testing.T, n int) string {
	c := ring.Cluster{Name: "production", Epoch: 1, Replicas: min(3, n-1)}
	for i := range n {
		c.Members = append(c.Members, ring.Member{ID: uint16(i + 1), Name: fmt.Sprintf("node-%04d", i+1), Peer: fmt.Sprintf("10.20.%d.%d:7000", i/250, i%250+1),
			Gossip: fmt.Sprintf("10.20.%d.%d:7946", i/250, i%250+1), Rack: fmt.Sprintf("rack-%02d", i%40), Weight: 1, Generation: 0x9e3779b97f4a7c15 * uint64(i+1)})
	}
	joins := c.Members[n-1]
	c.Members = c.Members[:n-1]
	d, err := FromCluster(c)
	require.NoError(t, err)
	d = do(t, d, Entry{Join: &Join{joins}}, stage(Staged{Kind: JoinMember, Name: joins.Name}))
	plan, err := Propose(d)
	require.NoError(t, err)
	planned := do(t, d, Entry{Commit: plan})
	joint := do(t, planned, begin(planned, NextWave(planned, Limits{Joint: 32, Alive: Alive})...))
	done := collectAll(t, joint)
	rest := carryOut(t, done)
	for slot := range rest.Slots {
		rest.Slots[slot].Epoch = rest.Version
	}
	atRest := len(rest.Encode())
	for slot := range rest.Slots {
		rest.Slots[slot].Epoch += uint64(slot) * 7919 % ring.Slots
	}
	rest.Version += ring.Slots
	scattered := len(rest.Encode())
	return fmt.Sprintf("| %d | %s | %s | %d | %s | %d | %d |\n", n, bytes(atRest), bytes(scattered), len(planned.Plan.Moves), bytes(len(plan.Moves)),
		len(joint.Since(planned.Version)), len(done.Since(joint.Version)))
}

// bytes writes thousands apart.
func bytes(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
