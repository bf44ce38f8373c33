package metrics

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"
)

func scrape(t *testing.T, r *Registry) string {
	answer := httptest.NewRecorder()
	r.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

func number(n uint64) func() uint64 { return func() uint64 { return n } }

// testProxy is a proxy with another number in every place.
func testProxy() Proxy {
	return Proxy{
		Clients:  func() int64 { return 1 },
		Accepted: number(2), Rejected: number(3), SlowReaders: number(4), OutputExceeded: number(28), ProtocolErrors: number(5), Panics: number(6), Evicted: number(27), TurnedOut: number(29),
		HandshakesFailed: number(32), HandshakesStalled: number(30),
		WrongPasswords: number(25), ThrottledPasswords: number(26),
		Commands: func(emit func(string, uint64, uint64)) {
			emit("get", 7, 1)
			emit("set", 0, 0)
		},
		Errors:      func() map[string]uint64 { return map[string]uint64{"UNKNOWN": 8} },
		QuorumReads: number(9), HomeReads: number(10), NearestReads: number(99), Retries: number(11), Slow: number(25),
		BatchSize: func() Distribution { return Distribution{2, 17, map[float64]uint64{1: 1, 16: 2}} },
		BatchTime: func() Distribution { return Distribution{1, 300, map[float64]uint64{256: 0, 512: 1}} },
		BytesOut:  number(12),
		OwnRack:   func() (sent, received uint64) { return 33, 34 }, OtherRacks: func() (sent, received uint64) { return 35, 36 },
		Links: func() []Link { return []Link{{"a", true}, {"b", false}} },
	}
}

// everything is one process with nodes and a proxy, as `quoll dev` is.
func everything() (*Registry, *Node) {
	r, n := New("v1.2.3", "abc"), new(Node)
	n.Register(r, "a", []string{"term_acquired", "stepped_down"}, func() NodeState {
		return NodeState{Keys: 7, Tombstones: 2, Bytes: 99, SlotsLed: 5461, GossipAlive: 3, Voting: true,
			FailedSlots: 12, Full: true, RingVotes: true, Disk: Disk{Bytes: 13, Live: 14, Dead: 15, Journal: 16, Free: 17},
			RepairKeys: 18, RepairBytes: 19, RepairFailed: 20, RepairListed: 24, Repair: []PeerRepair{{"b", 21, time.UnixMilli(22_500), time.UnixMilli(21_250), 23}, {Peer: "c"}}}
	})
	new(Node).Register(r, "b", nil, func() NodeState { return NodeState{} })
	testProxy().Register(r)
	r.RegisterCertificates(func() []Certificate {
		return []Certificate{{"peer", time.Unix(31, 0), false}, {"peer_ca", time.Unix(32, 0), true}}
	})
	return r, n
}

func TestScrapeShowsWhatWasCounted(t *testing.T) {
	r, n := everything()
	n.Writes.Inc()
	n.RefusedBallot.Add(3)
	n.Events[1].Add(4)
	n.BytesIn.Add(1 << 40)
	n.OwnRack.Sent.Add(37)
	n.OtherRacks.Received.Add(38)

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
		`quoll_node_failed_slots{node="a"} 12`,
		`quoll_node_full{node="a"} 1`,
		`quoll_node_ring_votes{node="a"} 1`,
		`quoll_node_ring_leads{node="a"} 0`,
		`quoll_node_full{node="b"} 0`,
		`quoll_node_disk_bytes{node="a"} 13`,
		`quoll_node_disk_live_bytes{node="a"} 14`,
		`quoll_node_disk_dead_bytes{node="a"} 15`,
		`quoll_node_journal_bytes{node="a"} 16`,
		`quoll_node_disk_free_bytes{node="a"} 17`,
		`quoll_node_repair_keys_total{node="a"} 18`,
		`quoll_node_repair_bytes_total{node="a"} 19`,
		`quoll_node_repair_failed_total{node="a"} 20`,
		`quoll_node_repair_listed_total{node="a"} 24`,
		`quoll_node_repair_slots_differing{node="a",peer="b"} 21`,
		`quoll_node_hints{node="a",peer="b"} 23`,
		`quoll_node_repair_slots_differing{node="a",peer="c"} 0`,
		`quoll_node_repair_last_pass_timestamp_seconds{node="a",peer="b"} 22.5`,
		`quoll_node_peer_complete_timestamp_seconds{node="a",peer="b"} 21.25`,
		`quoll_proxy_connected_clients 1`,
		`quoll_proxy_connections_total 2`,
		`quoll_proxy_rejected_connections_total 3`,
		`quoll_proxy_closed_connections_total{reason="slow_reader"} 4`,
		`quoll_proxy_closed_connections_total{reason="output_limit"} 28`,
		`quoll_proxy_closed_connections_total{reason="protocol_error"} 5`,
		`quoll_proxy_closed_connections_total{reason="panic"} 6`,
		`quoll_proxy_closed_connections_total{reason="memory"} 27`,
		`quoll_proxy_closed_connections_total{reason="login"} 29`,
		`quoll_proxy_failed_tls_handshakes_total 32`,
		`quoll_proxy_stalled_tls_handshakes_total 30`,
		`quoll_certificate_expiry_timestamp_seconds{use="peer"} 31`,
		`quoll_certificate_file_failed{use="peer"} 0`,
		`quoll_certificate_file_failed{use="peer_ca"} 1`,
		`quoll_proxy_refused_passwords_total{reason="wrong"} 25`,
		`quoll_proxy_refused_passwords_total{reason="too_many"} 26`,
		`quoll_proxy_commands_total{command="get"} 7`,
		`quoll_proxy_failed_commands_total{command="get"} 1`,
		`quoll_proxy_error_replies_total{word="UNKNOWN"} 8`,
		`quoll_proxy_reads_total{by="quorum"} 9`,
		`quoll_proxy_reads_total{by="home"} 10`,
		`quoll_proxy_reads_total{by="nearest"} 99`,
		`quoll_proxy_retries_total 11`,
		`quoll_proxy_batch_operations_bucket{le="1"} 1`,
		`quoll_proxy_batch_operations_bucket{le="16"} 2`,
		`quoll_proxy_batch_operations_sum 17`,
		`quoll_proxy_batch_duration_seconds_bucket{le="0.000256"} 0`,
		`quoll_proxy_batch_duration_seconds_bucket{le="0.000512"} 1`,
		`quoll_proxy_batch_duration_seconds_count 1`,
		`quoll_proxy_sent_bytes_total 12`,
		`quoll_proxy_rack_sent_bytes_total{rack="own"} 33`,
		`quoll_proxy_rack_received_bytes_total{rack="own"} 34`,
		`quoll_proxy_rack_sent_bytes_total{rack="other"} 35`,
		`quoll_proxy_rack_received_bytes_total{rack="other"} 36`,
		`quoll_node_rack_sent_bytes_total{node="a",rack="own"} 37`,
		`quoll_node_rack_sent_bytes_total{node="a",rack="other"} 0`,
		`quoll_node_rack_received_bytes_total{node="a",rack="other"} 38`,
		`quoll_proxy_link_up{node="a"} 1`,
		`quoll_proxy_link_up{node="b"} 0`,
	} {
		require.Contains(t, lines, want)
	}
	text := strings.Join(lines, "\n")
	require.NotContains(t, text, `command="set"`, "nobody used it")
	require.Contains(t, text, `quoll_build_info{commit="abc",goversion="go`)
	require.Contains(t, text, "go_goroutines")
}

func TestNamesFollowTheConventions(t *testing.T) {
	r, _ := everything()
	problems, err := promlint.New(strings.NewReader(scrape(t, r))).Lint()
	require.NoError(t, err)
	for _, problem := range problems {
		require.False(t, strings.HasPrefix(problem.Metric, "quoll_"), "%s: %s", problem.Metric, problem.Text)
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	var n Node
	require.Zero(t, testing.AllocsPerRun(100, func() { n.Events[3].Inc() }))
}
