package repair

import (
	"context"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// What is asked of a peer. answer.go is the other side.

// awaitAlive waits for a peer that is connected and only slow to answer, not for one that is down.
func awaitAlive(ctx context.Context, p Peer, timeout time.Duration) {
	for late := time.Now().Add(timeout); !p.Alive() && p.Connected() && time.Now().Before(late); {
		if !clock.Sleep(ctx, repairStep) {
			return
		}
	}
}

// takesWrites reports whether it makes sense to let homes write what a peer missed.
func takesWrites(p Peer) bool { return p.Alive() && !p.Crowded() }

const (
	// changeTries is how often a peer is asked that knows of other versions of the ring, and changePause the time between: it may not have heard yet.
	changeTries = 3
	changePause = 100 * time.Millisecond
)

// ask asks a peer for what it holds of slots.
func ask(ctx context.Context, p Peer, method protocol.Method, payload []byte) (reply []byte, err error) {
	for try := 0; ; try++ {
		reply, err = p.Ask(ctx, method, payload)
		if !protocol.IsChanged(err) || try == changeTries-1 || !clock.Sleep(ctx, changePause) {
			return reply, err
		}
	}
}

// askDigests asks a peer for the digests of the same slots as some, which are sorted, and returns them in their order.
func askDigests(ctx context.Context, p Peer, version uint64, same []protocol.SlotDigest) ([]protocol.SlotDigest, error) {
	slots := make([]uint16, len(same))
	digests := make([]protocol.SlotDigest, len(same))
	for i := range same {
		slots[i], digests[i].Slot = same[i].Slot, same[i].Slot
	}
	if len(slots) == 0 { // which would ask for all
		return digests, nil
	}
	payload, err := ask(ctx, p, protocol.MethodDigests, protocol.AppendSlots(nil, version, slots))
	if err != nil {
		return nil, err
	}
	return digests, protocol.DecodeSlotDigests(payload, func(d protocol.SlotDigest) {
		if i, found := slices.BinarySearch(slots, d.Slot); found {
			digests[i] = d
		}
	})
}

// askLeaves asks a peer for the leaves of slots. Those that it cannot read are missing.
func askLeaves(ctx context.Context, p Peer, version uint64, slots []uint16) (map[uint16]*engine.Leaves, error) {
	payload, err := ask(ctx, p, protocol.MethodLeaves, protocol.AppendSlots(nil, version, slots))
	if err != nil {
		return nil, err
	}
	list, err := protocol.DecodeLeaves(payload)
	if err != nil {
		return nil, err
	}
	leaves := make(map[uint16]*engine.Leaves, len(list))
	for i := range list {
		leaves[list[i].Slot] = (*engine.Leaves)(&list[i].Leaves)
	}
	return leaves, nil
}

// askList asks a peer for the keys and versions of its records from a place on.
func askList(ctx context.Context, p Peer, request protocol.ScanRequest) (protocol.ScanPage, error) {
	method, payload := protocol.MethodScan, protocol.AppendScanRequest(nil, request)
	if len(request.Leaves) > 0 {
		method, payload = protocol.MethodScanLeaves, protocol.AppendScanLeavesRequest(nil, request)
	}
	payload, err := ask(ctx, p, method, payload)
	if err != nil {
		return protocol.ScanPage{}, err
	}
	page, err := protocol.DecodeScanPage(payload)
	if err == nil {
		err = page.Check(request)
	}
	return page, err
}

// askVersions asks a peer which versions it holds of keys.
func askVersions(ctx context.Context, p Peer, version uint64, keys []protocol.SlotKey) ([]record.Version, error) {
	payload, err := ask(ctx, p, protocol.MethodVersions, protocol.AppendVersionsRequest(nil, version, keys))
	if err != nil {
		return nil, err
	}
	return protocol.DecodeVersions(payload, len(keys))
}
