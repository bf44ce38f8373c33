package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// What decodes means the same when it is encoded and decoded again.

func FuzzDecodeOp(f *testing.F) {
	f.Add(AppendOp(nil, &Op{ID: 1, Kind: Execute, Force: true, Slot: 9, Req: command.Request{Op: command.OpSet, Args: [][]byte{nil, []byte("k"), []byte("v")}}}))
	f.Add(AppendOp(nil, &Op{ID: 1 << 60, Kind: ReadVersion, Req: command.Request{Args: [][]byte{nil, []byte("k")}}}))
	f.Add([]byte{2, 0, 0, 0, 1, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		var op Op
		DecodeOp(&d, &op)
		if d.Err() != nil {
			return
		}
		require.LessOrEqual(t, op.Kind, Execute)
		require.LessOrEqual(t, len(op.Req.Args), len(body)+1, "no memory for what is only declared")
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

func FuzzScanPage(f *testing.F) {
	f.Add(AppendScanPage(nil, &ScanPage{Next: EndPlace}))
	f.Add(AppendScanPage(nil, &ScanPage{Next: 1, Entries: []ScanEntry{{Place: NewPlace(1, 2), Key: []byte("k"), Type: record.String}}}))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, body []byte) {
		page, err := DecodeScanPage(body)
		require.LessOrEqual(t, cap(page.Entries), len(body), "no memory for what is only declared")
		if err != nil {
			require.ErrorIs(t, err, wire.ErrMalformed)
			return
		}
		same, err := DecodeScanPage(AppendScanPage(nil, &page))
		require.NoError(t, err)
		require.Equal(t, page, same)
	})
}

func FuzzCall(f *testing.F) {
	f.Add([]byte{1, byte(MethodScan), 0})
	f.Add(AppendSlotCounts(nil, []SlotCount{{Slot: 1, Live: 2, Digest: 3}}))
	f.Fuzz(func(_ *testing.T, body []byte) {
		_, _, payload, err := DecodeCall(body)
		if err == nil {
			_, _ = DecodeScanRequest(payload)
		}
		_, _ = DecodeSlotCounts(body)
		NewCaller(nil).HandleReply(body)
	})
}
