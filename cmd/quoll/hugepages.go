package main

import (
	"context"
	"os"
	"runtime/metrics"
	"strings"
	"time"
)

// A node reads and writes memory at random: with pages of 4 KiB hardly any of them are in the processor's table of
// pages, and looking one up costs as much as the memory itself. With huge pages of 2 MiB most are. Tables are in an arena that has them;
// this is for values that are too long for the tables.
// Where the system gives these to those that ask (transparent_hugepage set to madvise, the default of many), a node asks
// for its heap; where it gives them to all, there is nothing to ask for. GODEBUG=disablethp=1, with which Go refuses them, ends
// all of this.
//
// Not a proxy: its heap is small, and what makes it large is what clients send a part of. To have that in huge pages keeps the process from
// memory, and all clients waiting, for a tenth of a second and more.
//
// They do not stay. While there is less to do the Go runtime gives memory back to the system, some KiB here and there, and each such
// piece takes the huge page apart that it is in: a node that had rested for two minutes had lost a third of them for the sake
// of a fifteenth of its memory, and was half as fast. The system puts them together again at some megabytes a second; so a
// node does it.

const (
	// hugePagesLooking is how often it is looked whether the heap has grown.
	hugePagesLooking = 50 * time.Millisecond
	// hugePagesMending is how often what has come apart is put together again. To look for it may take a hundredth
	// of the time, to do it a tenth.
	hugePagesMending = 5 * time.Second
	hugePagesShare   = 100
	hugePagesRest    = 10
)

// keepHugePages asks for the heap as it grows, if that makes a difference, and mends it, until ctx is done.
func keepHugePages(ctx context.Context) {
	size, asking := hugePages()
	if size == 0 || strings.Contains(os.Getenv("GODEBUG"), "disablethp=1") {
		return
	}
	ticker := time.NewTicker(hugePagesLooking)
	defer ticker.Stop()
	mapped := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	mend := time.Now().Add(hugePagesMending)
	for end, total := uint64(0), uint64(0); ; {
		metrics.Read(mapped)
		if now := mapped[0].Value.Uint64(); asking && now != total {
			total = now
			end = askForHeap(end, size)
		}
		if now := time.Now(); now.After(mend) {
			resting := mendHeap(ctx, size)
			mend = time.Now().Add(max(hugePagesMending, hugePagesShare*(time.Since(now)-resting)))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
