package protocol

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

var versions = rapid.Custom(func(t *rapid.T) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: rapid.Uint64().Draw(t, "counter"), Incarnation: rapid.Uint64().Draw(t, "incarnation")},
		Seq: rapid.Uint64().Draw(t, "seq")}
})

// bytes never yields nil: what is decoded is a view.
var bytes = rapid.SliceOfN(rapid.Byte(), 0, 300)

var ops = rapid.Custom(func(t *rapid.T) Op {
	op := Op{ID: rapid.Uint64().Draw(t, "id"), Kind: OpKind(rapid.IntRange(0, 2).Draw(t, "kind")), Except: rapid.Uint16().Draw(t, "except"),
		Slot: rapid.Uint16().Draw(t, "slot"), Req: command.Request{RESP3: rapid.Bool().Draw(t, "resp3"), Versioned: rapid.Bool().Draw(t, "versioned")}}
	if op.Kind == ReadVersion {
		op.Req.Args = [][]byte{nil, bytes.Draw(t, "key")}
		return op
	}
	op.Req.Op = command.Op(rapid.IntRange(0, 300).Draw(t, "op"))
	op.Req.Args = append([][]byte{nil}, rapid.SliceOfN(bytes, 0, 5).Draw(t, "args")...)
	if c := command.ByOp(op.Req.Op); c != nil {
		op.Req.Args[0] = []byte(c.Name)
	}
	return op
})

func TestOpsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(ops, 0, 5).Draw(t, "ops")
		epoch := rapid.Uint64().Draw(t, "epoch")
		body := AppendVersion(nil, epoch)
		for i := range want {
			body = AppendOp(body, &want[i])
		}
		d := wire.NewDecoder(body)
		require.Equal(t, epoch, d.Uvarint())
		var op Op // reused, as a node does it
		for i := range want {
			DecodeOp(&d, &op)
			require.NoError(t, d.Err())
			require.Equal(t, want[i], op)
		}
		require.NoError(t, d.Done())
	})
}

func TestKeyOfAnOp(t *testing.T) {
	require.Nil(t, (&Op{}).Key())
	require.Equal(t, []byte("k"), (&Op{Req: command.Request{Args: [][]byte{nil, []byte("k")}}}).Key())
}

var results = rapid.Custom(func(t *rapid.T) Result {
	r := Result{ID: rapid.Uint64().Draw(t, "id"), Status: Status(rapid.IntRange(0, statusesNumber-1).Draw(t, "status"))}
	if r.Status == StatusVersion || r.Status == StatusValue || r.Status == StatusWritten {
		r.Version = versions.Draw(t, "version")
	}
	switch r.Status {
	case StatusValue, StatusDone, StatusWritten:
		r.Reply = bytes.Draw(t, "reply")
	case StatusNotDone, StatusUnknown, StatusAskHome:
		r.Reason, r.Hint = answer.Reason(rapid.Uint8().Draw(t, "reason")), rapid.Uint16().Draw(t, "hint")
	}
	return r
})

func TestResultsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(results, 0, 5).Draw(t, "results")
		var body []byte
		for i := range want {
			if r := &want[i]; r.Status == StatusValue && rapid.Bool().Draw(t, "in its place") {
				body = AppendResultOf(body, r, func(dst []byte) []byte { return append(dst, r.Reply...) })
				continue
			}
			body = AppendResult(body, &want[i])
		}
		d := wire.NewDecoder(body)
		for i := range want {
			var r Result
			DecodeResult(&d, &r)
			require.Equal(t, want[i], r)
		}
		require.NoError(t, d.Done())
	})
}

var places = rapid.Custom(func(t *rapid.T) Place {
	slot, position := rapid.Uint16Range(0, 16384).Draw(t, "slot"), rapid.Uint64Range(0, 1<<48-1).Draw(t, "position")
	p := NewPlace(slot, position)
	require.Equal(t, slot, p.Slot())
	require.Equal(t, position, p.Position())
	return p
})

func TestScansComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request := ScanRequest{Version: rapid.Uint64().Draw(t, "version"), From: places.Draw(t, "from"), Limit: rapid.IntRange(0, math.MaxInt32).Draw(t, "limit")}
		got, err := DecodeScanRequest(AppendScanRequest(nil, request))
		require.NoError(t, err)
		require.Equal(t, request, got)

		page := ScanPage{Next: places.Draw(t, "next"), Entries: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ScanEntry {
			return ScanEntry{Place: places.Draw(t, "place"), Key: bytes.Draw(t, "key"), Version: versions.Draw(t, "version"), Type: record.Type(rapid.Byte().Draw(t, "type"))}
		}), 0, 5).Draw(t, "entries")}
		decoded, err := DecodeScanPage(AppendScanPage(nil, &page))
		require.NoError(t, err)
		require.Equal(t, page, decoded)

		counts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) SlotCount {
			return SlotCount{Slot: rapid.Uint16().Draw(t, "slot"), Live: rapid.Uint64().Draw(t, "live"), Digest: rapid.Uint64().Draw(t, "digest")}
		}), 0, 5).Draw(t, "counts")
		changed := rapid.SliceOfN(rapid.Uint16(), 1, 5).Draw(t, "changed")
		back, moved, err := DecodeSlotCounts(AppendSlotCounts(nil, counts, changed))
		require.NoError(t, err)
		require.Equal(t, counts, back)
		require.Equal(t, changed, moved)
	})
	require.EqualValues(t, 16384, EndPlace.Slot())
}

// TestTruncatedMessagesAreErrors: no prefix of a message is a message.
func TestTruncatedMessagesAreErrors(t *testing.T) {
	page := AppendScanPage(nil, &ScanPage{Next: 7, Entries: []ScanEntry{{Key: []byte("k")}, {Key: []byte("l")}}})
	for n := range page {
		_, err := DecodeScanPage(page[:n])
		require.ErrorIs(t, err, wire.ErrMalformed, n)
	}
	op := AppendOp(nil, &Op{ID: 1 << 40, Kind: Execute, Req: command.Request{Op: command.OpSet, Args: [][]byte{nil, []byte("k"), []byte("v")}}})
	for n := range op {
		d := wire.NewDecoder(op[:n])
		DecodeOp(&d, new(Op))
		require.ErrorIs(t, d.Done(), wire.ErrMalformed, n)
	}
	result := AppendResult(nil, &Result{ID: 1 << 40, Status: StatusValue, Reply: []byte("+OK\r\n")})
	for n := range result {
		d := wire.NewDecoder(result[:n])
		DecodeResult(&d, new(Result))
		require.ErrorIs(t, d.Done(), wire.ErrMalformed, n)
	}
}

// TestANumberThatIsNoMemberIsNotCutDownToOne: 65537 is not member 1.
func TestANumberThatIsNoMemberIsNotCutDownToOne(t *testing.T) {
	d := wire.NewDecoder(wire.AppendUvarint([]byte{byte(StatusNotDone), 1, 2}, 65537))
	var r Result
	DecodeResult(&d, &r)
	require.ErrorIs(t, d.Err(), wire.ErrMalformed)
}

func TestProperties(t *testing.T) {
	member := ring.Member{ID: 2, Name: "b", Peer: "127.0.0.1:2", Rack: "r", Weight: 3, Generation: 1 << 63}
	want := Properties{Initial: "a=127.0.0.1:1,b=127.0.0.1:2", Member: &member, Replicas: 2, Voting: true, Pieces: true, State: "fine", Version: "1.2",
		Failed: true, Ring: RingNews{Formation: 1 << 63, Version: 7, Digest: 8}}
	got, err := DecodeProperties(want.Encode(wire.Hello{Name: "b"}))
	require.NoError(t, err)
	require.Equal(t, want, got)

	got, err = DecodeProperties(wire.Hello{}) // a tool says nothing
	require.NoError(t, err)
	require.Equal(t, Properties{}, got)

	for field, bad := range map[string]string{"replicas": "many", "member": "{", "ring": "0000000000000000 1 0000000000000002"} {
		_, err := DecodeProperties(wire.Hello{Properties: map[string]string{field: bad}})
		require.ErrorContains(t, err, field)
	}
}
