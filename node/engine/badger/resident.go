package badger

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Badger maps its files, and what it has written or read of them counts as the memory of the process until the system
// takes it back, which it does when it is short of memory itself, or the process' container: with 1.5 GB of records a process
// of 1 GB had 1.8 GB of mapped files beside that. So a resident gives them back when they are more than they may be.

// residentLooking is how often it is looked what is resident of the files.
const residentLooking = time.Second

// resident keeps what the files of a directory take of the memory below a bound, until close.
type resident struct {
	dir  string
	most int64 // bytes
	stop context.CancelFunc
	done chan struct{}
}

func newResident(dir string, most int64) *resident {
	ctx, cancel := context.WithCancel(context.Background())
	r := &resident{dir: dir, most: most, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.run(ctx)
	}()
	return r
}

func (r *resident) close() {
	r.stop()
	<-r.done
}

func (r *resident) run(ctx context.Context) {
	ticker := time.NewTicker(residentLooking)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.look()
	}
}

// file is a mapped file.
type file struct {
	start, end uint64
	path       string
	resident   int64 // bytes
}

// look gives back what is too much, and as much again, beginning with the files of which there is most. What is needed of them is
// read again.
func (r *resident) look() {
	if residentFiles() <= r.most { // of the whole process: it is known at once
		return
	}
	files := mappedFiles(r.dir)
	total := int64(0)
	for _, f := range files {
		total += f.resident
	}
	if total <= r.most {
		return
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(b.resident, a.resident) })
	for _, f := range files {
		if total <= r.most/2 {
			return
		}
		f.pageOut()
		total -= f.resident
	}
}
