//go:build worldlocks

package world

import _ "unsafe" // for go:linkname

// synctest lets time go on when all goroutines of a bubble are durably blocked, which those are not that wait for a lock: somebody outside of
// the bubble might unlock it. Nobody does so here. But a disk that takes its time is waited for with locks held, and so is a
// proxy's gate. So in builds with this tag, and the linker's -checklinkname=0, waiting for a lock counts as well.

//go:linkname waitReasons runtime.waitReasonStrings
var waitReasons [27]string

//go:linkname isIdle runtime.isIdleInSynctest
var isIdle [27]bool

// locksPass says that time goes on while goroutines wait for locks.
const locksPass = true

func init() {
	found := 0
	for i, reason := range waitReasons {
		switch reason {
		case "sync.Mutex.Lock", "sync.RWMutex.RLock", "sync.RWMutex.Lock":
			isIdle[i] = true
			found++
		}
	}
	if found != 3 {
		panic("world: this version of Go has other reasons to wait: correct locks.go")
	}
}
