//go:build unix

package cluster

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// Secret is that of clusters with Config.Faults.
const Secret = "sesame"

// Rule says what happens to what a process sends to some of its peers, as the admin
// API of builds with the tag faults takes it. The first rule that matches a peer counts.
type Rule struct {
	// Peer is the name of a node or proxy, or "*". Role is "node", "proxy", or empty for both.
	Peer string `json:"peer"`
	Role string `json:"role,omitempty"`
	// Cut loses everything.
	Cut bool `json:"cut,omitempty"`
	// Delay and Jitter are durations as Go writes them.
	Delay  string `json:"delay,omitempty"`
	Jitter string `json:"jitter,omitempty"`
	// Drop, Duplicate and Reorder are probabilities, of each frame. The last two
	// concern only replication between nodes.
	Drop      float64 `json:"drop,omitempty"`
	Duplicate float64 `json:"duplicate,omitempty"`
	Reorder   float64 `json:"reorder,omitempty"`
}

// Injected counts frames that rules touched.
type Injected struct {
	// Cut frames were lost by rules that cut, Dropped ones by others.
	Cut, Dropped, Duplicated, Reordered, Delayed int
}

// SetFaults replaces the rules of what a process sends. The seed decides about what
// is random. The process must run.
func (c *Cluster) SetFaults(at *Member, seed uint64, rules ...Rule) {
	c.t.Helper()
	if len(at.rules) > 0 {
		c.injected.Add(at.injected())
	}
	body, err := json.Marshal(map[string]any{"seed": seed, "clock": at.clock.String(), "rules": append([]Rule{}, rules...)})
	require.NoError(c.t, err)
	at.ask(http.MethodPut, "/v1/faults", body, nil)
	at.rules = slices.Clone(rules)
}

// Cut loses what one process sends to another one, in addition to the rules that
// there are.
func (c *Cluster) Cut(from, to *Member) {
	c.t.Helper()
	c.SetFaults(from, 0, append([]Rule{CutTo(to)}, from.rules...)...)
}

// Clock sets the wall clock of a node ahead by d, or behind if that is negative; 0 sets it right. Its rules stay as they are.
func (c *Cluster) Clock(at *Member, d time.Duration) {
	c.t.Helper()
	at.clock = d
	c.SetFaults(at, 0, at.rules...)
}

// CutTo is the rule that loses what is sent to a process.
func CutTo(to *Member) Rule {
	name, role := to.peerName()
	return Rule{Peer: name, Role: role, Cut: true}
}

// Heal removes all rules, and sets clocks right. The processes that this concerns must run.
func (c *Cluster) Heal() {
	c.t.Helper()
	for _, m := range c.members() {
		if len(m.rules) > 0 || m.clock != 0 {
			m.clock = 0
			c.SetFaults(m, 0)
		}
	}
}

// Injected returns what all rules did so far. What those of a process did that was
// killed is lost, unless by Cluster.Kill.
func (c *Cluster) Injected() Injected {
	c.t.Helper()
	sum := c.injected
	for _, m := range c.members() {
		if len(m.rules) > 0 {
			sum.Add(m.injected())
		}
	}
	return sum
}

// Add adds other counts.
func (i *Injected) Add(other Injected) {
	i.Cut += other.Cut
	i.Dropped += other.Dropped
	i.Duplicated += other.Duplicated
	i.Reordered += other.Reordered
	i.Delayed += other.Delayed
}

// injected asks a process what its rules did.
func (m *Member) injected() (sum Injected) {
	m.t.Helper()
	var answer struct {
		Rules []struct {
			Cut      bool
			Counters struct{ Dropped, Duplicated, Reordered, Delayed int }
		}
	}
	m.ask(http.MethodGet, "/v1/faults", nil, &answer)
	for _, r := range answer.Rules {
		lost := Injected{Dropped: r.Counters.Dropped}
		if r.Cut {
			lost = Injected{Cut: r.Counters.Dropped}
		}
		sum.Add(lost)
		sum.Add(Injected{Duplicated: r.Counters.Duplicated, Reordered: r.Counters.Reordered, Delayed: r.Counters.Delayed})
	}
	return sum
}

// peerName is how a process calls itself in the peer protocol.
func (m *Member) peerName() (name, role string) {
	if m.Node != "" {
		return m.Node, "node"
	}
	return "proxy " + m.Client, "proxy"
}

// Holding is what a node holds of a key.
type Holding struct {
	Node    string
	Error   string
	Home    bool
	Present bool
	Version string
}

// Locate asks a process of a cluster with Config.Faults where a key lives.
func (m *Member) Locate(key string) (home string, replicas []Holding) {
	m.t.Helper()
	var answer struct {
		Home     string
		Replicas []Holding
	}
	m.ask(http.MethodGet, "/v1/locate?key="+url.QueryEscape(key), nil, &answer)
	return answer.Home, answer.Replicas
}

// ask asks the admin API. The test fails if it does not answer with 200.
func (m *Member) ask(method, path string, body []byte, into any) {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), method, m.AdminURL()+path, bytes.NewReader(body))
	require.NoError(m.t, err)
	request.Header.Set("Authorization", "Bearer "+Secret)
	response, err := admin.Do(request)
	require.NoError(m.t, err, "%s: %s %s", m.Name, method, path)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(m.t, err)
	require.Equal(m.t, http.StatusOK, response.StatusCode, "%s: %s %s %s: %s", m.Name, method, path, body, strings.TrimSpace(string(text)))
	if into != nil {
		require.NoError(m.t, json.Unmarshal(text, into), "%s: %s", m.Name, text)
	}
}
