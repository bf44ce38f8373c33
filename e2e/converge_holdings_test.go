//go:build unix

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/record"
)

var operator = &http.Client{Timeout: time.Minute, Transport: cluster.AdminTransport}

// adminGet asks the admin API of a process and hands on the answer while it arrives.
func adminGet(t testing.TB, m *cluster.Member, path string, read func(io.Reader) error) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.AdminURL()+path, nil)
	require.NoError(t, err)
	request.Header.Set("X-Quoll", "1")
	request.Header.Set("Authorization", "Bearer "+cluster.Secret)
	response, err := operator.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s: %s", path, response.Status, strings.TrimSpace(string(text)))
	}
	return read(response.Body)
}

// held is what a node holds of a key.
type held struct {
	version  record.Version
	kind     record.Type
	expireAt int64
	value    string
}

// holdings returns everything that a node holds, by key.
func holdings(t testing.TB, m *cluster.Member) (map[string]held, error) {
	t.Helper()
	all := map[string]held{}
	err := adminGet(t, m, "/v1/backup", func(body io.Reader) error {
		in, err := backup.NewReader(bufio.NewReader(body))
		if err != nil {
			return err
		}
		for {
			chunk, err := in.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			for _, e := range chunk.Records {
				all[string(e.Key)] = held{e.Version, e.State.Type, e.State.ExpireAt, string(e.State.Value)}
			}
		}
	})
	return all, err
}

// compareHoldings compares what nodes hold. It returns how many keys that are, or else what differs.
func compareHoldings(t testing.TB, nodes []*cluster.Member) (keys int, difference string) {
	t.Helper()
	var first map[string]held
	for i, m := range nodes {
		all, err := holdings(t, m)
		if err != nil {
			return 0, m.Name + ": " + err.Error()
		}
		if i == 0 {
			first = all
		} else if difference := differences(first, all); difference != "" {
			return 0, nodes[0].Name + " and " + m.Name + ": " + difference
		}
	}
	return len(first), ""
}

// differences tells how many keys differ, and what is held of a few of them.
func differences(one, other map[string]held) string {
	var some strings.Builder
	n := 0
	differs := func(key string) {
		if n++; n <= 5 {
			fmt.Fprintf(&some, "\n%s: %+v and %+v", key, one[key], other[key])
		}
	}
	for key, h := range one {
		if there, ok := other[key]; !ok || there != h {
			differs(key)
		}
	}
	for key := range other {
		if _, ok := one[key]; !ok {
			differs(key)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n, " keys differ, such as", some.String())
}

// nodeGauges are metrics by node and name. A node that does not answer has none.
type nodeGauges map[string]map[string]float64

// gauges reads the metrics of nodes.
func gauges(t testing.TB, nodes []*cluster.Member) nodeGauges {
	t.Helper()
	all := nodeGauges{}
	for _, m := range nodes {
		all[m.Node], _ = metricsOf(t, m) // what is missing is missing
	}
	return all
}

// metricsOf returns a process' metrics, added up over their labels, without the prefix that a node's have.
func metricsOf(t testing.TB, m *cluster.Member) (map[string]float64, error) {
	t.Helper()
	values := map[string]float64{}
	err := adminGet(t, m, "/metrics", func(body io.Reader) error {
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "#") {
				continue
			}
			at := strings.LastIndexByte(lines.Text(), ' ')
			name, _, _ := strings.Cut(lines.Text()[:max(at, 0)], "{")
			value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
			if err != nil {
				return err
			}
			values[strings.TrimPrefix(name, "quoll_node_")] += value
		}
		return lines.Err()
	})
	return values, err
}

// metricsPage is the page of a process' metrics, with their labels.
func metricsPage(t testing.TB, m *cluster.Member) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, adminGet(t, m, "/metrics", func(body io.Reader) error {
		_, err := io.Copy(&text, body)
		return err
	}))
	return text.String()
}

// difference compares how much nodes hold, which costs next to nothing.
func (g nodeGauges) difference() (what string, same bool) {
	keys := map[float64]bool{}
	tombstones := 0.0
	for node, values := range g {
		if values["voting"] != 1 {
			return node + " does not vote, or does not answer", false
		}
		keys[values["keys"]] = true
		tombstones += values["tombstones"]
	}
	switch {
	case len(keys) > 1:
		return "the numbers of keys differ", false
	case tombstones > 0:
		return fmt.Sprintf("%.0f deletions are remembered", tombstones), false
	}
	return "", true
}

// String tells what matters here.
func (g nodeGauges) String() string {
	var all []string
	for node, values := range g {
		all = append(all, fmt.Sprintf("%s: %.0f keys, %.0f deletions", node, values["keys"], values["tombstones"]))
	}
	return strings.Join(all, "; ")
}
