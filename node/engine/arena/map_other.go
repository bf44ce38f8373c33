//go:build !linux || race

package arena

import "unsafe"

const offHeap = false

// mapRegion returns memory of Go's heap, which is never given back. So it is in builds with the race detector, which watches no other.
func mapRegion(size int) unsafe.Pointer {
	region := unsafe.Pointer(unsafe.SliceData(make([]byte, size+chunkSize)))
	return unsafe.Add(region, (chunkSize-uintptr(region)%chunkSize)%chunkSize)
}

func giveBack(unsafe.Pointer, int) {}
