package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

func drawVersion(t *rapid.T, name string) record.Version {
	return record.Version{Ballot: drawBallot(t, name), Seq: rapid.Uint64().Draw(t, name+" seq")}
}

func drawBallot(t *rapid.T, name string) record.Ballot {
	return record.Ballot{Counter: rapid.Uint64().Draw(t, name+" counter"), Incarnation: rapid.Uint64().Draw(t, name+" incarnation")}
}

func drawKeys(t *rapid.T) [][]byte {
	keys := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 5).Draw(t, "keys")
	for i := range keys {
		if keys[i] == nil {
			keys[i] = []byte{}
		}
	}
	return append([][]byte{}, keys...)
}

func TestWhatIsCollectedTravels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := ShowRequest{Slot: rapid.Uint16().Draw(t, "slot"), Epoch: rapid.Uint64().Draw(t, "epoch"), From: rapid.Uint64().Draw(t, "from"),
			Limit: rapid.IntRange(0, 1<<31-1).Draw(t, "limit")}
		again, err := DecodeShowRequest(AppendShowRequest(nil, request))
		require.NoError(t, err)
		require.Equal(t, request, again)

		page := ShowPage{Next: rapid.Uint64().Draw(t, "next"), Entries: []ShowEntry{}, Meta: record.SlotMeta{Promised: drawBallot(t, "promised"),
			Floor: drawVersion(t, "floor"), Cleared: drawVersion(t, "cleared"), Unsure: rapid.Bool().Draw(t, "unsure")}}
		for _, key := range drawKeys(t) {
			page.Entries = append(page.Entries, ShowEntry{Key: key, Version: drawVersion(t, "version")})
		}
		decoded, err := DecodeShowPage(AppendShowPage(nil, &page))
		require.NoError(t, err)
		require.Equal(t, page, decoded)

		keys := KeysRequest{Slot: request.Slot, Epoch: request.Epoch, Keys: drawKeys(t)}
		same, err := DecodeKeysRequest(AppendKeysRequest(nil, keys))
		require.NoError(t, err)
		require.Equal(t, keys, same)

		reply := AgainReply{Done: append([]bool{true}, rapid.SliceOf(rapid.Bool()).Draw(t, "done")...), Bytes: rapid.Uint64().Draw(t, "bytes"), Leader: request.Slot}
		heard, err := DecodeAgainReply(AppendAgainReply(nil, reply), len(reply.Done))
		require.NoError(t, err)
		require.Equal(t, reply, heard)
		_, err = DecodeAgainReply(AppendAgainReply(nil, reply), len(reply.Done)+1)
		require.Error(t, err)
	})
}

func FuzzShow(f *testing.F) {
	f.Add(AppendShowRequest(nil, ShowRequest{Slot: 1, Limit: 2}))
	f.Add(AppendShowPage(nil, &ShowPage{Next: 3, Entries: []ShowEntry{{Key: []byte("k")}}}))
	f.Add(AppendKeysRequest(nil, KeysRequest{Keys: [][]byte{[]byte("k")}}))
	f.Add(AppendAgainReply(nil, AgainReply{Done: []bool{true}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := DecodeShowRequest(body); err == nil {
			again, err := DecodeShowRequest(AppendShowRequest(nil, r))
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if p, err := DecodeShowPage(body); err == nil {
			again, err := DecodeShowPage(AppendShowPage(nil, &p))
			require.NoError(t, err)
			require.Equal(t, p, again)
		}
		if r, err := DecodeKeysRequest(body); err == nil {
			again, err := DecodeKeysRequest(AppendKeysRequest(nil, r))
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if r, err := DecodeAgainReply(body, 1); err == nil {
			again, err := DecodeAgainReply(AppendAgainReply(nil, r), 1)
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
	})
}
