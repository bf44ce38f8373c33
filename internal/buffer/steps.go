package buffer

// step is how many bytes are copied at a time. The runtime cannot interrupt a copy: as long as it takes no other goroutine
// has the processor, and when garbage is about to be collected all of them wait for it. To copy 64 MiB to memory that the system has
// yet to find, page by page, takes a twentieth of a second, and a second where ten other processes want the processor.
const step = 256 << 10

// Append is append, in steps. dst is not to be used any more.
func Append[T ~string | ~[]byte](dst []byte, src T) []byte {
	if len(src) <= step {
		return append(dst, src...)
	}
	return appendInSteps(dst, src) // by itself, so that what is short is appended where Append is called
}

func appendInSteps[T ~string | ~[]byte](dst []byte, src T) []byte {
	if room := len(dst) + len(src); cap(dst) < room {
		dst = Append(make([]byte, 0, max(room, cap(dst)+cap(dst)/4)), dst)
	}
	before := len(dst)
	dst = dst[:before+len(src)]
	Copy(dst[before:], src)
	return dst
}

// Copy is copy, in steps. The two may overlap if src is behind dst.
func Copy[T ~string | ~[]byte](dst []byte, src T) (copied int) {
	n := min(len(dst), len(src))
	for copied < n {
		copied += piece(dst[copied:min(n, copied+step)], src[copied:])
	}
	return n
}

// piece copies one step. That it is called is the point: at the begin of a function a goroutine can be interrupted, and between two copies
// in a loop a signal hardly ever finds it.
//
//go:noinline
func piece[T ~string | ~[]byte](dst []byte, src T) int { return copy(dst, src) }

// Clone returns a copy of b without spare capacity, made in steps; empty, but not nil, of nothing.
func Clone(b []byte) []byte {
	if len(b) > step {
		return appendInSteps(make([]byte, 0, len(b)), b)
	}
	clone := make([]byte, len(b)) // which is not cleared, since the next line is about all of it
	copy(clone, b)
	return clone
}
