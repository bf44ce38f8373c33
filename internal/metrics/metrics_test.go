package metrics

import (
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func scrape(t *testing.T, r *Registry) string {
	answer := httptest.NewRecorder()
	r.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

// everything is one process with nodes and a proxy, as `quoll dev` is.
func everything(t *testing.T) (*Registry, *Node, *Proxy) {
	r, n, p := New("v1.2.3", "abc"), new(Node), new(Proxy)
	n.Register(r, "a", []string{"term_acquired", "stepped_down"}, func() NodeState {
		return NodeState{Keys: 7, Tombstones: 2, Bytes: 99, SlotsLed: 5461, GossipAlive: 3, Voting: true, Connections: 4}
	})
	new(Node).Register(r, "b", nil, func() NodeState { return NodeState{} })
	p.Register(r, []string{"", "get", "set"}, func() []Link { return []Link{{"a", true}, {"b", false}} })
	r.Gauge("quoll_test_level", "A gauge.", func() float64 { return 1.5 })
	r.Counter("quoll_test_things_total", "A counter.", func() uint64 { return 8 })
	return r, n, p
}

func TestScrapeShowsWhatWasCounted(t *testing.T) {
	r, n, p := everything(t)
	n.Writes.Inc()
	n.RefusedBallot.Add(3)
	n.Events[1].Add(4)
	n.BytesIn.Add(1 << 40)
	p.Clients.Add(2)
	p.Clients.Add(-1)
	p.Commands[1].Add(5)
	p.Unknown.Inc()
	p.QuorumReads.Add(6)
	p.BatchSize.Observe(16)
	p.BatchLatency.ObserveDuration(300 * time.Microsecond)

	lines := strings.Split(scrape(t, r), "\n")
	for _, want := range []string{
		`quoll_node_operations_total{kind="write",node="a"} 1`,
		`quoll_node_operations_total{kind="write",node="b"} 0`,
		`quoll_node_refusals_total{node="a",reason="ballot"} 3`,
		`quoll_node_events_total{event="term_acquired",node="a"} 0`,
		`quoll_node_events_total{event="stepped_down",node="a"} 4`,
		`quoll_node_received_bytes_total{node="a"} 1.099511627776e+12`,
		`quoll_node_keys{node="a"} 7`,
		`quoll_node_tombstones{node="a"} 2`,
		`quoll_node_data_bytes{node="a"} 99`,
		`quoll_node_led_slots{node="a"} 5461`,
		`quoll_node_gossip_alive_nodes{node="a"} 3`,
		`quoll_node_voting{node="a"} 1`,
		`quoll_node_voting{node="b"} 0`,
		`quoll_node_peer_connections{node="a"} 4`,
		`quoll_proxy_connected_clients 1`,
		`quoll_proxy_commands_total{command="get"} 5`,
		`quoll_proxy_command_errors_total{kind="unknown"} 1`,
		`quoll_proxy_reads_total{by="quorum"} 6`,
		`quoll_proxy_batch_commands_bucket{le="8"} 0`,
		`quoll_proxy_batch_commands_bucket{le="16"} 1`,
		`quoll_proxy_batch_commands_sum 16`,
		`quoll_proxy_batch_duration_seconds_bucket{le="0.000256"} 0`,
		`quoll_proxy_batch_duration_seconds_bucket{le="0.000512"} 1`,
		`quoll_proxy_batch_duration_seconds_count 1`,
		`quoll_proxy_link_up{node="a"} 1`,
		`quoll_proxy_link_up{node="b"} 0`,
		`quoll_test_level 1.5`,
		`quoll_test_things_total 8`,
	} {
		require.Contains(t, lines, want)
	}
	text := strings.Join(lines, "\n")
	require.NotContains(t, text, `command="set"`, "nobody used it")
	require.Contains(t, text, `quoll_build_info{commit="abc",goversion="go`)
	require.Contains(t, text, "go_goroutines")
}

func TestNamesFollowTheConventions(t *testing.T) {
	r, _, p := everything(t)
	p.Commands[1].Inc()
	problems, err := promlint.New(strings.NewReader(scrape(t, r))).Lint()
	require.NoError(t, err)
	for _, problem := range problems {
		require.False(t, strings.HasPrefix(problem.Metric, "quoll_"), "%s: %s", problem.Metric, problem.Text)
	}
}

func TestHistogramPutsEachObservationBelowItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		if rapid.Bool().Draw(t, "small") {
			n %= 1 << 26
		}
		var h Histogram
		h.Observe(n)
		count, sum, atMost := h.cumulate(1)
		require.Equal(t, uint64(1), count)
		require.InDelta(t, float64(n), sum, 0)
		for bound, below := range atMost {
			require.Equal(t, float64(n) <= bound, below == 1, "%d in the bucket up to %f", n, bound)
		}
	})
}

func TestDurationsAreRoundedUp(t *testing.T) {
	var h Histogram
	h.ObserveDuration(-time.Second)
	h.ObserveDuration(1)
	h.ObserveDuration(math.MaxInt64 - time.Hour)
	_, sum, atMost := h.cumulate(1)
	require.Equal(t, uint64(2), atMost[1])
	require.Greater(t, sum, 9e15)
}

func TestCountingDoesNotAllocate(t *testing.T) {
	var n Node
	var p Proxy
	require.Zero(t, testing.AllocsPerRun(100, func() {
		n.Events[3].Inc()
		p.Commands[17].Inc()
		p.Clients.Add(1)
		p.BatchLatency.ObserveDuration(time.Millisecond)
	}))
}
