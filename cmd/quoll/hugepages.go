package main

import (
	"context"
	"os"
	"runtime/metrics"
	"strings"
	"time"
)

// A node reads and writes memory at random: with pages of 4 KiB hardly any of them are in the processor's table of
// pages, and looking one up costs as much as the memory itself. With huge pages of 2 MiB most are.
// Where the system gives these to those that ask (transparent_hugepage set to madvise, the default of many), a node asks
// for its heap; where it gives them to all or to nobody, there is nothing to ask for. GODEBUG=disablethp=1, with which Go
// refuses them, ends the asking too.

// hugePagesLooking is how often it is looked whether the heap has grown.
const hugePagesLooking = 50 * time.Millisecond

// askForHugePages asks for the heap, as it grows, until ctx is done.
func askForHugePages(ctx context.Context) {
	if strings.Contains(os.Getenv("GODEBUG"), "disablethp=1") || !hugePagesForThoseWhoAsk() {
		return
	}
	ticker := time.NewTicker(hugePagesLooking)
	defer ticker.Stop()
	mapped := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for end, size := uint64(0), uint64(0); ; {
		metrics.Read(mapped)
		if now := mapped[0].Value.Uint64(); now != size {
			size = now
			end = askForHeap(end)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
