package table

import (
	"unsafe"

	"github.com/quolldb/quoll/node/engine/arena"
)

// take returns an empty list with room for n elements at least, which have no pointers.
func take[T any](a *arena.Arena, n int) []T {
	if a == nil || n == 0 {
		return make([]T, 0, n)
	}
	var zero T
	memory := a.Get(n * int(unsafe.Sizeof(zero)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), uintptr(cap(memory))/unsafe.Sizeof(zero))[:0]
}

// release gives a list back.
func release[T any](a *arena.Arena, list []T) {
	if a == nil || cap(list) == 0 {
		return
	}
	var zero T
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), uintptr(cap(list))*unsafe.Sizeof(zero))
	arena.Spoil(memory)
	a.Put(memory)
}

// fit copies a list to memory that has room for at least so many more.
func fit[T any](a *arena.Arena, list []T, room int) []T {
	return append(take[T](a, len(list)+room), list...)
}

// refit is fit for who does not need the list any more.
func refit[T any](a *arena.Arena, list []T, room int) []T {
	fitted := fit(a, list, room)
	release(a, list)
	return fitted
}
