// Package prefetch asks the processor to bring memory near. The processor does not wait for it: what a
// whole group of operations will touch is asked for at once, and is on its way at the same time, where
// operations that read it one after the other wait for each line of it.
package prefetch

import "unsafe"

// Of brings *p near. A nil pointer, and memory that is near, cost nothing to speak of; the wrong
// pointer costs time and does no harm.
func Of[T any](p *T) { Span(unsafe.Pointer(p), unsafe.Sizeof(*p)) }
