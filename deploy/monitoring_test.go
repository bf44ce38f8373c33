package deploy

import (
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/node/register"
)

// shown is what a process with a node and a proxy shows when everything has happened once: by name of a time
// series, the values that each of its labels takes.
func shown(t *testing.T) map[string]map[string][]string {
	zero := func() uint64 { return 0 }
	nothing := func() (sent, received uint64) { return 0, 0 }
	none := func() metrics.Distribution { return metrics.Distribution{UpTo: map[float64]uint64{1: 0}} }
	r := metrics.New("v1.2.3", "abc")
	new(metrics.Node).Register(r, "a", register.EventNames(), func() metrics.NodeState {
		return metrics.NodeState{Repair: []metrics.PeerRepair{{Peer: "b", LastPass: time.Unix(1, 0), Complete: time.Unix(1, 0)}}}
	})
	metrics.Proxy{
		Clients:  func() int64 { return 0 },
		Accepted: zero, Rejected: zero, SlowReaders: zero, OutputExceeded: zero, ProtocolErrors: zero, Panics: zero, Evicted: zero, TurnedOut: zero, WrongPasswords: zero, ThrottledPasswords: zero, HandshakesFailed: zero, HandshakesStalled: zero,
		Commands:    func(emit func(string, uint64, uint64)) { emit("get", 1, 1) },
		Errors:      func() map[string]uint64 { return map[string]uint64{"CLUSTERDOWN": 1, "UNKNOWN": 1} },
		QuorumReads: zero, HomeReads: zero, NearestReads: zero, Retries: zero, Slow: zero,
		BatchSize: none, BatchTime: none, BytesOut: zero,
		OwnRack: nothing, OtherRacks: nothing,
		Links: func() []metrics.Link { return []metrics.Link{{Node: "a"}} },
	}.Register(r)
	r.RegisterCertificates(func() []metrics.Certificate { return []metrics.Certificate{{Use: "peer"}} })
	answer := httptest.NewRecorder()
	r.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)

	// Prometheus adds job and instance, and up.
	series := map[string]map[string][]string{"up": {}}
	for _, line := range regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? `).FindAllStringSubmatch(string(body), -1) {
		if series[line[1]] == nil {
			series[line[1]] = map[string][]string{}
		}
		for _, label := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(line[2], -1) {
			series[line[1]][label[1]] = append(series[line[1]][label[1]], label[2])
		}
	}
	return series
}

// expressions are those of the alert rules and of the dashboards, with the file they are from.
func expressions(t *testing.T) map[string]string {
	from := map[string]string{}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				For         string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile("monitoring/alerts.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &rules))
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			require.NotEmpty(t, rule.Alert)
			require.NotEmpty(t, rule.Expr, rule.Alert)
			require.Contains(t, []string{"critical", "warning"}, rule.Labels["severity"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			from[rule.Expr] = "alerts.yml: " + rule.Alert
		}
	}
	require.NotEmpty(t, from)
	err = filepath.WalkDir("monitoring/grafana/dashboards", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			dashboard(t, name, from)
		}
		return err
	})
	require.NoError(t, err)
	return from
}

func dashboard(t *testing.T, name string, from map[string]string) {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var board struct {
		UID, Title string
		Panels     []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &board), name)
	require.NotEmpty(t, board.UID)
	seen := map[int]bool{}
	for _, panel := range board.Panels {
		require.False(t, seen[panel.ID], "panel %d twice", panel.ID)
		seen[panel.ID] = true
		require.Equal(t, panel.Type != "row", len(panel.Targets) > 0, panel.Title)
		for _, target := range panel.Targets {
			from[target.Expr] = name + ": " + panel.Title
		}
	}
	require.NotEmpty(t, seen)
}

var (
	// selector is a metric's name with what it is narrowed to.
	selector = regexp.MustCompile(`\b((?:quoll|process|go)_\w+|up)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
)

// TestEveryMetricExists: an alert on a metric that was renamed never fires.
func TestEveryMetricExists(t *testing.T) {
	series := shown(t)
	for expression, place := range expressions(t) {
		found := selector.FindAllStringSubmatch(expression, -1)
		require.NotEmpty(t, found, "%s names no metric: %s", place, expression)
		for _, s := range found {
			labels, exists := series[s[1]]
			require.True(t, exists, "%s names %s, which neither node nor proxy has", place, s[1])
			for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
				if m[1] == "job" || m[1] == "instance" {
					continue
				}
				require.Equal(t, "=", m[2], "%s: compared in a way that this test does not know", place)
				require.Contains(t, labels[m[1]], m[3], "%s: %s has no such %s", place, s[1], m[1])
			}
		}
	}
}

// TestWhatIsWorthAnAlertIsWatched: every metric of the table in docs/operations.md is in a rule or on a dashboard.
func TestWhatIsWorthAnAlertIsWatched(t *testing.T) {
	text, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "Metrics worth an alert:")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\nMemory")
	named := regexp.MustCompile("`(quoll_\\w+)").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(named), 10)
	var all []string
	for expression := range expressions(t) {
		all = append(all, expression)
	}
	slices.Sort(all)
	for _, name := range named {
		require.Contains(t, strings.Join(all, "\n"), name[1])
	}
}
