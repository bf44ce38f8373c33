package main

import (
	"context"
	"math"
	"os"
	"runtime"
	"sync"
	"time"
)

// Go lets as many threads run at a time as there are cores, and each that runs out of work looks for some at the others before it sleeps. Where several processes share few cores, that is time which the
// others could use: three nodes and a proxy on two cores do a GET with a fifth less of it if each has one thread. On a machine of its own a node wants all cores. So it is seen which of the two is so.
// Nodes on disk keep all threads: one that touches a page of a mapped file stands still, unseen by Go, until the disk has read it, and so would all that this process does.
const (
	procsLooking = time.Second
	// procsCores is up to how many cores this is done: where there are more, a process that shares them with others loses little.
	procsCores = 8
	// procsRoom is the share of the machine that nobody uses if there is room for all, procsFull if there is none.
	procsRoom, procsFull = 0.25, 0.1
	// procsUsed is the share of its threads that a process uses which needs more of them, procsSpare of one that has too many.
	procsUsed, procsSpare = 0.9, 0.6
	// procsSure is how often in a row the same must be seen.
	procsSure = 2
)

// processors decides how many threads run at a time.
type processors struct {
	most, now int
	room      int // how often in a row there was room for all
	spare     int // how often in a row the machine was full, and this process had too many threads
}

// look returns how many threads are to run at a time, after a time in which this process used so many cores, and so many of as many as it may use were used by nobody.
func (p *processors) look(own, idle float64) int {
	p.room, p.spare = p.room+1, p.spare+1
	if idle < procsRoom*float64(p.most) {
		p.room = 0
	}
	if idle > procsFull*float64(p.most) || own > procsSpare*float64(p.now) {
		p.spare = 0
	}
	switch {
	case p.room >= procsSure:
		p.now = p.most
	case own > procsUsed*float64(p.now):
		p.now = min(p.most, 2*p.now)
	case p.spare >= procsSure:
		p.now = min(p.now, max(1, int(math.Ceil(own/procsSpare))))
	}
	return p.now
}

// startSharing has cores shared until what it returns is called, which waits for the end of that.
func startSharing(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var sharing sync.WaitGroup
	sharing.Go(func() { shareCores(ctx) })
	return func() {
		cancel()
		sharing.Wait()
	}
}

// shareCores has Go run fewer threads at a time while the machine has no cores to spare, until ctx is done. GOMAXPROCS in the environment says otherwise.
func shareCores(ctx context.Context) {
	most := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" || most < 2 || most > procsCores {
		return
	}
	before, ok := coresUsed()
	if !ok {
		return
	}
	defer runtime.SetDefaultGOMAXPROCS()
	ticker := time.NewTicker(procsLooking)
	defer ticker.Stop()
	for p := (processors{most: most, now: most}); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		after, ok := coresUsed()
		if took := after.at.Sub(before.at).Seconds(); ok && took > 0 {
			own, idle := (after.own-before.own).Seconds()/took, (after.idle-before.idle).Seconds()/took
			if now := p.now; p.look(own, idle) != now {
				if runtime.GOMAXPROCS(p.now); p.now == most {
					runtime.SetDefaultGOMAXPROCS() // a container may be given more
				}
			}
			before = after
		}
	}
}

// used is the time that cores have been used so far.
type used struct {
	at   time.Time
	own  time.Duration // by this process
	idle time.Duration // by nobody
}
