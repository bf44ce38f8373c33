package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// What decodes means the same when it is encoded and decoded again.

func FuzzDecodeOp(f *testing.F) {
	f.Add(AppendOp(nil, &Op{ID: 1, Kind: Execute, Except: AllOthers, Slot: 9, Req: command.Request{Op: command.OpSet, Args: [][]byte{nil, []byte("k"), []byte("v")}}}))
	f.Add(AppendOp(nil, &Op{ID: 1 << 60, Kind: ReadVersion, Req: command.Request{Args: [][]byte{nil, []byte("k")}}}))
	f.Add(AppendOp(nil, &Op{Kind: ReadValue, Slot: 65535, Req: command.Request{Op: 300, RESP3: true, Args: [][]byte{nil}}}))
	f.Add([]byte{2, 0, 0, 0, 1, 0, 255, 255, 255, 255, 15}) // arguments that are not there
	f.Add([]byte{3, 0, 0, 0, 1, 0, 0})                      // no such kind
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		var op Op
		DecodeOp(&d, &op)
		// What append grows by is rounded up to a size that the allocator has.
		require.LessOrEqual(t, cap(op.Req.Args), 3*len(body)+8, "no memory for what is only declared")
		if d.Err() != nil {
			return
		}
		require.LessOrEqual(t, op.Kind, Execute)
		again := wire.NewDecoder(AppendOp(nil, &op))
		var same Op
		DecodeOp(&again, &same)
		require.NoError(t, again.Done())
		require.Equal(t, op, same)
	})
}

func FuzzDecodeResult(f *testing.F) {
	for status := range Status(statusesNumber + 1) {
		f.Add(AppendResult(nil, &Result{ID: 3, Status: status, Reason: 2, Hint: 1, Reply: []byte(":1\r\n")}))
	}
	f.Add([]byte{byte(StatusNotDone), 1, 2, 0x81, 0x80, 4}) // member 65537
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		var r Result
		DecodeResult(&d, &r)
		if d.Err() != nil {
			return
		}
		again := wire.NewDecoder(AppendResult(nil, &r))
		var same Result
		DecodeResult(&again, &same)
		require.NoError(t, again.Done())
		require.Equal(t, r, same)
	})
}

func FuzzReplyPiece(f *testing.F) {
	f.Add(AppendReplyPiece(nil, &ReplyPiece{ID: 1 << 40, Size: 10, Offset: 7, Bytes: []byte("abc")}))
	f.Add(AppendReplyPiece(nil, &ReplyPiece{ID: 1, Size: 2, Offset: 1, Bytes: []byte("abc")})) // more than there is room for
	f.Add(AppendReplyPiece(nil, &ReplyPiece{ID: 1, Size: MaxReply + 1}))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := DecodeReplyPiece(body)
		if err != nil {
			return
		}
		require.LessOrEqual(t, p.Offset+len(p.Bytes), p.Size)
		same, err := DecodeReplyPiece(AppendReplyPiece(nil, &p))
		require.NoError(t, err)
		require.Equal(t, p, same)
	})
}

// FuzzScanPage: a page that passes for an answer leads on: behind the place that was
// asked for, to the end at the latest.
func FuzzScanPage(f *testing.F) {
	entry := ScanEntry{Place: NewPlace(1, 2), Key: []byte("k"), Type: record.String}
	for _, next := range []Place{EndPlace, EndPlace + 1, 0, 1, entry.Place, entry.Place + 1} {
		f.Add(AppendScanPage(nil, &ScanPage{Next: next}), uint64(0), 1)
		f.Add(AppendScanPage(nil, &ScanPage{Next: next, Entries: []ScanEntry{entry, entry}}), uint64(entry.Place), 1)
	}
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 15}, uint64(1<<63), -1)
	f.Fuzz(func(t *testing.T, body []byte, from uint64, limit int) {
		page, err := DecodeScanPage(body)
		require.LessOrEqual(t, cap(page.Entries), len(body)/20, "no memory for what is only declared")
		if err != nil {
			require.ErrorIs(t, err, wire.ErrMalformed)
			return
		}
		same, err := DecodeScanPage(AppendScanPage(nil, &page))
		require.NoError(t, err)
		require.Equal(t, page, same)

		request := ScanRequest{From: Place(from), Limit: limit}
		if err := page.Check(request); err != nil {
			require.ErrorIs(t, err, wire.ErrMalformed)
			return
		}
		require.LessOrEqual(t, page.Next, EndPlace)
		require.True(t, page.Next > request.From || page.Next == EndPlace)
		for _, e := range page.Entries {
			require.True(t, request.From <= e.Place && e.Place < page.Next)
		}
	})
}

// FuzzCall takes requests and replies of calls apart, and what they carry.
func FuzzCall(f *testing.F) {
	f.Add([]byte{1, byte(MethodScan), 0})
	f.Add(append([]byte{1, byte(MethodScan)}, AppendScanRequest(nil, ScanRequest{From: EndPlace, Limit: 10})...))
	f.Add(AppendSlotCounts(nil, []SlotCount{{Slot: 1, Live: 2, Digest: 3}}, []uint16{4}))
	f.Add(AppendListPage(nil, &ListPage{ScanPage: ScanPage{Entries: []ScanEntry{{Place: 1, Key: []byte("k")}}, Next: 2}, Unsure: true}))
	f.Add([]byte{1, 1, 'n', 'o'})
	f.Add([]byte{1, 0, 'y'})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		id, method, payload, err := DecodeCall(body)
		if err == nil {
			again := append(append(wire.AppendUvarint(nil, id), byte(method)), payload...)
			sameID, sameMethod, samePayload, err := DecodeCall(again)
			require.NoError(t, err)
			require.Equal(t, []any{id, method, payload}, []any{sameID, sameMethod, samePayload})
		}
		if request, err := DecodeScanRequest(payload); err == nil {
			require.GreaterOrEqual(t, request.Limit, 0)
			same, err := DecodeScanRequest(AppendScanRequest(nil, request))
			require.NoError(t, err)
			require.Equal(t, request, same)
		}
		if page, err := DecodeListPage(body); err == nil {
			same, err := DecodeListPage(AppendListPage(nil, &page))
			require.NoError(t, err)
			require.Equal(t, page, same)
		}
		counts, changed, err := DecodeSlotCounts(body)
		require.LessOrEqual(t, cap(counts), len(body)/11, "no memory for what is only declared")
		if err == nil {
			same, _, err := DecodeSlotCounts(AppendSlotCounts(nil, counts, changed))
			require.NoError(t, err)
			require.Equal(t, counts, same)
		}

		// A reply reaches the call that waits for it and no other, and only once.
		waits, other := make(chan callResult, 1), make(chan callResult, 1)
		c := NewCaller(nil)
		c.pending[1], c.pending[2] = waits, other
		c.HandleReply(body, nil)
		c.HandleReply(body, nil)
		require.LessOrEqual(t, len(waits)+len(other), 1)
		require.Len(t, c.pending, 2-len(waits)-len(other))
		if len(waits) == 1 {
			result := <-waits
			require.True(t, result.err == nil || result.payload == nil)
		}
	})
}

// FuzzProperties: what a stranger says of itself is refused with the name of what is
// wrong, or is understood.
func FuzzProperties(f *testing.F) {
	member := ring.Member{ID: 1, Name: "a", Peer: "h:1", Rack: "r", Weight: 1, Generation: 1 << 63}
	whole := Properties{Initial: "a=h:1", Member: &member, Replicas: 1, Ring: RingNews{1, 2, 3}, Voting: true}.Encode(wire.Hello{}).Properties
	f.Add(whole["initial"], whole["replicas"], whole["voting"], whole["member"], whole["ring"])
	f.Add("", "", "", "", "")
	f.Add("", "99999999999999999999", "TRUE", "null", "null")
	f.Add("", "-1", "", `{"id":65536}`, "1 2 3")
	f.Fuzz(func(t *testing.T, initial, replicas, voting, member, news string) {
		hello := wire.Hello{Properties: map[string]string{"initial": initial, "replicas": replicas, "voting": voting, "member": member, "ring": news}}
		p, err := DecodeProperties(hello)
		if err != nil {
			require.Regexp(t, "^(replicas|member|ring): ", err.Error())
			return
		}
		require.Equal(t, member == "", p.Member == nil)
		require.Equal(t, news == "", p.Ring.Formation == 0)
		same, err := DecodeProperties(p.Encode(hello))
		require.NoError(t, err)
		require.Equal(t, p, same)
	})
}

// FuzzRing: what is said of the ring is refused, or says the same when it is said again.
func FuzzRing(f *testing.F) {
	f.Add(RingRequest{1, 2}.Append(nil))
	f.Add(RingReply{Moved: []Address{{1, "h:1"}}, Delta: []byte("delta")}.Append(nil))
	f.Add(AppendRingNews(nil, RingNews{1, 2, 3}))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := DecodeRingRequest(body); err == nil {
			again, err := DecodeRingRequest(r.Append(nil))
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if r, err := DecodeRingReply(body); err == nil {
			again, err := DecodeRingReply(r.Append(nil))
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
		if n, err := DecodeRingNews(body); err == nil {
			require.Equal(t, body, AppendRingNews(nil, n))
		}
	})
}
