package arena

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// regionChunks is how many chunks are mapped at once. They take nothing before they are used.
const regionChunks = 32

// dirtyMost is how many free chunks are kept as they are, for who needs one next. The others have been given back to the system.
const dirtyMost = 4

// pool has the free chunks of all arenas of the process.
var pool chunkPool

type chunkPool struct {
	mu    sync.Mutex
	dirty []unsafe.Pointer // that take memory
	clean []unsafe.Pointer // that take none
	out   atomic.Int64     // chunks that arenas have
	kept  atomic.Int64     // chunks in dirty
}

// OffHeap returns how many bytes of the system's memory all arenas of the process take at most that are not of Go's heap.
func OffHeap() int64 {
	if !offHeap {
		return 0
	}
	return pool.size()
}

func (p *chunkPool) size() int64 { return (p.out.Load() + p.kept.Load()) * chunkSize }

func (p *chunkPool) get() unsafe.Pointer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Add(1)
	if n := len(p.dirty); n > 0 {
		base := p.dirty[n-1]
		p.dirty = p.dirty[:n-1]
		p.kept.Add(-1)
		return base
	}
	if len(p.clean) == 0 {
		region := mapRegion(regionChunks * chunkSize)
		for i := regionChunks - 1; i >= 0; i-- {
			p.clean = append(p.clean, unsafe.Add(region, i*chunkSize))
		}
	}
	n := len(p.clean)
	base := p.clean[n-1]
	p.clean = p.clean[:n-1]
	return base
}

func (p *chunkPool) put(base unsafe.Pointer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Add(-1)
	if len(p.dirty) < dirtyMost {
		p.dirty = append(p.dirty, base)
		p.kept.Add(1)
		return
	}
	giveBack(base, chunkSize)
	p.clean = append(p.clean, base)
}
