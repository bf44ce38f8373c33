package ring

import "testing"

// needsAllSlots skips a test of figures that are others, and worse, with so few slots as the tag small makes.
func needsAllSlots(t *testing.T) {
	t.Helper()
	if Slots != 1<<14 {
		t.Skip("it is about the figures of a ring of 16,384 slots")
	}
}
