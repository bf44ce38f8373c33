package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

func drawCopyPage(t *rapid.T) CopyPage {
	version := func(label string) record.Version {
		return record.Version{Ballot: record.Ballot{Counter: rapid.Uint64().Draw(t, label), Incarnation: rapid.Uint64().Draw(t, label)}, Seq: rapid.Uint64().Draw(t, label)}
	}
	page := CopyPage{Next: rapid.Uint64().Draw(t, "next"), Floor: version("floor"), Cleared: version("cleared"), Entries: []CopyEntry{}}
	for range rapid.IntRange(0, 5).Draw(t, "entries") {
		page.Entries = append(page.Entries, CopyEntry{Key: rapid.SliceOf(rapid.Byte()).Draw(t, "key"), Record: record.Record{Version: version("version"),
			State: record.State{Type: record.Type(rapid.ByteMax(254).Draw(t, "type")), ExpireAt: rapid.Int64().Draw(t, "expiry"), Value: rapid.SliceOf(rapid.Byte()).Draw(t, "value")}}})
	}
	return page
}

func TestCopiesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := CopyRequest{Slot: rapid.Uint16().Draw(t, "slot"), Epoch: rapid.Uint64().Draw(t, "epoch"), From: rapid.Uint64().Draw(t, "from"),
			Ballot: record.Ballot{Counter: rapid.Uint64().Draw(t, "counter"), Incarnation: rapid.Uint64().Draw(t, "incarnation")}, Limit: rapid.IntRange(0, 1<<20).Draw(t, "limit")}
		again, err := DecodeCopyRequest(AppendCopyRequest(nil, request))
		require.NoError(t, err)
		require.Equal(t, request, again)

		page := drawCopyPage(t)
		decoded, err := DecodeCopyPage(AppendCopyPage(nil, &page, nil), nil)
		require.NoError(t, err)
		require.Equal(t, page, decoded)
	})
}

// FuzzCopies takes requests for copies, and copies, apart.
func FuzzCopies(f *testing.F) {
	f.Add(AppendCopyRequest(nil, CopyRequest{Slot: 1, Limit: 2}))
	f.Add(AppendCopyPage(nil, &CopyPage{Next: 3, Entries: []CopyEntry{{Key: []byte("k"), Record: record.Record{State: record.State{Value: []byte("v")}}}}}, nil))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := DecodeCopyRequest(body); err == nil {
			again, err := DecodeCopyRequest(AppendCopyRequest(nil, r))
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if page, err := DecodeCopyPage(body, nil); err == nil {
			again, err := DecodeCopyPage(AppendCopyPage(nil, &page, nil), nil)
			require.NoError(t, err)
			require.Equal(t, page, again)
		}
	})
}
