package route

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

// FuzzScanWithALiar: one of three nodes answers with these bytes. The iteration ends
// nevertheless, and is of the keys that are there.
func FuzzScanWithALiar(f *testing.F) {
	ring := startRing(f, 3)
	c := ring.coordinator(patient)
	all := numbered("k", 20)
	ring.hold(1, record.String, all, 1, 2, 3)
	ring.write(all)
	slices.Sort(all)
	truth := ring.nodes[0].entries
	for _, next := range []protocol.Place{0, 1, truth[3].Place, truth[3].Place + 1, protocol.EndPlace, protocol.EndPlace + 1} {
		for _, n := range []int{0, 1, 4, len(truth)} {
			f.Add(protocol.AppendScanPage(nil, &protocol.ScanPage{Next: next, Entries: truth[:n]}), 5)
		}
	}
	phantom := protocol.ScanEntry{Place: truth[5].Place, Key: []byte("phantom"), Type: record.String}
	f.Add(protocol.AppendScanPage(nil, &protocol.ScanPage{Next: protocol.EndPlace, Entries: []protocol.ScanEntry{phantom, phantom, phantom}}), 5)
	phantom.Type, phantom.Key = 77, truth[5].Key
	f.Add(protocol.AppendScanPage(nil, &protocol.ScanPage{Next: protocol.EndPlace, Entries: []protocol.ScanEntry{phantom}}), 100)
	f.Add([]byte("nonsense"), -1)
	f.Fuzz(func(t *testing.T, payload []byte, count int) {
		liar := ring.nodes[0]
		liar.mu.Lock()
		liar.forge = func(protocol.Place, []byte) []byte { return payload }
		liar.mu.Unlock()
		var keys []string
		count = max(1, count)
		for at, pages := Cursor(0), 0; ; pages++ {
			require.LessOrEqual(t, pages, len(all)+len(payload))
			entries, next, err := c.Scan(context.Background(), 0, at, count)
			require.NoError(t, err)
			for _, e := range entries {
				keys = append(keys, string(e.Key))
			}
			if next == 0 {
				break
			}
			require.Greater(t, next, at)
			at = next
		}
		slices.Sort(keys)
		require.Equal(t, all, slices.Compact(keys))
		n, err := c.DBSize(context.Background(), 0)
		require.NoError(t, err)
		require.EqualValues(t, len(all), n)
	})
}
