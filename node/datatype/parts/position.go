package parts

// Positions is how many positions keys are spread over. They are below 2^53: cursors are made of them, which some client
// libraries keep in floating-point numbers.
const Positions = 1 << 48

// Position returns where a key is in the order of a Map: FNV-1a, mixed, so that the upper bits depend on all of the key. It depends on nothing
// else, and must stay as it is.
func Position(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return Mix(h) >> 16
}

// Mix is the last step of splitmix64: each bit of the result depends on every bit of h.
func Mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
